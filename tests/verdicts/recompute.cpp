#include "tests/verdicts/recompute.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gaussweep::verdicts {
namespace {

/// A matrix of numbers in parts; 0 for elements outside the triangle.
struct PartsMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<Parts> data;
  const Parts& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  Parts& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
};

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

template <class T>
bool is_finite(const HostMatrix<T>& a, IsUsed is_used) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (is_used(i, j) && !std::isfinite(a(i, j))) return false;
    }
  }
  return true;
}

template <class T>
PartsMatrix take_apart(const HostMatrix<T>& a, IsUsed is_used) {
  PartsMatrix parts{a.rows, a.cols, std::vector<Parts>(a.data.size())};
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (is_used(i, j)) parts(i, j) = parts_of(static_cast<double>(a(i, j)));
    }
  }
  return parts;
}

Wide size_of(const Parts& value) {
  return ldexp(Wide(value.mantissa), value.exponent);
}

/// Returns max |a_i| of column j.
Wide column_max(const PartsMatrix& a, std::int64_t j) {
  Wide largest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) largest = std::max(largest, size_of(a(i, j)));
  return largest;
}

/// Returns the largest sum of absolute values over rows, or over columns.
Wide sum_norm(const PartsMatrix& a, bool by_rows) {
  Wide largest = 0;
  for (std::int64_t line = 0; line < (by_rows ? a.rows : a.cols); ++line) {
    Wide sum = 0;
    for (std::int64_t other = 0; other < (by_rows ? a.cols : a.rows); ++other) {
      sum += size_of(by_rows ? a(line, other) : a(other, line));
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

Wide frobenius_norm(const PartsMatrix& a) {
  Wide sum = 0;
  for (const Parts& value : a.data) {
    const Wide size = size_of(value);
    sum += size * size;
  }
  return sqrt(sum);
}

/// Returns the largest column sum of |element(i, j)|, calling `element` once per element.
template <class Element>
Wide one_norm_of(std::int64_t n, Element element) {
  Wide largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    Wide sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += abs(element(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// @param plain the scale without the term of the smallest normal number
void set_ratio(Truth& truth, const Wide& residual, const Wide& scale, const Wide& plain) {
  if (residual == 0) return;
  truth.by_norms = plain == 0 ? Wide("1e1000000") : std::max(truth.by_norms, Wide(residual / plain));
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

/// Returns the smallest normal number. Rounding errors of smaller results are absolute: up to u times this.
template <class T>
Wide smallest_normal() {
  return Wide(std::numeric_limits<T>::min());
}

template <class T>
void solution(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  const PartsMatrix a = take_apart(
      inputs.a, method.problem == Problem::named("trsv") ? triangle_of(inputs.shape.uplo) : everywhere);
  const PartsMatrix b = take_apart(inputs.b, everywhere);
  const PartsMatrix x = take_apart(answer.x, everywhere);
  const Wide a_norm = sum_norm(a, true);
  for (std::int64_t r = 0; r < inputs.shape.nrhs; ++r) {
    Wide residual = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      ExactSum sum;
      sum.add(b(i, r));
      for (std::int64_t j = 0; j < n; ++j) sum.add_product(a(i, j), x(j, r), true);
      residual = std::max(residual, Wide(abs(sum.value())));
    }
    const Wide scale = a_norm * (column_max(x, r) + smallest_normal<T>()) + column_max(b, r);
    const Wide plain = a_norm * column_max(x, r) + column_max(b, r);
    const Wide roundoff = n * unit_roundoff<T>();
    set_ratio(truth, residual, scale * roundoff, plain * roundoff);
  }
}

template <class T>
void lu_factors(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  PartsMatrix a = take_apart(inputs.a, everywhere);
  const Wide a_norm = sum_norm(a, false);
  std::int64_t zero = 0;
  while (zero < n && answer.x(zero, zero) != 0) ++zero;
  if (answer.info >= 0 && answer.info != (zero < n ? zero + 1 : 0)) {
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
  PartsMatrix l = take_apart(answer.x, in_lower);
  PartsMatrix u = take_apart(answer.x, in_upper);
  PartsMatrix& unit = method.unit_diagonal == UnitDiagonal::lower ? l : u;
  for (std::int64_t i = 0; i < n; ++i) unit(i, i) = parts_of(1);
  const Wide residual = one_norm_of(n, [&](std::int64_t i, std::int64_t j) {
    ExactSum sum;
    sum.add(a(i, j));
    for (std::int64_t k = 0; k <= std::min(i, j); ++k) sum.add_product(l(i, k), u(k, j), true);
    return sum.value();
  });
  const Wide stored =
      sum_norm(take_apart(answer.x, in_lower), false) + sum_norm(take_apart(answer.x, in_upper), false) + 1;
  const Wide roundoff = n * unit_roundoff<T>();
  set_ratio(truth, residual, (a_norm + smallest_normal<T>() * stored) * roundoff, a_norm * roundoff);
}

template <class T>
void cholesky_factor(const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  for (std::int64_t i = 0; i < n; ++i) truth.defined = truth.defined && answer.x(i, i) > 0;
  if (!truth.defined) return;
  const bool lower = inputs.shape.uplo == Uplo::lower;
  PartsMatrix a = take_apart(inputs.a, triangle_of(inputs.shape.uplo));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (lower ? i < j : i > j) a(i, j) = a(j, i);
    }
  }
  const PartsMatrix factor = take_apart(answer.x, triangle_of(inputs.shape.uplo));
  // Element (i, k) of L, where L = U^T for upper factors.
  const auto part = [&](std::int64_t i, std::int64_t k) { return lower ? factor(i, k) : factor(k, i); };
  const Wide residual = one_norm_of(n, [&](std::int64_t i, std::int64_t j) {
    ExactSum sum;
    sum.add(a(i, j));
    for (std::int64_t k = 0; k <= std::min(i, j); ++k) sum.add_product(part(i, k), part(j, k), true);
    return sum.value();
  });
  const Wide scale = sum_norm(a, false) * n * unit_roundoff<T>();
  set_ratio(truth, residual, scale, scale);
}

template <class T>
void inverse(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const std::int64_t n = inputs.shape.n;
  const IsUsed is_used =
      method.problem == Problem::named("trtri") ? triangle_of(inputs.shape.uplo) : everywhere;
  const PartsMatrix a = take_apart(inputs.a, is_used);
  const PartsMatrix x = take_apart(answer.x, is_used);
  const auto residual = [n](const PartsMatrix& left, const PartsMatrix& right) {
    return one_norm_of(n, [&](std::int64_t i, std::int64_t j) {
      ExactSum sum;
      if (i == j) sum.add(parts_of(1));
      for (std::int64_t k = 0; k < n; ++k) sum.add_product(left(i, k), right(k, j), true);
      return sum.value();
    });
  };
  // The smallest normal number keeps the scale above 0 if X is 0.
  const Wide x_norm = sum_norm(x, false) + smallest_normal<T>();
  const Wide a_part = sum_norm(a, false) * n * unit_roundoff<T>();
  set_ratio(truth, residual(a, x), a_part * x_norm, a_part * sum_norm(x, false));
  // From this ratio on, a backward error of min(n, 32) u, geinv is judged by the side with the smaller
  // residual.
  const Wide limit = n <= 32 ? Wide(1) : Wide(32) / n;
  constexpr double near = 1e-3;
  if (method.problem != Problem::named("geinv") || truth.infinite_ratio || truth.ratio < limit * (1 - near))
    return;
  Truth other;
  set_ratio(other, residual(x, a), a_part * x_norm, a_part * sum_norm(x, false));
  if (!(other.ratio < truth.ratio)) return;
  truth.either_side = truth.ratio <= limit * (1 + near);
  truth.ratio = other.ratio;
  truth.by_norms = other.by_norms;
}

template <class T>
void product(const Inputs<T>& inputs, const Answer<T>& answer, Truth& truth) {
  const Shape& s = inputs.shape;
  const PartsMatrix a = take_apart(inputs.a, everywhere);
  const PartsMatrix b = take_apart(inputs.b, everywhere);
  const PartsMatrix c = take_apart(answer.x, everywhere);
  const Wide u = unit_roundoff<T>();
  const Wide gamma = (s.k + 2) * u / (1 - (s.k + 2) * u);
  // A product that underflows has an error of at most half the smallest subnormal number; so has each
  // addition.
  const Wide underflow = (s.k + 2) * Wide(std::numeric_limits<T>::denorm_min());
  Wide squares = 0;  // the sum of squared errors
  Wide share = 0;    // the worst element's error relative to its bound
  for (std::int64_t j = 0; j < s.n; ++j) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      ExactSum rest, sizes;
      rest.add(c(i, j));
      for (std::int64_t k = 0; k < s.k; ++k) {
        rest.add_product(a(i, k), b(k, j), true);
        Parts one = a(i, k), other = b(k, j);
        one.negative = other.negative = false;
        sizes.add_product(one, other);
      }
      const Wide off = abs(rest.value());
      squares += off * off;
      share = std::max(share, Wide(off / (gamma * sizes.value() + underflow)));
    }
  }
  const Wide scale = sqrt(Wide(s.k + 2)) * frobenius_norm(a) * frobenius_norm(b) * u;
  set_ratio(truth, sqrt(squares), scale, scale);
  truth.within_bound = share <= 1;
  // Above 1 the smaller ratio is used: the tolerance is then equivalent to the whole bound.
  const Wide as_ratio = 3 * share;
  if (truth.infinite_ratio || (truth.ratio > 1 && as_ratio < truth.ratio)) {
    truth.ratio = as_ratio;
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
    throw std::logic_error("no exact verdict of " + problem);
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
  constexpr double near = 1e-3;  // of a limit
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
