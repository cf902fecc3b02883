#pragma once
/// Matrices on which fast methods lose digits, and the measure of the loss: a row's ratio divided by
/// LAPACK's.

#include "kernels/matrix/system.hpp"
#include "tests/kernels/hard_systems.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns the Gaussian kernel matrix of n points in [0, 1]: exp(-s d^2) for two points at distance d, plus
/// lambda on the diagonal. The points are evenly spaced if `seed` is 0, and else random.
inline HostMatrix<double> kernel_matrix(std::int64_t n, double s, double lambda, unsigned seed = 0) {
  std::mt19937_64 random(seed);
  std::vector<double> at(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < at.size(); ++i) {
    at[i] = seed == 0 ? static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(n - 1, 1))
                      : std::uniform_real_distribution<double>(0, 1)(random);
  }
  HostMatrix<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = at[static_cast<std::size_t>(i)] - at[static_cast<std::size_t>(j)];
      a(i, j) = std::exp(-s * d * d) + (i == j ? lambda : 0);
    }
  }
  return a;
}

/// Returns a symmetric positive definite matrix with eigenvalues from 1 / condition to 1, logarithmically
/// spaced: a diagonal matrix, transformed by three random reflections.
inline HostMatrix<double> definite_matrix(std::int64_t n, double condition, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<long double> normal;
  std::vector<std::vector<long double>> a(static_cast<std::size_t>(n),
                                          std::vector<long double>(static_cast<std::size_t>(n)));
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i) {
    const long double fraction = n == 1 ? 0 : static_cast<long double>(i) / static_cast<long double>(n - 1);
    a[i][i] = std::pow(static_cast<long double>(condition), -fraction);
  }
  for (int reflection = 0; reflection < 3; ++reflection) {
    std::vector<long double> v(size);
    long double square = 0;
    for (long double& one : v) {
      one = normal(random);
      square += one * one;
    }
    for (int side = 0; side < 2; ++side) {  // H A, then (H A) H, with the reflection H = I - 2 v v^T / v^T v
      for (std::size_t j = 0; j < size; ++j) {
        const auto at = [&](std::size_t i) -> long double& { return side == 0 ? a[i][j] : a[j][i]; };
        long double sum = 0;
        for (std::size_t i = 0; i < size; ++i) sum += v[i] * at(i);
        for (std::size_t i = 0; i < size; ++i) at(i) -= 2 * sum / square * v[i];
      }
    }
  }
  HostMatrix<double> result(n, n);
  // Takes both triangles from the lower one, because rounding errors make `a` slightly unsymmetric.
  fill(result, [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(
        a[static_cast<std::size_t>(std::max(i, j))][static_cast<std::size_t>(std::min(i, j))]);
  });
  return result;
}

/// Returns definite matrices with condition numbers close to 1 / u, where u is the unit roundoff of T.
template <class T>
std::vector<HostMatrix<double>> hard_definite_matrices(std::int64_t n) {
  constexpr bool is_double = sizeof(T) == 8;
  std::vector<HostMatrix<double>> all;
  for (const double lambda : {is_double ? 1e-10 : 1e-4, is_double ? 1e-12 : 1e-5}) {
    for (const double s : {4.0, 10.0}) all.push_back(kernel_matrix(n, s, lambda));
  }
  for (const unsigned seed : {1u, 2u}) all.push_back(definite_matrix(n, is_double ? 5e13 : 5e5, seed));
  return all;
}

/// Returns LAPACK's Cholesky factor in the lower triangle and its transpose in the upper one.
inline HostMatrix<double> mirrored_factor(const HostMatrix<double>& a) {
  Inputs<double> inputs = inputs_of<double>({a.rows, a.rows, a.rows, 1, Uplo::lower}, a);
  HostMatrix<double> factor = try_method(Problem::named("potrf"), "lapack", inputs).answer.x;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) factor(i, j) = factor(j, i);
  }
  return factor;
}

/// Returns a matrix whose rows are alternately very large and very small.
template <class T>
HostMatrix<double> rows_far_apart(std::int64_t n) {
  const double large = sizeof(T) == 8 ? 1e160 : 1e20;
  HostMatrix<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = i % 2 == 0 ? large : -1 / large;
  for (std::int64_t i = 0; i + 1 < n; i += 2) {
    a(i, i + 1) = 2 * large;
    a(i + 1, i) = 1 / large;
  }
  return a;
}

/// Returns a definite matrix whose pivot `index`, from 0, is subnormal in precision T.
template <class T>
HostMatrix<double> subnormal_pivot(std::int64_t n, std::int64_t index) {
  HostMatrix<double> a = kernel_matrix(n, 4, 1);
  for (std::int64_t i = 0; i < n; ++i) a(i, index) = a(index, i) = 0;
  a(index, index) = sizeof(T) == 8 ? 0x1p-1023 : 0x1p-127;
  return a;
}

/// Returns inputs with the matrix, or one triangle of it, in precision T, and with right-hand sides if the
/// problem has them.
template <class T>
Inputs<T> inputs_of(Problem problem, const HostMatrix<double>& a, Uplo uplo = Uplo::lower,
                    std::int64_t nrhs = 1) {
  Inputs<T> inputs = inputs_of<T>({a.rows, a.rows, a.rows, nrhs, uplo}, HostMatrix<T>(a.rows, a.cols));
  std::transform(a.data.begin(), a.data.end(), inputs.a.data.begin(),
                 [](double value) { return static_cast<T>(value); });
  for (std::int64_t j = 0; problem->used_of_a == UsedElements::triangle && j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (uplo == Uplo::lower ? i < j : i > j) inputs.a(i, j) = 0;
    }
  }
  if (has_right_hand_sides(problem)) {
    System<T> systems = make_systems(inputs.a, nrhs, 7, 1);
    inputs.x_true = std::move(systems.x_true);
    inputs.b = std::move(systems.b);
  }
  return inputs;
}

/// The ratios of a row and of LAPACK on the same matrix; infinite if the row reports info.
struct RatioComparison {
  double ratio, lapack_ratio;
  /// Returns at most 1 if the row is as accurate as LAPACK, or if both report info.
  double loss() const { return std::isinf(lapack_ratio) ? 1 : ratio / std::max(1.0, 3 * lapack_ratio); }
};

template <class T>
RatioComparison compare_with_lapack(Problem problem, const std::string& variant, const Inputs<T>& inputs,
                                    const ParameterChanges& changes = {}) {
  const auto ratio = [&](const std::string& name) {
    const Answer<T> answer = try_method(problem, name, inputs, changes).answer;
    return answer.info > 0 ? HUGE_VAL : check(*registry().find(problem, name), inputs, answer).ratio;
  };
  return {ratio(variant), ratio("lapack")};
}

}  // namespace gaussweep::testing_help
