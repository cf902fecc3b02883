// Verifies the answers of getrf (residual P A - L U) and potrf (residual A - L L^T).

#include <numeric>
#include <utility>

#include "kernels/check/verifiers.hpp"

namespace gaussweep::verifiers {
namespace {

/// Returns `order` such that row i of P A is row order[i] of A.
/// @pre every pivot is a row index
std::vector<std::int64_t> row_order(std::int64_t rows, const std::vector<int>& pivots) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    std::swap(order[k], order[static_cast<std::size_t>(pivots[k])]);
  }
  return order;
}

/// Returns an error text if info is wrong, else "". The right info is the index (from 1) of the first zero
/// pivot of LU, or 0 if all pivots are nonzero. Ignores a negative info, which the driver reports.
template <class T>
std::string info_flaw(const Answer<T>& answer) {
  std::int64_t first_zero = 0;
  for (std::int64_t i = answer.x.rows; i > 0; --i)
    if (answer.x(i - 1, i - 1) == T(0)) first_zero = i;
  if (answer.info < 0 || answer.info == first_zero) return {};
  return "info is " + std::to_string(answer.info) +
         (first_zero == 0 ? ", but no pivot is 0" : ", but pivot " + std::to_string(first_zero) + " is 0");
}

/// Returns an error text if a diagonal element is not positive; else "".
template <class T>
std::string diagonal_flaw(const HostMatrix<T>& factor) {
  for (std::int64_t i = 0; i < factor.rows; ++i) {
    if (!(factor(i, i) > 0))
      return "element " + std::to_string(i + 1) + " of the factor's diagonal is not positive";
  }
  return {};
}

/// Returns the findings of an answer that fails because of `flaw`; the ratio exceeds every tolerance.
Findings flawed(const std::string& flaw) {
  Findings findings = unknown();
  findings.ratio = findings.backward_error = failed_ratio;
  findings.flaw = flaw;
  return findings;
}

/// Returns an error text for the first pivot that is no row index; else "".
std::string pivot_flaw(std::int64_t rows, const std::vector<int>& pivots) {
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    if (pivots[k] >= 0 && pivots[k] < rows) continue;
    return "pivot " + std::to_string(k + 1) + " exchanges row " +
           std::to_string(static_cast<std::int64_t>(pivots[k]) + 1) + "; allowed are rows 1 to " +
           std::to_string(rows);
  }
  return {};
}

}  // namespace

template <class T>
Findings lu_factors(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                    const Answer<T>& answer, double tolerance) {
  const std::int64_t n = inputs.shape.n;
  const bool unit_lower = method.unit_diagonal == UnitDiagonal::lower;
  std::string flaw = pivot_flaw(n, answer.pivots);
  if (flaw.empty()) flaw = info_flaw(answer);
  if (!flaw.empty()) return flawed(flaw);
  const std::vector<std::int64_t> order = row_order(n, answer.pivots);
  const ResidualTarget<T> exchanged{&inputs.a, MatrixPart::all, &order};
  const ProductOperands<T> operands{Operand<T>(answer.x, MatrixPart::lower, unit_lower),
                                    Operand<T>(answer.x, MatrixPart::upper, !unit_lower)};
  // Each element of a factor may have a rounding error of u times the smallest normal number. The product
  // multiplies this error by elements of the other factor.
  const WideNumber a_norm = reductions.one_norm(inputs.a, MatrixPart::all);
  const WideNumber factor_norms = reductions.one_norm(answer.x, MatrixPart::lower) +
                                  reductions.one_norm(answer.x, MatrixPart::upper) +
                                  WideNumber(1);  // the unit diagonal, which is not stored
  const Scale scale{a_norm, a_norm + WideNumber(smallest_normal<T>) * factor_norms};
  Findings findings = verify_columns(reductions, operands, exchanged, Measure::sum, {scale},
                                     static_cast<double>(n) * unit_roundoff<T>, tolerance);
  // Only the factor with the pivots can grow: with row exchanges the other factor's elements are at most 1.
  const WideNumber largest(reductions.max_norm(answer.x, unit_lower ? MatrixPart::upper : MatrixPart::lower));
  findings.pivot_growth = (largest / WideNumber(reductions.max_norm(inputs.a, MatrixPart::all))).value();
  return findings;
}

template <class T>
Findings cholesky_factor(Reductions<T>& reductions, const Method& /*method*/, const Inputs<T>& inputs,
                         const Answer<T>& answer, double tolerance) {
  const std::string flaw = diagonal_flaw(answer.x);
  if (!flaw.empty()) return flawed(flaw);
  const Uplo uplo = inputs.shape.uplo;
  const MatrixPart part = part_of(uplo);
  const ResidualTarget<T> symmetric{&inputs.a, part};
  Operand<T> left(answer.x, part), right(answer.x, part);  // L L^T or U^T U
  (uplo == Uplo::lower ? right : left).transposed = true;
  const WideNumber a_norm = reductions.symmetric_norm(inputs.a, part);
  Findings findings =
      verify_columns(reductions, ProductOperands<T>{left, right}, symmetric, Measure::sum, {{a_norm, a_norm}},
                     static_cast<double>(inputs.shape.n) * unit_roundoff<T>, tolerance);
  const WideNumber largest(reductions.max_norm(answer.x, part));
  findings.pivot_growth = (largest * largest / WideNumber(reductions.max_norm(inputs.a, part))).value();
  return findings;
}

template Findings lu_factors<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                    const Answer<float>&, double);
template Findings lu_factors<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                     const Answer<double>&, double);
template Findings cholesky_factor<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                         const Answer<float>&, double);
template Findings cholesky_factor<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                          const Answer<double>&, double);

}  // namespace gaussweep::verifiers
