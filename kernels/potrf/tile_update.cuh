#pragma once
/// The epilogue of an update task (tile_chain.cuh): subtracts the sums of products from the matrix.

#include "kernels/potrf/tile_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int sums_stride = 2 * tile_order + 2;  ///< leading dimension of the sums in shared memory

/// Stores a product's negated sums to shared memory.
template <class Product>
__device__ __forceinline__ void store_negated(Product& product, double* sums) {
  product.for_pairs([&](int row, int column, double first, double second) {
    store_two(sums + column * sums_stride + row, -first, -second);
  });
  fence_async_proxy();
}
/// Adds sums in shared memory to rows [begin, end) of a column of tiles. One thread adds every
/// `column_stride`-th element column from `first_column` on.
/// @param on_diagonal true: row `begin` is the first row of a diagonal tile. Elements above its diagonal stay
/// unchanged
__device__ __forceinline__ void add_columns(double* c, std::int64_t ld, const double* sums, int begin,
                                            int end, bool on_diagonal, int first_column, int column_stride) {
  GAUSSWEEP_ROLLED
  for (int column = first_column; column < tile_order; column += column_stride) {
    double* const target = c + column * ld;
    const double* const source = sums + column * sums_stride;
    int first = on_diagonal ? begin + column : begin;
    if (first % 2 != 0) {  // bulk copies need an even number of elements
      simt::atomic_add(target + first, source[first]);
      ++first;
    }
    if (first < end) add_in_cache(target + first, source + first, end - first);
  }
  await_additions();
}
/// Subtracts a warp's sums from its part of the matrix, a few pairs of elements at a time.
/// @param on_diagonal true: the part is in a diagonal tile, where only elements on and below the diagonal are
/// changed
template <class Product, class T>
__device__ __forceinline__ void subtract_sums(Product& product, T* c, std::int64_t ld, bool on_diagonal) {
  constexpr int batch = 8;
  GAUSSWEEP_UNROLL
  for (int first_pair = 0; first_pair < product.pairs; first_pair += batch) {
    T c_pairs[batch][2];
    GAUSSWEEP_UNROLL
    for (int i = 0; i < batch; ++i) {
      product.visit_pair(first_pair + i, [&](int row, int column, T&, T&) {
        load_two(c + row + column * ld, c_pairs[i][0], c_pairs[i][1]);
      });
    }
    GAUSSWEEP_UNROLL
    for (int i = 0; i < batch; ++i) {
      product.visit_pair(first_pair + i, [&](int row, int column, T first_sum, T second_sum) {
        T* const target = c + row + column * ld;
        first_sum = -(first_sum - c_pairs[i][0]);
        second_sum = -(second_sum - c_pairs[i][1]);
        if (!on_diagonal || row % tile_order >= column % tile_order) {
          store_two(target, first_sum, second_sum);
        } else if (row % tile_order + 1 >= column % tile_order) {
          target[1] = second_sum;
        }
      });
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
