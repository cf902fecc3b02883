// The microkernels of tile.hpp. tile.cpp includes this file once per instruction set, so it has no include
// guard. An element's operations and their order do not depend on the vector length. The bits of the result
// therefore do not depend on it, either.

/// Adds `term` to `sum` and sets `error` to the rounding error (Knuth's TwoSum).
inline void two_sum(Lanes& sum, const Lanes& term, Lanes& error) {
  const Lanes total = sum + term;
  const Lanes rounded_term = total - sum;
  error = (sum - (total - rounded_term)) + (term - rounded_term);
  sum = total;
}

inline Lanes& lanes_at(double* data) {
  return *reinterpret_cast<Lanes*>(data);
}
inline const Lanes& lanes_at(const double* data) {
  return *reinterpret_cast<const Lanes*>(data);
}

/// Add the sums over tile_depth values of k to one vector of the tile, which begins at element `index`.
inline void merge_split(TileSums& tile, int index, const Lanes& high, const Lanes& low) {
  Lanes error_high, error_low, error_both;
  two_sum(lanes_at(tile.high + index), high, error_high);
  two_sum(lanes_at(tile.low + index), low, error_low);
  two_sum(lanes_at(tile.low + index), error_high, error_both);
  lanes_at(tile.lowest + index) += error_low + error_both;
}
inline void merge_plain(TileSums& tile, int index, const Lanes& sum) {
  Lanes error;
  two_sum(lanes_at(tile.high + index), sum, error);
  lanes_at(tile.low + index) += error;
}

constexpr int width = sizeof(Lanes) / sizeof(double), vectors = microtile_rows / width;

/// Computes the products of elements that are split into a high and a low part (split_products in tile.hpp).
/// The low part of a left element is multiplied by b[3 c + 2], which is high + low of the right element.
void add_split_products(const double* left, const double* right, int row_groups, int col_groups,
                        TileSums& tile) {
  for (int col_group = 0; col_group < col_groups; ++col_group) {
    for (int row_group = 0; row_group < row_groups; ++row_group) {
      const double* a = left + row_group * tile_depth * 2 * microtile_rows;
      const double* b = right + col_group * tile_depth * 3 * microtile_cols;
      Lanes high[microtile_cols][vectors]{}, low[microtile_cols][vectors]{};
      for (int k = 0; k < tile_depth; ++k, a += 2 * microtile_rows, b += 3 * microtile_cols) {
        for (int vector = 0; vector < vectors; ++vector) {
          const Lanes a_high = lanes_at(a + vector * width),
                      a_low = lanes_at(a + microtile_rows + vector * width);
          for (int c = 0; c < microtile_cols; ++c) {
            high[c][vector] += a_high * b[3 * c];
            low[c][vector] += a_high * b[3 * c + 1] + a_low * b[3 * c + 2];
          }
        }
      }
      for (int c = 0; c < microtile_cols; ++c) {
        for (int vector = 0; vector < vectors; ++vector)
          merge_split(
              tile,
              (microtile_cols * col_group + c) * tile_edge + row_group * microtile_rows + vector * width,
              high[c][vector], low[c][vector]);
      }
    }
  }
}

/// Computes the products of elements whose products are exact in double (plain_products in tile.hpp).
void add_plain_products(const double* left, const double* right, int row_groups, int col_groups,
                        TileSums& tile) {
  for (int col_group = 0; col_group < col_groups; ++col_group) {
    for (int row_group = 0; row_group < row_groups; ++row_group) {
      const double* a = left + row_group * tile_depth * microtile_rows;
      const double* b = right + col_group * tile_depth * microtile_cols;
      Lanes sums[microtile_cols][vectors]{};
      for (int k = 0; k < tile_depth; ++k, a += microtile_rows, b += microtile_cols) {
        for (int vector = 0; vector < vectors; ++vector) {
          for (int c = 0; c < microtile_cols; ++c) sums[c][vector] += lanes_at(a + vector * width) * b[c];
        }
      }
      for (int c = 0; c < microtile_cols; ++c) {
        for (int vector = 0; vector < vectors; ++vector)
          merge_plain(
              tile,
              (microtile_cols * col_group + c) * tile_edge + row_group * microtile_rows + vector * width,
              sums[c][vector]);
      }
    }
  }
}
