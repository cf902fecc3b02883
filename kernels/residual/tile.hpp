#pragma once
/// The inner loops of the judge's products: an edge x edge tile, `depth` inner indices at a time.

namespace gaussweep::tiles {

constexpr int edge = 64;       ///< rows and columns of a tile
constexpr int depth = 32;      ///< inner indices of a block
constexpr int group_rows = 8;  ///< rows, and columns, that are computed together
constexpr int group_cols = 2;

/// The sums of a tile, column after column: high + low + lowest.
struct Tile {
  double high[edge * edge];
  double low[edge * edge];
  double lowest[edge * edge];
};

/// Adds a block's products to the first groups of a tile. `left`: a group of rows after the other, of each
/// the inner indices, of each the rows' elements; `right`: likewise groups of columns.
using AddProducts = void (*)(const double* left, const double* right, int row_groups, int col_groups,
                             Tile& tile);

/// Chosen for this processor, with vectors of up to so many numbers (8, 4, 1): the bits are the same.
/// Elements are split, of size at most 1. On the left are the group's high parts, then its low ones; on the
/// right of each column high, low and both together. High parts are multiples of 2^-24, so the sums of their
/// products over a block are exact. What is left is rounded at 2^-24 of the whole. With fused or separate
/// operations, in any order: an exact sum is one number.
AddProducts split_products(int lanes = 8);
/// Elements as they are: for those that have no more than 26 bits, whose products are exact. Sums of a block
/// are rounded.
AddProducts plain_products(int lanes = 8);

}  // namespace gaussweep::tiles
