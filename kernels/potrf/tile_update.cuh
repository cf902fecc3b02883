#pragma once
/// What becomes of an update's sums.

#include "kernels/potrf/tile_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Subtracts a warp's sums from its part of the matrix, which comes to registers a few pairs at a time.
/// `on_diagonal`: it is in a tile of which only what is on and below the diagonal is ours.
template <class Product, class T>
__device__ __forceinline__ void subtract_sums(Product& product, T* c, std::int64_t ld, bool packed,
                                              bool on_diagonal) {
  constexpr int batch = 8;
  GAUSSWEEP_UNROLL
  for (int first = 0; first < product.pairs; first += batch) {
    T given[batch][2];
    GAUSSWEEP_UNROLL
    for (int i = 0; i < batch; ++i) {
      product.visit_pair(first + i, [&](int row, int column, T&, T&) {
        load_pair(packed, c + row + column * ld, given[i][0], given[i][1]);
      });
    }
    GAUSSWEEP_UNROLL
    for (int i = 0; i < batch; ++i) {
      product.visit_pair(first + i, [&](int row, int column, T above, T below) {
        T* const place = c + row + column * ld;
        above = -(above - given[i][0]);
        below = -(below - given[i][1]);
        if (!on_diagonal || row % order >= column % order) {
          store_pair(packed, place, above, below);
        } else if (row % order + 1 >= column % order) {
          place[1] = below;
        }
      });
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
