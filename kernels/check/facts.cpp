/// Finds the properties of a matrix: norms, symmetry, diagonal, shape, definiteness, conditioning.

#include "kernels/check/facts.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/check/norms.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep {
namespace {

/// Compares every diagonal[i] with off_diagonal_sums[i], the sum of the magnitudes of the other elements of
/// its row or column.
Dominance dominance_of(const std::vector<long double>& diagonal,
                       const std::vector<long double>& off_diagonal_sums) {
  Dominance result = Dominance::strict;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    if (diagonal[i] < off_diagonal_sums[i]) return Dominance::none;
    if (diagonal[i] == off_diagonal_sums[i]) result = Dominance::weak;
  }
  return result;
}

void add_square_facts(const HostMatrix<double>& a, MatrixFacts& facts) {
  const std::int64_t n = a.rows;
  // Sums of doubles do not overflow in long double.
  std::vector<long double> diagonal(static_cast<std::size_t>(n)), row_sums(diagonal), column_sums(diagonal);
  double max_difference = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = a(i, j);
      if (i == j) {
        diagonal[static_cast<std::size_t>(i)] = std::fabs(value);
        if (value != 0) continue;
        facts.zero_diagonals += 1;
        if (facts.first_zero_diagonal == 0) facts.first_zero_diagonal = i + 1;
        continue;
      }
      if (i > j) max_difference = std::max(max_difference, std::fabs(value / 2 - a(j, i) / 2));
      if (value == 0) continue;
      row_sums[static_cast<std::size_t>(i)] += std::fabs(value);
      column_sums[static_cast<std::size_t>(j)] += std::fabs(value);
      std::int64_t& bandwidth = i > j ? facts.lower_bandwidth : facts.upper_bandwidth;
      bandwidth = std::max(bandwidth, std::abs(i - j));
    }
  }
  facts.asymmetry = facts.largest > 0 ? 2 * (max_difference / facts.largest) : 0;
  facts.by_rows = dominance_of(diagonal, row_sums);
  facts.by_columns = dominance_of(diagonal, column_sums);
}

Conditioning from_rcond(double rcond, bool is_definite) {
  Conditioning result;
  result.is_definite = is_definite;
  if (rcond > 0) result.condition = 1 / rcond;
  return result;
}

}  // namespace

template <class T>
bool is_symmetric(const MatrixView<const T>& a, double roundoff) {
  double largest = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      largest = std::max(largest, std::fabs(static_cast<double>(a.data[i + j * a.ld])));
  }
  // Halved numbers do not overflow when added.
  const double limit = static_cast<double>(a.rows) * roundoff * (largest / 2);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = j + 1; i < a.rows; ++i) {
      const double below = a.data[i + j * a.ld], above = a.data[j + i * a.ld];
      if (below == above) continue;
      if (!(std::fabs(below / 2 - above / 2) <= limit)) return false;  // also for NaN
    }
  }
  return true;
}

template <class T>
bool is_triangular(const MatrixView<const T>& a, Uplo uplo) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const T* column = a.data + j * a.ld;
    const std::int64_t begin = uplo == Uplo::lower ? 0 : j + 1;
    const std::int64_t end = uplo == Uplo::lower ? std::min(j, a.rows) : a.rows;
    for (std::int64_t i = begin; i < end; ++i) {
      if (column[i] != T(0)) return false;
    }
  }
  return true;
}

template bool is_symmetric<float>(const MatrixView<const float>&, double);
template bool is_symmetric<double>(const MatrixView<const double>&, double);
template bool is_triangular<float>(const MatrixView<const float>&, Uplo);
template bool is_triangular<double>(const MatrixView<const double>&, Uplo);

MatrixFacts facts_of(const HostMatrix<double>& a, double roundoff) {
  MatrixFacts facts;
  facts.rows = a.rows;
  facts.cols = a.cols;
  facts.nonzeros = static_cast<std::int64_t>(
      std::count_if(a.data.begin(), a.data.end(), [](double value) { return value != 0; }));
  facts.largest = max_norm(a);
  facts.norm_1 = one_norm(a).value();
  facts.norm_inf = infinity_norm(a).value();
  facts.norm_frobenius = frobenius_norm(a).value();
  if (!facts.is_square()) return facts;
  add_square_facts(a, facts);
  facts.is_symmetric =
      is_symmetric(MatrixView<const double>{a.data.data(), a.rows, a.cols, a.rows}, roundoff);
  return facts;
}

Conditioning conditioning_of(HostMatrix<double>&& a, const MatrixFacts& facts) {
  const std::int64_t n = a.rows;
  // Scaling does not change the condition number, and keeps LAPACK's products within the range of double.
  const int scale = exponent_of(facts.largest);
  for (double& value : a.data) value = times_power(value, -scale);
  if (facts.zero_diagonals > 0 && facts.is_triangular()) {
    Conditioning singular;
    singular.zero_pivot = facts.first_zero_diagonal;
    return singular;
  }
  const double norm = one_norm(a).value();
  bool may_be_definite = facts.is_symmetric, is_definite = false;
  for (std::int64_t i = 0; i < n; ++i) may_be_definite = may_be_definite && a(i, i) > 0;
  if (may_be_definite) {
    std::vector<double> diagonal(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) diagonal[static_cast<std::size_t>(i)] = a(i, i);
    is_definite = vendor::potrf(Uplo::lower, n, a.data.data(), n) == 0;
    if (is_definite) {
      // potrf may succeed for a singular A: its last pivots are rounding errors, which may be positive. The
      // LU factorisation below may then find a zero pivot.
      const double rcond = vendor::pocon(Uplo::lower, n, a.data.data(), n, norm);
      if (rcond * max_decided_condition(n) >= 1) return from_rcond(rcond, is_definite);
    }
    // Restores A from its upper triangle, which potrf has not changed.
    for (std::int64_t j = 0; j < n; ++j) {
      a(j, j) = diagonal[static_cast<std::size_t>(j)];
      for (std::int64_t i = j + 1; i < n; ++i) a(i, j) = a(j, i);
    }
  }
  if (facts.is_triangular())
    return from_rcond(vendor::trcon(facts.triangle(), n, a.data.data(), n), is_definite);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  const int info = vendor::getrf(n, n, a.data.data(), n, pivots.data());
  if (info > 0) {
    Conditioning singular;
    singular.zero_pivot = info;
    return singular;
  }
  return from_rcond(vendor::gecon(n, a.data.data(), n, norm), is_definite);
}

}  // namespace gaussweep
