#pragma once
/// Declares the residual C - L R on the CPU, computed in extended precision without BLAS. The results do not
/// depend on the number of threads or the processor.
///
/// Rows of L and columns of R are divided by powers of two, so that their elements are at most 1. In double,
/// each element is split into 24 leading bits and a remainder. Products of leading parts are added exactly
/// over blocks of 32 terms, and blocks are added in double-double arithmetic. The error of a sum of m terms
/// is then at most m 2^-73 max_k |l_ik| max_k |r_kj|. In float, products are exact, and the bound has the
/// factor m 2^-48. If this error bound leaves the status uncertain, `exact_column` adds the same products
/// without rounding.

#include <limits>
#include <utility>
#include <vector>

#include "kernels/check/operand.hpp"

namespace gaussweep {

/// The matrix C of a residual: the identity, a matrix, a matrix with exchanged rows, or a symmetric matrix.
template <class T>
struct ResidualTarget {
  const HostMatrix<T>* matrix = nullptr;  ///< null: the identity
  MatrixPart stored = MatrixPart::all;    ///< lower or upper: C is symmetric, and only this triangle is read
  /// Row i of C is row order[i] of the matrix; null: row i.
  const std::vector<std::int64_t>* order = nullptr;

  double operator()(std::int64_t i, std::int64_t j) const {
    if (matrix == nullptr) return i == j ? 1 : 0;
    if ((stored == MatrixPart::lower && i < j) || (stored == MatrixPart::upper && i > j)) std::swap(i, j);
    return static_cast<double>((*matrix)(order == nullptr ? i : (*order)[static_cast<std::size_t>(i)], j));
  }
};

/// The measure of a column of the residual: a sum, maximum or sum of squares (Measure in operand.hpp).
struct ColumnResidual {
  WideNumber value;
  WideNumber bound;  ///< an upper bound of the error of `value`
};

/// Returns the measure of every column of C - L R. @pre all elements that belong to the operands are finite
template <class T>
std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                             const ResidualTarget<T>& target, Measure measure);

/// Returns the measure of one column with a relative error of about 2^-50.
template <class T>
WideNumber exact_column(const ProductOperands<T>& operands, const ResidualTarget<T>& target, Measure measure,
                        std::int64_t j);

/// Returns |c - (L R)_ij| with a relative error of about 2^-52.
template <class T>
WideNumber exact_element(const ProductOperands<T>& operands, double c, std::int64_t i, std::int64_t j);

/// Sets the error bounds of all columns. `largest_of_rows` has max |l_ik| of every row of L, and
/// `largest_of_cols` has max |r_kj| of every column of R.
template <class T>
void set_bounds(const ProductOperands<T>& operands, const std::vector<double>& largest_of_rows,
                const std::vector<double>& largest_of_cols, Measure measure,
                std::vector<ColumnResidual>& columns);

/// The allowed residual |C - L R| of each element: product_factor |L| |R| + target_factor |C| +
/// absolute_term.
struct Allowance {
  double product_factor = 0;
  WideNumber absolute_term;
  double target_factor = 0;
  /// An element is summed exactly unless its error bound is below this fraction of the allowed value.
  double negligible = 0x1p-10;
  /// The maximum number of terms in the exact sums of all elements together; beyond it the result is NaN.
  double max_exact_terms = std::numeric_limits<double>::infinity();
};

/// Returns the largest |C - L R| / (allowed value) over all elements; NaN beyond `max_exact_terms`.
template <class T>
double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                               const Allowance& allowance);

}  // namespace gaussweep
