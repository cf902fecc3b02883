#pragma once
/// The operands of the products L R that verification computes: matrices, or triangles of matrices.

#include <algorithm>

#include "kernels/check/norms.hpp"

namespace gaussweep {

/// The measure of a column of a residual: the sum, the maximum or the sum of squares of its |elements|.
enum class Measure { sum, largest, squares };

/// The matrix op(`matrix`), where op is the identity or the transposition. Elements outside of the part are
/// not read and count as 0.
template <class T>
struct Operand {
  explicit Operand(const HostMatrix<T>& m) : matrix(&m) {}
  /// Uses only a triangle of `m`. If `has_unit_diagonal`, all diagonal elements are 1, whatever is stored
  /// there.
  Operand(const HostMatrix<T>& m, MatrixPart triangle, bool has_unit_diagonal = false)
      : matrix(&m), part(triangle), unit_diagonal(has_unit_diagonal) {}

  const HostMatrix<T>* matrix;
  MatrixPart part = MatrixPart::all;
  bool unit_diagonal = false;
  bool transposed = false;
  bool absolute = false;  ///< true: uses |element| instead of the element

  std::int64_t rows() const { return transposed ? matrix->cols : matrix->rows; }
  std::int64_t cols() const { return transposed ? matrix->rows : matrix->cols; }
  /// Returns the part of op(matrix) that is used: a transposed lower triangle is an upper one.
  MatrixPart used_part() const {
    if (!transposed || part == MatrixPart::all) return part;
    return part == MatrixPart::lower ? MatrixPart::upper : MatrixPart::lower;
  }
  double at(std::int64_t i, std::int64_t j) const {
    const MatrixPart used = used_part();
    if ((used == MatrixPart::lower && i < j) || (used == MatrixPart::upper && i > j)) return 0;
    if (unit_diagonal && i == j) return 1;
    const double value = transposed ? (*matrix)(j, i) : (*matrix)(i, j);
    return absolute ? std::fabs(value) : value;
  }
  /// Copies elements (begin, j) to (begin + count - 1, j) to `out`; rows beyond the matrix give 0.
  void column(std::int64_t begin, std::int64_t count, std::int64_t j, double* out) const {
    const RowRange range = rows_of(used_part(), rows(), j);
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

/// The operands of a product left * right. If they are triangles, the k loop of a tile is shorter.
template <class T>
struct ProductOperands {
  Operand<T> left, right;

  std::int64_t rows() const { return left.rows(); }
  std::int64_t cols() const { return right.cols(); }
  std::int64_t terms() const { return left.cols(); }
  /// Returns the k range for a tile with these rows and columns; all terms outside of it are 0.
  RowRange k_range(std::int64_t row_begin, std::int64_t row_end, std::int64_t col_begin,
                   std::int64_t col_end) const {
    RowRange range{0, terms()};
    if (left.used_part() == MatrixPart::lower) range.end = std::min(range.end, row_end);
    if (left.used_part() == MatrixPart::upper) range.begin = std::max(range.begin, row_begin);
    if (right.used_part() == MatrixPart::lower) range.begin = std::max(range.begin, col_begin);
    if (right.used_part() == MatrixPart::upper) range.end = std::min(range.end, col_end);
    return range;
  }
};

}  // namespace gaussweep
