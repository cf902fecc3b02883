// The ratios of answers, computed with exact sums and 120 digits; see recompute.hpp.
#include "tests/verdicts/recompute.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gaussweep::verdicts {
namespace {

/// A matrix whose elements are split into sign, mantissa and exponent (Parts), as ExactSum takes them.
/// Elements that the problem does not use are 0.
struct PartsMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<Parts> data;
  const Parts& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  Parts& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  /// Functions of k that return element k of a row or column.
  auto row(std::int64_t i) const {
    return [this, i](std::int64_t k) { return (*this)(i, k); };
  }
  auto column(std::int64_t j) const {
    return [this, j](std::int64_t k) { return (*this)(k, j); };
  }
};

/// Returns true if the problem uses element (i, j).
using IsUsed = bool (*)(std::int64_t i, std::int64_t j);
bool everywhere(std::int64_t, std::int64_t) {
  return true;
}
bool in_lower(std::int64_t i, std::int64_t j) {
  return i >= j;
}
bool in_upper(std::int64_t i, std::int64_t j) {
  return i <= j;
}
IsUsed triangle_of(Uplo uplo) {
  return uplo == Uplo::lower ? in_lower : in_upper;
}

/// Returns true if all used elements are finite.
template <class T>
bool is_finite(const HostMatrix<T>& a, IsUsed is_used) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (is_used(i, j) && !std::isfinite(a(i, j))) return false;
    }
  }
  return true;
}

/// Splits the used elements of a matrix. @pre they are finite
template <class T>
PartsMatrix split(const HostMatrix<T>& a, IsUsed is_used = everywhere) {
  PartsMatrix parts{a.rows, a.cols, std::vector<Parts>(a.data.size())};
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (is_used(i, j)) parts(i, j) = parts_of(static_cast<double>(a(i, j)));
    }
  }
  return parts;
}

/// Returns the absolute value.
Wide magnitude(const Parts& value) {
  return ldexp(Wide(value.mantissa), value.exponent);
}

/// Returns the maximum norm of column j.
Wide column_max(const PartsMatrix& a, std::int64_t j) {
  Wide largest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) largest = std::max(largest, magnitude(a(i, j)));
  return largest;
}

/// Returns max over j of the sum of |element(i, j)| over i. Calls `element` once per element.
template <class Element>
Wide one_norm(std::int64_t rows, std::int64_t cols, Element element) {
  Wide largest = 0;
  for (std::int64_t j = 0; j < cols; ++j) {
    Wide sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += element(i, j);
    largest = std::max(largest, sum);
  }
  return largest;
}

Wide one_norm(const PartsMatrix& a) {
  return one_norm(a.rows, a.cols, [&](std::int64_t i, std::int64_t j) { return magnitude(a(i, j)); });
}

Wide infinity_norm(const PartsMatrix& a) {
  return one_norm(a.cols, a.rows, [&](std::int64_t j, std::int64_t i) { return magnitude(a(i, j)); });
}

Wide frobenius_norm(const PartsMatrix& a) {
  Wide sum = 0;
  for (const Parts& value : a.data) {
    const Wide size = magnitude(value);
    sum += size * size;
  }
  return sqrt(sum);
}

/// Returns |target - sum over k of left(k) right(k)|, k = 0 .. terms - 1. Only the result is rounded.
template <class Left, class Right>
Wide residual_of(const Parts& target, std::int64_t terms, Left left, Right right) {
  ExactSum sum;
  sum.add(target);
  for (std::int64_t k = 0; k < terms; ++k) sum.add_product(left(k), right(k), true);
  return abs(sum.value());
}

/// Sets truth's ratio to residual / scale if that is larger.
/// @param norms_alone the scale without the term of the smallest normal number
void set_ratio(Truth& truth, const Wide& residual, const Wide& scale, const Wide& norms_alone) {
  if (residual == 0) return;
  truth.by_norms =
      norms_alone == 0 ? Wide("1e1000000") : std::max(truth.by_norms, Wide(residual / norms_alone));
  if (scale == 0) {
    truth.infinite_ratio = true;
  } else {
    truth.ratio = std::max(truth.ratio, Wide(residual / scale));
  }
}

template <class T>
Wide unit_roundoff() {
  return ldexp(Wide(1), -std::numeric_limits<T>::digits);
}

/// Returns the smallest normal number. A result below it has a rounding error of at most u times this number.
template <class T>
Wide smallest_normal() {
  return Wide(std::numeric_limits<T>::min());
}

