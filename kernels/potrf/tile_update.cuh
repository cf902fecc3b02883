#pragma once
/// The epilogue of an update: subtraction of its sums from the matrix.

#include "kernels/potrf/tile_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int sums_stride = 2 * order + 2;  ///< elements between two columns of sums in shared memory

/// Stores a product's negated sums to shared memory.
template <class Product>
__device__ __forceinline__ void put_negated(Product& product, double* sums) {
  product.for_pairs([&](int row, int column, double above, double below) {
    store_two(sums + column * sums_stride + row, -above, -below);
  });
  show_to_copy_engine();
}
/// Adds sums in shared memory to rows [begin, end) of a column of tiles. A thread adds every `parts`-th
/// column, beginning with `part`. If row `begin` begins a diagonal tile (`on_diagonal`), elements above the
/// diagonal are not changed.
__device__ __forceinline__ void add_columns(double* c, std::int64_t ld, const double* sums, int begin,
                                            int end, bool on_diagonal, int part, int parts) {
  GAUSSWEEP_ROLLED
  for (int column = part; column < order; column += parts) {
    double* const to = c + column * ld;
    const double* const from = sums + column * sums_stride;
    int first = on_diagonal ? begin + column : begin;
    if (first % 2 != 0) {  // the copy engine needs pairs
      simt::atomic_add(to + first, from[first]);
      ++first;
    }
    if (first < end) add_in_cache(to + first, from + first, end - first);
  }
  await_additions();
}
/// Subtracts a warp's sums from its part of the matrix, which is loaded a few pairs at a time. `on_diagonal`:
/// the part is in a diagonal tile, where only elements on and below the diagonal are changed.
template <class Product, class T>
__device__ __forceinline__ void subtract_sums(Product& product, T* c, std::int64_t ld, bool on_diagonal) {
  constexpr int batch = 8;
  GAUSSWEEP_UNROLL
  for (int first = 0; first < product.pairs; first += batch) {
    T given[batch][2];
    GAUSSWEEP_UNROLL
    for (int i = 0; i < batch; ++i) {
      product.visit_pair(first + i, [&](int row, int column, T&, T&) {
        load_two(c + row + column * ld, given[i][0], given[i][1]);
      });
    }
    GAUSSWEEP_UNROLL
    for (int i = 0; i < batch; ++i) {
      product.visit_pair(first + i, [&](int row, int column, T above, T below) {
        T* const target = c + row + column * ld;
        above = -(above - given[i][0]);
        below = -(below - given[i][1]);
        if (!on_diagonal || row % order >= column % order) {
          store_two(target, above, below);
        } else if (row % order + 1 >= column % order) {
          target[1] = below;
        }
      });
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
