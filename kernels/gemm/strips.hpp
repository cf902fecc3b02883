#pragma once
/// Products of more rows than one grid reaches.

#include <algorithm>
#include <cstdint>

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// The most thread blocks that a grid of any GPU has from top to bottom.
constexpr std::int64_t most_blocks_down = 65535;

/// Calls product(a's rows, c's rows) for strips of at most `most_blocks_down` tiles, from the top: nearly
/// always once. Row-major. @pre as many rows in `a` as in `c`
template <class T, class Product>
void for_row_strips(MatrixView<T> a, MatrixView<T> c, std::int64_t tile, Product product) {
  const std::int64_t strip = most_blocks_down * tile;
  for (std::int64_t first = 0; first < c.rows; first += strip) {
    const std::int64_t rows = std::min(strip, c.rows - first);
    product(MatrixView<T>{a.data + first * a.ld, rows, a.cols, a.ld},
            MatrixView<T>{c.data + first * c.ld, rows, c.cols, c.ld});
  }
}

}  // namespace gaussweep