template <class T>
void solution(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  const PartsMatrix a =
      split(inputs.a, method.problem == Problem::named("trsv") ? triangle_of(inputs.shape.uplo) : everywhere);
  const PartsMatrix b = split(inputs.b);
  const PartsMatrix x = split(answer.x);
  const Wide a_norm = infinity_norm(a);
  for (std::int64_t r = 0; r < inputs.shape.nrhs; ++r) {
    Wide residual = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      residual = std::max(residual, residual_of(b(i, r), n, a.row(i), x.column(r)));
    }
    const Wide scale = a_norm * (column_max(x, r) + smallest_normal<T>()) + column_max(b, r);
    const Wide norms_alone = a_norm * column_max(x, r) + column_max(b, r);
    const Wide roundoff = n * unit_roundoff<T>();
    set_ratio(truth, residual, scale * roundoff, norms_alone * roundoff);
  }
}

template <class T>
void lu_factors(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  PartsMatrix a = split(inputs.a);
  const Wide a_norm = one_norm(a);
  std::int64_t zero_pivot = 0;  // the index of the first zero pivot; n: none
  while (zero_pivot < n && answer.x(zero_pivot, zero_pivot) != 0) ++zero_pivot;
  if (answer.info >= 0 && answer.info != (zero_pivot < n ? zero_pivot + 1 : 0)) {
    truth.defined = false;
    return;
  }
  for (std::size_t k = 0; k < answer.pivots.size(); ++k) {
    const int other = answer.pivots[k];
    if (other < 0 || other >= n) {
      truth.defined = false;
      return;
    }
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(static_cast<std::int64_t>(k), j), a(other, j));
  }
  PartsMatrix l = split(answer.x, in_lower);
  PartsMatrix u = split(answer.x, in_upper);
  PartsMatrix& unit = method.unit_diagonal == UnitDiagonal::lower ? l : u;
  for (std::int64_t i = 0; i < n; ++i) unit(i, i) = parts_of(1);
  const Wide residual = one_norm(n, n, [&](std::int64_t i, std::int64_t j) {
    return residual_of(a(i, j), std::min(i, j) + 1, l.row(i), u.column(j));
  });
  const Wide stored = one_norm(split(answer.x, in_lower)) + one_norm(split(answer.x, in_upper)) + 1;
  const Wide roundoff = n * unit_roundoff<T>();
  set_ratio(truth, residual, (a_norm + smallest_normal<T>() * stored) * roundoff, a_norm * roundoff);
}

template <class T>
void cholesky_factor(const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  for (std::int64_t i = 0; i < n; ++i) truth.defined = truth.defined && answer.x(i, i) > 0;
  if (!truth.defined) return;
  const bool lower = inputs.shape.uplo == Uplo::lower;
  PartsMatrix a = split(inputs.a, triangle_of(inputs.shape.uplo));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (lower ? i < j : i > j) a(i, j) = a(j, i);
    }
  }
  const PartsMatrix factor = split(answer.x, triangle_of(inputs.shape.uplo));
  const Wide residual = one_norm(n, n, [&](std::int64_t i, std::int64_t j) {
    const std::int64_t terms = std::min(i, j) + 1;
    return lower ? residual_of(a(i, j), terms, factor.row(i), factor.row(j))
                 : residual_of(a(i, j), terms, factor.column(i), factor.column(j));
  });
  const Wide scale = one_norm(a) * n * unit_roundoff<T>();
  set_ratio(truth, residual, scale, scale);
}

template <class T>
void inverse(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  const IsUsed is_used =
      method.problem == Problem::named("trtri") ? triangle_of(inputs.shape.uplo) : everywhere;
  const PartsMatrix a = split(inputs.a, is_used);
  const PartsMatrix x = split(answer.x, is_used);
  const auto residual = [n](const PartsMatrix& left, const PartsMatrix& right) {  // ||I - left right||
    return one_norm(n, n, [&](std::int64_t i, std::int64_t j) {
      return residual_of(parts_of(i == j ? 1 : 0), n, left.row(i), right.column(j));
    });
  };
  const Wide x_norm = one_norm(x), a_part = one_norm(a) * n * unit_roundoff<T>();
  // The smallest normal number keeps the scale above 0 if X is 0.
  const Wide scale = a_part * (x_norm + smallest_normal<T>());
  set_ratio(truth, residual(a, x), scale, a_part * x_norm);
  // geinv: if the backward error ||I - A X|| exceeds min(n, 32) u, the smaller ratio of I - A X and I - X A
  // counts.
  const Wide limit = n <= 32 ? Wide(1) : Wide(32) / n;
  constexpr double near = 1e-3;  // the relative distance from the limit within which rounding decides
  if (method.problem != Problem::named("geinv") || truth.infinite_ratio || truth.ratio < limit * (1 - near))
    return;
  Truth swapped;
  set_ratio(swapped, residual(x, a), scale, a_part * x_norm);
  if (!(swapped.ratio < truth.ratio)) return;
  truth.either_side = truth.ratio <= limit * (1 + near);
  truth.ratio = swapped.ratio;
  truth.by_norms = swapped.by_norms;
}

