#pragma once
/// A factor of a product that the judge computes: a matrix, or one triangle of it.

#include <algorithm>

#include "kernels/residual/norms.hpp"

namespace gaussweep {

enum class Measure { sum, largest, squares };  ///< sum, maximum or sum of squares of |element| over a column

/// A matrix or a triangle, optionally transposed. Elements outside of the part are not read and taken as 0.
template <class T>
struct Operand {
  explicit Operand(const HostMatrix<T>& m) : matrix(&m) {}
  /// Uses only a triangle of `m`. If `one`, its diagonal is taken as 1, whatever is stored.
  Operand(const HostMatrix<T>& m, Part triangle, bool one = false)
      : matrix(&m), part(triangle), unit_diagonal(one) {}

  const HostMatrix<T>* matrix;
  Part part = Part::all;
  bool unit_diagonal = false;
  bool transposed = false;
  bool absolute = false;  ///< use |element|

  std::int64_t rows() const { return transposed ? matrix->cols : matrix->rows; }
  std::int64_t cols() const { return transposed ? matrix->rows : matrix->cols; }
  /// Returns the part of op(matrix).
  Part shape() const {
    if (!transposed || part == Part::all) return part;
    return part == Part::lower ? Part::upper : Part::lower;
  }
  double at(std::int64_t i, std::int64_t j) const {
    const Part own = shape();
    if ((own == Part::lower && i < j) || (own == Part::upper && i > j)) return 0;
    if (unit_diagonal && i == j) return 1;
    const double value = transposed ? (*matrix)(j, i) : (*matrix)(i, j);
    return absolute ? std::fabs(value) : value;
  }
  /// Copies elements (begin, j) to (begin + count - 1, j) to `out`; rows beyond the matrix give 0.
  void column(std::int64_t begin, std::int64_t count, std::int64_t j, double* out) const {
    const RowRange range = rows_of(shape(), rows(), j);
    const std::int64_t first = std::clamp(range.begin - begin, std::int64_t{0}, count);
    const std::int64_t last = std::clamp(std::min(range.end, rows()) - begin, first, count);
    std::fill(out, out + first, 0.0);
    std::fill(out + last, out + count, 0.0);
    const T* from = matrix->data.data() + (transposed ? j + begin * matrix->rows : begin + j * matrix->rows);
    const std::int64_t stride = transposed ? matrix->rows : 1;
    for (std::int64_t i = first; i < last; ++i) out[i] = static_cast<double>(from[i * stride]);
    if (absolute) {
      for (std::int64_t i = first; i < last; ++i) out[i] = std::fabs(out[i]);
    }
    if (unit_diagonal && j >= begin && j < begin + count) out[j - begin] = 1;
  }
};

/// The factors of a product left * right. Triangles restrict the k loop of a tile.
template <class T>
struct Factors {
  Operand<T> left, right;

  std::int64_t rows() const { return left.rows(); }
  std::int64_t cols() const { return right.cols(); }
  std::int64_t terms() const { return left.cols(); }
  /// Returns the k range outside of which all terms of these rows and columns are 0.
  RowRange k_range(std::int64_t row_begin, std::int64_t row_end, std::int64_t col_begin,
                   std::int64_t col_end) const {
    RowRange range{0, terms()};
    if (left.shape() == Part::lower) range.end = std::min(range.end, row_end);
    if (left.shape() == Part::upper) range.begin = std::max(range.begin, row_begin);
    if (right.shape() == Part::lower) range.begin = std::max(range.begin, col_begin);
    if (right.shape() == Part::upper) range.end = std::min(range.end, col_end);
    return range;
  }
};

}  // namespace gaussweep
