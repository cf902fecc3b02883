#pragma once
/// Products that are hard to scale, and a check that an answer is as accurate as a sum in full precision.

#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns two factors with elements between -1 and 1; each size is in [min_size, min_size + sizes), k is
/// larger by `more_terms`.
template <class T>
Inputs<T> random_product(std::mt19937_64& engine, unsigned min_size, unsigned sizes, int more_terms = 0) {
  std::uniform_real_distribution<T> uniform(-1, 1);
  const auto size = [&] { return static_cast<std::int64_t>(min_size + engine() % sizes); };
  const Shape shape{size(), size(), more_terms + size(), 1, Uplo::lower};
  Inputs<T> in = inputs_of<T>(shape, HostMatrix<T>(shape.m, shape.k), HostMatrix<T>(shape.k, shape.n));
  for (T& value : in.a.data) value = uniform(engine);
  for (T& value : in.b.data) value = uniform(engine);
  return in;
}
/// Replaces element (i, j) by change(element, i, j).
template <class T, class Change>
void change_each(HostMatrix<T>& matrix, Change change) {
  for (std::int64_t j = 0; j < matrix.cols; ++j) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) matrix(i, j) = change(matrix(i, j), i, j);
  }
}
/// Makes the terms of every element of C cancel in pairs, so that C is 0 for even k. In column 0 the first
/// pair leaves 2^`last` times its first term.
template <class T>
void cancel(Inputs<T>& in, int last) {
  for (std::int64_t h = 0; h + 1 < in.shape.k; h += 2) {
    for (std::int64_t i = 0; i < in.shape.m; ++i) in.a(i, h + 1) = in.a(i, h);
    for (std::int64_t j = 0; j < in.shape.n; ++j) in.b(h + 1, j) = -in.b(h, j);
  }
  in.b(0, 0) *= 1 + std::ldexp(T(1), last);
}

struct HardProduct {
  std::string name;
  Inputs<double> inputs;
  /// True if the methods that compute with residues (integers modulo small numbers) cannot represent the
  /// product. They must then call the vendor's method.
  bool needs_vendor = false;
};

/// Returns a random product of one of ten kinds (seed % 10). The sizes are no multiples of tile sizes.
inline HardProduct hard_product(unsigned seed) {
  std::mt19937_64 engine(seed);
  HardProduct hard;
  Inputs<double>& in = hard.inputs;
  in = random_product<double>(engine, 20, 100);
  const auto [m, n, k] = std::tuple(in.shape.m, in.shape.n, in.shape.k);
  const auto grade = [](std::int64_t i, std::int64_t count) {
    return std::pow(10.0, -12.0 * static_cast<double>(i) / static_cast<double>(count));
  };
  const auto index = [&](std::int64_t count) {
    return static_cast<std::int64_t>(engine() % static_cast<unsigned>(count));
  };
  const auto each = [](HostMatrix<double>& matrix, auto factor) {
    change_each(matrix, [&](double value, auto i, auto j) { return value * factor(i, j); });
  };
  switch (seed % 10) {
    case 0:
      hard.name = "rows of A and columns of B graded over 12 decades";
      each(in.a, [&](auto i, auto) { return grade(i, m); });
      each(in.b, [&](auto, auto j) { return grade(j, n); });
      break;
    case 1:
      hard.name = "columns of A graded over 12 decades";
      each(in.a, [&](auto, auto j) { return grade(j, k); });
      break;
    case 2:
      hard.name = "columns of A graded down, rows of B up";
      each(in.a, [&](auto, auto j) { return grade(j, k); });
      each(in.b, [&](auto i, auto) { return 1 / grade(i, k); });
      break;
    case 3:
      hard.name = "every element graded at random";
      each(in.a, [&](auto, auto) { return grade(index(100), 100); });
      each(in.b, [&](auto, auto) { return grade(index(100), 100); });
      break;
    case 4:
      hard.name = "one huge element";
      in.a(index(m), index(k)) = 1e12;
      break;
    case 5:
      hard.name = "cancellation to nothing, or nearly";
      cancel(in, -50);
      break;
    case 6:
      hard.name = "denormals";
      each(in.a, [&](auto i, auto) { return i % 3 == 0 ? 0x1p-1030 : 1.0; });
      hard.needs_vendor = true;
      break;
    case 7:
      hard.name = "NaN and infinities";
      in.a(index(m), index(k)) = std::numeric_limits<double>::quiet_NaN();
      in.a(index(m), index(k)) = std::numeric_limits<double>::infinity();
      in.b(index(k), index(n)) = -std::numeric_limits<double>::infinity();
      hard.needs_vendor = true;
      break;
    case 8:
      hard.name = "products beyond the range";
      each(in.a, [&](auto i, auto) { return i % 2 == 0 ? 1e200 : 1.0; });
      each(in.b, [&](auto, auto j) { return j % 2 == 0 ? 1e200 : 1.0; });
      hard.needs_vendor = true;
      break;
    default:
      hard.name = "zeros in rows, columns and elsewhere";
      each(in.a, [&](auto i, auto) { return i == 3 ? 0.0 : 1.0; });
      each(in.b, [&](auto i, auto j) { return j == 5 || (i + j) % 7 == 0 ? 0.0 : 1.0; });
  }
  return hard;
}

/// Counts elements whose error exceeds the bound for a sum of k terms in double, which holds for any order of
/// the terms. Where `vendor`, a product in double, is not finite, counts elements that differ from it.
inline std::int64_t wrong_elements(const Inputs<double>& in, const HostMatrix<double>& c,
                                   const HostMatrix<double>& vendor) {
  const auto error_units = static_cast<long double>(in.shape.k + 2);
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
      if (!std::isfinite(vendor(i, j))) {
        const bool same = std::isnan(vendor(i, j)) ? std::isnan(c(i, j)) : c(i, j) == vendor(i, j);
        wrong += !same;
        continue;
      }
      long double sum = 0, magnitude = 0;
      for (std::int64_t h = 0; h < in.shape.k; ++h) {
        const long double term = static_cast<long double>(in.a(i, h)) * in.b(h, j);
        sum += term;
        magnitude += std::fabs(term);
      }
      const long double allowed =
          error_units *
          (0x1p-53L * magnitude + static_cast<long double>(std::numeric_limits<double>::denorm_min()));
      wrong += !(std::fabs(c(i, j) - sum) <= allowed);
    }
  }
  return wrong;
}

}  // namespace gaussweep::testing_help