template <class T>
void product(const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const Shape& s = inputs.shape;
  const PartsMatrix a = split(inputs.a);
  const PartsMatrix b = split(inputs.b);
  const PartsMatrix c = split(answer.x);
  PartsMatrix a_magnitudes = a, b_magnitudes = b;
  for (Parts& element : a_magnitudes.data) element.negative = false;
  for (Parts& element : b_magnitudes.data) element.negative = false;
  const Wide u = unit_roundoff<T>();
  const Wide gamma = (s.k + 2) * u / (1 - (s.k + 2) * u);
  // A product or sum that underflows has an error of at most half the smallest subnormal number.
  const Wide underflow = (s.k + 2) * Wide(std::numeric_limits<T>::denorm_min());
  Wide squares = 0;        // the sum of squared errors
  Wide worst_element = 0;  // the largest error of an element divided by the element's bound
  for (std::int64_t j = 0; j < s.n; ++j) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      const Wide error = residual_of(c(i, j), s.k, a.row(i), b.column(j));
      const Wide magnitudes = residual_of({}, s.k, a_magnitudes.row(i), b_magnitudes.column(j));
      squares += error * error;
      worst_element = std::max(worst_element, Wide(error / (gamma * magnitudes + underflow)));
    }
  }
  const Wide scale = sqrt(Wide(s.k + 2)) * frobenius_norm(a) * frobenius_norm(b) * u;
  set_ratio(truth, sqrt(squares), scale, scale);
  truth.within_bound = worst_element <= 1;
  // The tolerance is 3: a ratio of 3 * worst_element passes exactly if every element is within its bound.
  const Wide element_ratio = 3 * worst_element;
  if (truth.infinite_ratio || (truth.ratio > 1 && element_ratio < truth.ratio)) {
    truth.ratio = element_ratio;
    truth.infinite_ratio = false;
  }
}

}  // namespace

template <class T>
Truth recompute(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer) {
  Truth truth;
  const bool triangle =
      method.problem == Problem::named("potrf") || method.problem == Problem::named("trtri");
  truth.finite = is_finite(answer.x, triangle ? triangle_of(inputs.shape.uplo) : everywhere);
  if (!truth.finite) return truth;
  const std::string& problem = method.problem->name;
  if (problem == "gemm") {
    product(inputs, answer, truth);
  } else if (problem == "trsv" || problem == "gesv" || problem == "posv") {
    solution(method, inputs, answer, truth);
  } else if (problem == "getrf") {
    lu_factors(method, inputs, answer, truth);
  } else if (problem == "potrf") {
    cholesky_factor(inputs, answer, truth);
  } else if (problem == "trtri" || problem == "geinv" || problem == "poinv") {
    inverse(method, inputs, answer, truth);
  } else {
    throw std::logic_error("verdicts has no recomputation for " + problem);
  }
  return truth;
}

std::vector<std::string> right_statuses(const Method& method, const Truth& truth, double tolerance,
                                        std::int64_t info, Convergence convergence) {
  if (info < 0) return {"error"};
  std::vector<std::string> right;
  if (convergence == Convergence::diverged) right.emplace_back("diverged");
  if (!truth.finite || !truth.defined || truth.infinite_ratio ||
      (info > 0 && method.problem != Problem::named("getrf"))) {
    right.emplace_back("failed");
    return right;
  }
  if (!right.empty()) return right;
  constexpr double near = 1e-3;  // the relative distance from a limit within which both statuses are right
  const Wide limits[] = {tolerance, 10 * Wide(tolerance)};
  if (truth.ratio <= limits[0] * (1 + near)) right.emplace_back("pass");
  if (truth.ratio >= limits[0] * (1 - near) && truth.ratio <= limits[1] * (1 + near))
    right.emplace_back("suspect");
  if (truth.ratio >= limits[1] * (1 - near)) right.emplace_back("failed");
  return right;
}

template Truth recompute<float>(const Method&, const Inputs<float>&, const Answer<float>&);
template Truth recompute<double>(const Method&, const Inputs<double>&, const Answer<double>&);

}  // namespace gaussweep::verdicts
