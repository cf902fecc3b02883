// Included twice by tile.cpp, for two instruction sets: no include guard. Only sums and products of single
// elements in an order of their own, so that both give the same bits.

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

/// Adds the sums of a block to four rows of a column.
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

void add_split_products(const double* left, const double* right, int row_groups, int col_groups, Tile& tile) {
  for (int q = 0; q < col_groups; ++q) {
    for (int p = 0; p < row_groups; ++p) {
      const double* a = left + p * depth * 2 * group_rows;
      const double* b = right + q * depth * 3 * group_cols;
      Lanes high_00{}, high_10{}, high_01{}, high_11{}, low_00{}, low_10{}, low_01{}, low_11{};
      for (int k = 0; k < depth; ++k, a += 2 * group_rows, b += 3 * group_cols) {
        const Lanes a_high_0 = lanes_at(a), a_high_1 = lanes_at(a + 4);
        const Lanes a_low_0 = lanes_at(a + 8), a_low_1 = lanes_at(a + 12);
        high_00 += a_high_0 * b[0];
        high_10 += a_high_1 * b[0];
        low_00 += a_high_0 * b[1] + a_low_0 * b[2];
        low_10 += a_high_1 * b[1] + a_low_1 * b[2];
        high_01 += a_high_0 * b[3];
        high_11 += a_high_1 * b[3];
        low_01 += a_high_0 * b[4] + a_low_0 * b[5];
        low_11 += a_high_1 * b[4] + a_low_1 * b[5];
      }
      const int at = group_cols * q * edge + p * group_rows;
      merge_split(tile, at, high_00, low_00);
      merge_split(tile, at + 4, high_10, low_10);
      merge_split(tile, at + edge, high_01, low_01);
      merge_split(tile, at + edge + 4, high_11, low_11);
    }
  }
}

void add_plain_products(const double* left, const double* right, int row_groups, int col_groups, Tile& tile) {
  for (int q = 0; q < col_groups; ++q) {
    for (int p = 0; p < row_groups; ++p) {
      const double* a = left + p * depth * group_rows;
      const double* b = right + q * depth * group_cols;
      Lanes sum_00{}, sum_10{}, sum_01{}, sum_11{};
      for (int k = 0; k < depth; ++k, a += group_rows, b += group_cols) {
        const Lanes a_0 = lanes_at(a), a_1 = lanes_at(a + 4);
        sum_00 += a_0 * b[0];
        sum_10 += a_1 * b[0];
        sum_01 += a_0 * b[1];
        sum_11 += a_1 * b[1];
      }
      const int at = group_cols * q * edge + p * group_rows;
      merge_plain(tile, at, sum_00);
      merge_plain(tile, at + 4, sum_10);
      merge_plain(tile, at + edge, sum_01);
      merge_plain(tile, at + edge + 4, sum_11);
    }
  }
}
