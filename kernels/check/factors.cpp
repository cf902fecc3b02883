// getrf and potrf: the factors multiplied out again.

#include <utility>

#include "kernels/check/judges.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::judges {
namespace {

/// P A in double, its rows exchanged as the pivots say, or nothing where a pivot is no row.
template <class T>
HostMatrix<double> exchanged(const HostMatrix<T>& a, const std::vector<int>& pivots) {
  HostMatrix<double> pa = as_double(a);
  for (std::size_t k = 0; k < pivots.size(); ++k) {
    if (pivots[k] < 0 || pivots[k] >= a.rows) return {};
    const auto i = static_cast<std::int64_t>(k);
    if (pivots[k] == i) continue;
    for (std::int64_t j = 0; j < a.cols; ++j) std::swap(pa(i, j), pa(pivots[k], j));
  }
  return pa;
}

/// One triangle of a matrix in double, the rest 0.
template <class T>
HostMatrix<double> triangle(const HostMatrix<T>& a, Part part) {
  HostMatrix<double> only(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) only(i, j) = a(i, j);
  }
  return only;
}

/// The 1-norm of a symmetric matrix of which one triangle is known.
template <class T>
double symmetric_one_norm(const HostMatrix<T>& a, Part part) {
  std::vector<double> sum(static_cast<std::size_t>(a.cols), 0.0);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double value = std::fabs(static_cast<double>(a(i, j)));
      sum[static_cast<std::size_t>(j)] += value;
      if (i != j) sum[static_cast<std::size_t>(i)] += value;
    }
  }
  HostMatrix<double> row(1, a.cols);
  row.data = std::move(sum);
  return max_norm(row);
}

Findings judged(double residual, double a_norm, double n, double u, double growth) {
  Findings findings = unknown();
  findings.backward_error = quotient(residual, a_norm);
  findings.ratio = findings.backward_error / (n * u);
  findings.pivot_growth = growth;
  return findings;
}

}  // namespace

template <class T>
Findings lu_factors(UnitDiagonal unit_diagonal, const Inputs<T>& inputs, const Answer<T>& answer) {
  const std::int64_t n = inputs.shape.n;
  const bool unit_lower = unit_diagonal == UnitDiagonal::lower;
  HostMatrix<double> rest = exchanged(inputs.a, answer.pivots);
  if (rest.empty()) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return judged(infinite, 1, static_cast<double>(n), unit_roundoff<T>, infinite);
  }
  HostMatrix<double> product = triangle(answer.x, Part::upper);  // U, then L U
  if (!unit_lower) {
    for (std::int64_t i = 0; i < n; ++i) product(i, i) = 1;
  }
  const auto& factors = as_double(answer.x);
  vendor::trmm(vendor::Side::left, Uplo::lower, vendor::Op::none,
               unit_lower ? vendor::Diagonal::unit : vendor::Diagonal::stored, n, n, 1.0, factors.data.data(),
               n, product.data.data(), n);
  for (std::size_t k = 0; k < rest.data.size(); ++k) rest.data[k] -= product.data[k];
  // The factor with the pivots is the one that grows.
  const double growth = max_norm(answer.x, unit_lower ? Part::upper : Part::lower) / max_norm(inputs.a);
  return judged(one_norm(rest), one_norm(inputs.a), static_cast<double>(n), unit_roundoff<T>, growth);
}

template <class T>
Findings cholesky_factor(const Inputs<T>& inputs, const Answer<T>& answer) {
  const std::int64_t n = inputs.shape.n;
  const Uplo uplo = inputs.shape.uplo;
  const Part part = part_of(uplo);
  HostMatrix<double> factor = triangle(answer.x, part);
  HostMatrix<double> product = factor;  // U, then U^T U
  if (uplo == Uplo::lower) {            // L^T, then L L^T
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) product(i, j) = factor(j, i);
    }
  }
  vendor::trmm(vendor::Side::left, uplo, uplo == Uplo::lower ? vendor::Op::none : vendor::Op::transpose,
               vendor::Diagonal::stored, n, n, 1.0, factor.data.data(), n, product.data.data(), n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) product(i, j) = inputs.a(i, j) - product(i, j);
  }
  const double growth = max_norm(factor) / max_norm(inputs.a, part);
  return judged(symmetric_one_norm(product, part), symmetric_one_norm(inputs.a, part), static_cast<double>(n),
                unit_roundoff<T>, growth);
}

template Findings lu_factors<float>(UnitDiagonal, const Inputs<float>&, const Answer<float>&);
template Findings lu_factors<double>(UnitDiagonal, const Inputs<double>&, const Answer<double>&);
template Findings cholesky_factor<float>(const Inputs<float>&, const Answer<float>&);
template Findings cholesky_factor<double>(const Inputs<double>&, const Answer<double>&);

}  // namespace gaussweep::judges
