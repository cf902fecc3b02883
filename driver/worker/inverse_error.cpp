/// Estimates the forward error of an inverse X by |X (v - A X v)| / |X v| with a random vector v of signs.

#include "driver/worker/inverse_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/check/verifiers.hpp"

namespace gaussweep::driver {
namespace {

using Vector = std::vector<long double>;

/// Returns M v. If `used` is a triangle of M, the other triangle is zero or the transpose of this one.
template <class T>
Vector product(const HostMatrix<T>& m, UsedElements used, Uplo uplo, const Vector& v) {
  const std::int64_t n = m.rows;
  Vector result(static_cast<std::size_t>(n), 0.0L);
  for (std::int64_t j = 0; j < n; ++j) {
    const bool is_whole = used == UsedElements::all;
    const std::int64_t first = is_whole || uplo == Uplo::upper ? 0 : j;
    const std::int64_t end = is_whole || uplo == Uplo::lower ? n : j + 1;
    for (std::int64_t i = first; i < end; ++i) {
      const auto element = static_cast<long double>(m(i, j));
      result[static_cast<std::size_t>(i)] += element * v[static_cast<std::size_t>(j)];
      if (used == UsedElements::mirrored_triangle && i != j)
        result[static_cast<std::size_t>(j)] += element * v[static_cast<std::size_t>(i)];
    }
  }
  return result;
}

/// Returns the largest |element|; NaN if an element is not finite.
long double largest(const Vector& v) {
  long double maximum = 0;
  for (const long double value : v) {
    if (!std::isfinite(value)) return std::numeric_limits<long double>::quiet_NaN();
    maximum = std::max(maximum, std::fabs(value));
  }
  return maximum;
}

}  // namespace

bool is_inverse(Problem problem) {
  return verifiers::is_of_inverse(problem->verifier.float64);
}

template <class T>
double inverse_error(Problem problem, Uplo uplo, const HostMatrix<T>& a, const HostMatrix<T>& x) {
  Vector v(static_cast<std::size_t>(a.rows));
  std::uint64_t state = 1;  // of a linear congruential generator (Knuth's MMIX)
  for (long double& sign : v) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    sign = (state >> 63) == 0 ? 1 : -1;
  }
  const Vector w = product(x, problem->used_of_x, uplo, v);  // X v
  Vector r = product(a, problem->used_of_a, uplo, w);        // A (X v); the loop makes it v - A (X v)
  for (std::size_t i = 0; i < v.size(); ++i) r[i] = v[i] - r[i];
  return static_cast<double>(largest(product(x, problem->used_of_x, uplo, r)) / largest(w));
}

template double inverse_error(Problem, Uplo, const HostMatrix<float>&, const HostMatrix<float>&);
template double inverse_error(Problem, Uplo, const HostMatrix<double>&, const HostMatrix<double>&);

}  // namespace gaussweep::driver
