#pragma once
/// The CPU microkernels of verification's products. A call adds the products for tile_depth values of k to a
/// tile of tile_edge x tile_edge elements.

namespace gaussweep::tiles {

constexpr int tile_edge = 64;   ///< rows and columns of a tile
constexpr int tile_depth = 32;  ///< values of k per call
constexpr int microtile_rows = 8;
constexpr int microtile_cols = 2;

/// The sums of a tile in column-major order: high + low + lowest.
struct TileSums {
  double high[tile_edge * tile_edge];
  double low[tile_edge * tile_edge];
  double lowest[tile_edge * tile_edge];
};

/// Adds the products of tile_depth values of k to the first row_groups x col_groups microtiles of a tile. The
/// packed `left` contains, per group of rows and per k, the elements of these rows. `right` has the same
/// structure, with groups of columns.
using AddProducts = void (*)(const double* left, const double* right, int row_groups, int col_groups,
                             TileSums& tile);

/// Returns the microkernel for elements |x| <= 1 that are split into a high and a low part. It uses the
/// longest vectors of this processor with at most `lanes` doubles (8, 4 or 1); every length gives the same
/// bits. Per k, a packed left group consists of the high parts of its rows and then the low parts. A packed
/// right group consists of high, low and high + low of each column. High parts are multiples of 2^-24, so
/// that sums of their products over tile_depth values of k are exact in any order, with or without FMA. Only
/// the other products, which are at most 2^-24 times as large, are rounded.
AddProducts split_products(int lanes = 8);
/// Returns the microkernel for elements with mantissas of at most 26 bits, such as floats. Their products are
/// exact, and sums are rounded.
AddProducts plain_products(int lanes = 8);

}  // namespace gaussweep::tiles
