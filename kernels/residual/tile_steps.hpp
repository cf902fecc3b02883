// Included by tile.cpp for each instruction set: no include guard. Only sums and products of single elements
// in an order of their own, so that all give the same bits.

/// sum += term, what that rounds off into `off`.
inline void two_sum(Lanes& sum, const Lanes& term, Lanes& off) {
  const Lanes total = sum + term;
  const Lanes share = total - sum;
  off = (sum - (total - share)) + (term - share);
  sum = total;
}

inline Lanes& lanes_at(double* data) {
  return *reinterpret_cast<Lanes*>(data);
}
inline const Lanes& lanes_at(const double* data) {
  return *reinterpret_cast<const Lanes*>(data);
}

/// Adds the sums of a block to some rows of a column.
inline void merge_split(Tile& tile, int at, const Lanes& high, const Lanes& low) {
  Lanes off_high, off_low, off_both;
  two_sum(lanes_at(tile.high + at), high, off_high);
  two_sum(lanes_at(tile.low + at), low, off_low);
  two_sum(lanes_at(tile.low + at), off_high, off_both);
  lanes_at(tile.lowest + at) += off_low + off_both;
}
inline void merge_plain(Tile& tile, int at, const Lanes& sum) {
  Lanes off;
  two_sum(lanes_at(tile.high + at), sum, off);
  lanes_at(tile.low + at) += off;
}

constexpr int width = sizeof(Lanes) / sizeof(double), parts = group_rows / width;

void add_split_products(const double* left, const double* right, int row_groups, int col_groups, Tile& tile) {
  for (int q = 0; q < col_groups; ++q) {
    for (int p = 0; p < row_groups; ++p) {
      const double* a = left + p * depth * 2 * group_rows;
      const double* b = right + q * depth * 3 * group_cols;
      Lanes high[group_cols][parts]{}, low[group_cols][parts]{};
      for (int k = 0; k < depth; ++k, a += 2 * group_rows, b += 3 * group_cols) {
        for (int part = 0; part < parts; ++part) {
          const Lanes a_high = lanes_at(a + part * width), a_low = lanes_at(a + group_rows + part * width);
          for (int c = 0; c < group_cols; ++c) {
            high[c][part] += a_high * b[3 * c];
            low[c][part] += a_high * b[3 * c + 1] + a_low * b[3 * c + 2];
          }
        }
      }
      for (int c = 0; c < group_cols; ++c) {
        for (int part = 0; part < parts; ++part)
          merge_split(tile, (group_cols * q + c) * edge + p * group_rows + part * width, high[c][part],
                      low[c][part]);
      }
    }
  }
}

void add_plain_products(const double* left, const double* right, int row_groups, int col_groups, Tile& tile) {
  for (int q = 0; q < col_groups; ++q) {
    for (int p = 0; p < row_groups; ++p) {
      const double* a = left + p * depth * group_rows;
      const double* b = right + q * depth * group_cols;
      Lanes sums[group_cols][parts]{};
      for (int k = 0; k < depth; ++k, a += group_rows, b += group_cols) {
        for (int part = 0; part < parts; ++part) {
          for (int c = 0; c < group_cols; ++c) sums[c][part] += lanes_at(a + part * width) * b[c];
        }
      }
      for (int c = 0; c < group_cols; ++c) {
        for (int part = 0; part < parts; ++part)
          merge_plain(tile, (group_cols * q + c) * edge + p * group_rows + part * width, sums[c][part]);
      }
    }
  }
}
