#pragma once
/// The elements of generated matrices, for the host and for kernels. All backends give the same bits, because
/// elements are computed in double by +, -, * and / in a fixed order, without FMA and library functions.

#include "kernels/matrix/matrix_spec.hpp"
#include "kernels/matrix/philox.hpp"

namespace gaussweep {

/// Returns a number uniform in (-1, 1), never 0.
GAUSSWEEP_SHARED_INLINE double signed_unit(std::uint64_t seed, RandomStream stream, std::int64_t i,
                                           std::int64_t j) {
  return 2 * random_element(seed, stream, i, j).unit - 1;
}

/// Returns a number uniform in [low, high), never 0. If a number rounds to 0 or `high`, it is drawn again.
/// @pre precision_fault (generate.hpp) returns "", so that few numbers are drawn again
template <class T>
GAUSSWEEP_SHARED_INLINE T uniform_element(const ElementSpec& spec, std::int64_t i, std::int64_t j) {
  T value = 0;
  for (std::uint32_t attempt = 0; value == 0 || value >= spec.high; ++attempt) {
    value =
        static_cast<T>(spec.low + (spec.high - spec.low) *
                                      random_element(spec.seed, RandomStream::matrix, i, j, attempt).unit);
  }
  return value;
}

/// Returns an off-diagonal element of `spd` (symmetric) or `diagonally_dominant`.
GAUSSWEEP_SHARED_INLINE double off_diagonal(const ElementSpec& spec, std::int64_t i, std::int64_t j) {
  // The upper triangle of a symmetric matrix repeats the lower one.
  const bool mirrored = spec.kind == MatrixKind::spd && i < j;
  return mirrored ? signed_unit(spec.seed, RandomStream::matrix, j, i)
                  : signed_unit(spec.seed, RandomStream::matrix, i, j);
}

/// Returns the absolute value of a diagonal element that dominates its row: s (1 + 2^-16) + 1, where s is the
/// sum of the other elements' absolute values. The margin is much larger than the error of rounding the row
/// to float (2 * 2^-24 s).
GAUSSWEEP_SHARED_INLINE double dominant_diagonal(const ElementSpec& spec, std::int64_t i) {
  double sum = 0;
  for (std::int64_t j = 0; j < spec.cols; ++j) {
    if (j == i) continue;
    const double value = off_diagonal(spec, i, j);
    sum = sum + (value < 0 ? -value : value);
  }
  return sum + sum * 0x1p-16 + 1;
}

/// Returns an element of a well-conditioned triangular matrix: diagonal in ±[1, 2), others in (-1/n, 1/n).
GAUSSWEEP_SHARED_INLINE double triangular_element(const ElementSpec& spec, std::int64_t i, std::int64_t j) {
  if (i == j) {
    const RandomElement random = random_element(spec.seed, RandomStream::matrix, i, j);
    return random.negative ? -(1 + random.unit) : 1 + random.unit;
  }
  if ((i < j) == (spec.uplo == Uplo::lower)) return 0;  // outside the triangle; i differs from j here
  return signed_unit(spec.seed, RandomStream::matrix, i, j) / static_cast<double>(spec.cols);
}

/// Returns e^-x for x >= 0, accurate to about one ulp; 0 for x > 700.
GAUSSWEEP_SHARED_INLINE double exp_of_minus(double x) {
  if (!(x <= 700)) return 0;
  // ln 2 = high + low. `high` has trailing zeros, so that its product with any k here is exact.
  constexpr double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
  const auto k = static_cast<int>(x / (high + low) + 0.5);  // x / ln 2, rounded to nearest
  const double r = (k * high - x) + k * low;                // e^-x = 2^-k e^r, |r| <= ln 2 / 2
  double series = 1;                                        // the Taylor series of e^r, by Horner's scheme
  for (int term = 14; term > 0; --term) series = 1 + series * r / term;
  double power = 1, half = 0.5;  // power becomes 2^-k, by repeated squaring of 1/2
  for (int bits = k; bits > 0; bits /= 2) {
    if (bits % 2 == 1) power = power * half;
    half = half * half;
  }
  return series * power;
}

/// Returns an element of the Gaussian kernel matrix of n equidistant points on [0, 1]: exp(-s d^2) for points
/// at distance d, plus lambda on the diagonal.
GAUSSWEEP_SHARED_INLINE double kernel_element(const ElementSpec& spec, std::int64_t i, std::int64_t j) {
  if (i == j) return 1 + spec.lambda;
  const auto index_distance = static_cast<double>(i - j), intervals = static_cast<double>(spec.cols - 1);
  const double d = index_distance / intervals;
  return exp_of_minus(spec.s * (d * d));
}

/// Returns element (i, j), from 0, in double, for kinds other than `uniform` and `symmetric`.
GAUSSWEEP_SHARED_INLINE double exact_element(const ElementSpec& spec, std::int64_t i, std::int64_t j) {
  switch (spec.kind) {
    case MatrixKind::spd:
      return i == j ? dominant_diagonal(spec, i) : off_diagonal(spec, i, j);
    case MatrixKind::diagonally_dominant:
      if (i != j) return off_diagonal(spec, i, j);
      return random_element(spec.seed, RandomStream::matrix, i, i).negative ? -dominant_diagonal(spec, i)
                                                                            : dominant_diagonal(spec, i);
    case MatrixKind::triangular:
      return triangular_element(spec, i, j);
    case MatrixKind::identity:
      return i == j ? 1 : 0;
    case MatrixKind::hilbert:  // 1 / (i + j - 1) with indices from 1
      return 1 / static_cast<double>(i + j + 1);
    case MatrixKind::cauchy:
      return 1 / (static_cast<double>(i + j) + 1.5);
    case MatrixKind::ones:
      return spec.value;
    case MatrixKind::wilkinson:  // partial pivoting doubles the last column in every step, up to 2^(n - 1)
      if (i > j) return -1;
      return i == j || j == spec.cols - 1 ? 1 : 0;
    case MatrixKind::kernel:
      return kernel_element(spec, i, j);
    case MatrixKind::uniform:
    case MatrixKind::symmetric:  // element() computes these two kinds
    case MatrixKind::condition:
    case MatrixKind::blur:
      break;  // generated as a whole: condition.hpp, blur.hpp
  }
  return 0;
}

/// Returns element (i, j), from 0, for every kind whose elements are independent of each other. It takes O(1)
/// operations, and O(n) for the diagonal of a diagonally dominant matrix.
template <class T>
GAUSSWEEP_SHARED_INLINE T element(const ElementSpec& spec, std::int64_t i, std::int64_t j) {
  const bool mirrored = spec.kind == MatrixKind::symmetric && i < j;
  if (spec.kind == MatrixKind::uniform || spec.kind == MatrixKind::symmetric)
    return mirrored ? uniform_element<T>(spec, j, i) : uniform_element<T>(spec, i, j);
  return static_cast<T>(exact_element(spec, i, j));
}

}  // namespace gaussweep
