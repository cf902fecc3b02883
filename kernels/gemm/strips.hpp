#pragma once
/// Splits row-major products that have more rows than one grid covers.

#include <algorithm>
#include <cstdint>

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// The largest gridDim.y of any GPU.
constexpr std::int64_t max_grid_y = 65535;

/// Splits the rows of row-major matrices a and c into strips of at most `max_grid_y` tiles of `tile` rows.
/// Calls product(strip of a, strip of c) for each strip, from the top. Nearly all matrices have one strip.
/// @pre a.rows = c.rows
template <class T, class Product>
void for_row_strips(MatrixView<T> a, MatrixView<T> c, std::int64_t tile, Product product) {
  const std::int64_t strip = max_grid_y * tile;
  for (std::int64_t first = 0; first < c.rows; first += strip) {
    const std::int64_t rows = std::min(strip, c.rows - first);
    product(MatrixView<T>{a.data + first * a.ld, rows, a.cols, a.ld},
            MatrixView<T>{c.data + first * c.ld, rows, c.cols, c.ld});
  }
}

}  // namespace gaussweep
