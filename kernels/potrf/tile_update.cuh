#pragma once
/// What becomes of an update's sums.

#include "kernels/potrf/tile_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Subtracts a warp's sums from its part of the matrix, by additions in the L2 cache that nothing waits for.
/// `on_diagonal`: it is in a tile of which only what is on and below the diagonal is changed.
template <int Rows, int Columns, int Strips>
__device__ __forceinline__ void add_in_cache(TileProduct<double, Rows, Columns, Strips>& product, double* c,
                                             std::int64_t ld, bool on_diagonal) {
  const int row = product.warp_row() * Strips * 16 + product.lane() / 4 * 2;
  const int column = product.warp_column() * 32 + product.lane() % 4 * 4;
  const int below = on_diagonal ? row % order - column % order : order;  // the diagonal
  double* place = c + row + column * ld;
  GAUSSWEEP_UNROLL
  for (int square = 0; square < 2; ++square) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 4; ++k) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Strips; ++s) {
        const int above = square * 16 + k - s * 16;
        subtract_if(below >= above, place + s * 16, product.sum[s][square][k % 2][k / 2]);
        subtract_if(below + 1 >= above, place + s * 16 + 1, product.sum[s][square][k % 2][2 + k / 2]);
      }
      place += k < 3 ? ld : 13 * ld;
    }
  }
}
/// Subtracts a warp's sums from its part of the matrix, which comes to registers a few pairs at a time.
/// `on_diagonal`: it is in a tile of which only what is on and below the diagonal is ours.
template <class Product, class T>
__device__ __forceinline__ void subtract_sums(Product& product, T* c, std::int64_t ld, bool on_diagonal) {
  if constexpr (sizeof(T) == sizeof(double)) return add_in_cache(product, c, ld, on_diagonal);
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
        T* const place = c + row + column * ld;
        above = -(above - given[i][0]);
        below = -(below - given[i][1]);
        if (!on_diagonal || row % order >= column % order) {
          store_two(place, above, below);
        } else if (row % order + 1 >= column % order) {
          place[1] = below;
        }
      });
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
