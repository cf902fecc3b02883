#pragma once
/// Products of floats over the whole exponent range, for methods that represent each float by two halves
/// (16-bit floating-point numbers). Also a check that an answer is as accurate as this representation allows.

#include "kernels/gemm/workspaces.hpp"
#include "tests/kernels/hard_products.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

struct HardFloatProduct {
  std::string name;
  Inputs<float> inputs;
};

/// Returns a random product of one of eight kinds (seed % 8). The sizes are no multiples of tile sizes.
inline HardFloatProduct hard_float_product(unsigned seed) {
  std::mt19937_64 engine(seed);
  HardFloatProduct hard;
  Inputs<float>& in = hard.inputs;
  in = random_product<float>(engine, 10, 60, halves::max_small_k);
  const auto [m, n, k] = std::tuple(in.shape.m, in.shape.n, in.shape.k);
  const auto each = [](HostMatrix<float>& matrix, auto exponent) {
    change_each(matrix, [&](float value, auto i, auto j) {
      return std::ldexp(value, static_cast<int>(exponent(i, j)));
    });
  };
  switch (seed % 8) {
    case 0:
      hard.name = "rows of A and columns of B graded over 30 decades";
      each(in.a, [&](auto i, auto) { return 50 - 100 * i / m; });
      each(in.b, [&](auto, auto j) { return 100 * j / n - 60; });
      break;
    case 1:
      hard.name = "columns of A graded down, rows of B up";
      each(in.a, [&](auto, auto j) { return 100 - 200 * j / k; });
      each(in.b, [&](auto i, auto) { return 200 * i / k - 100; });
      break;
    case 2:
      hard.name = "columns of A graded over 30 decades, in any order";
      each(in.a, [&](auto, auto j) { return j * 37 % 101 - 100; });
      break;
    case 3:
      hard.name = "elements near 1e37 and 1e-38";
      each(in.a, [](auto, auto) { return 123; });
      each(in.b, [](auto, auto) { return -126; });
      break;
    case 4:
      hard.name = "denormals";
      each(in.a, [](auto i, auto) { return i % 3 == 0 ? -135 : 0; });
      each(in.b, [](auto, auto j) { return j % 2 == 0 ? -138 : 100; });
      break;
    case 5:
      hard.name = "a zero column meets a row of large elements";
      for (std::int64_t i = 0; i < m; ++i) in.a(i, k / 2) = 0;
      each(in.b, [&](auto i, auto) { return i == k / 2 ? 126 : -20; });
      break;
    case 6:
      hard.name = "cancellation to nothing, or nearly";
      cancel(in, -20);
      break;
    default:
      hard.name = "zeros in rows, columns and elsewhere";
      for (std::int64_t j = 0; j < k; ++j) in.a(3, j) = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < k; ++i)
          if (j == 5 || (i + j) % 7 == 0) in.b(i, j) = 0;
      }
  }
  return hard;
}

/// Counts elements whose error exceeds the bound for a sum in float of terms with relative errors of 3 *
/// 2^-22.
inline std::int64_t wrong_elements(const Inputs<float>& in, const HostMatrix<float>& c) {
  // In units of 2^-24: k + 2 for the sum of k terms, and 12 for the error of each term (3 * 2^-22).
  const auto error_units = static_cast<double>(in.shape.k + 14);
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
      double sum = 0, magnitude = 0;
      for (std::int64_t h = 0; h < in.shape.k; ++h) {
        const double term = static_cast<double>(in.a(i, h)) * static_cast<double>(in.b(h, j));
        sum += term;
        magnitude += std::fabs(term);
      }
      const double allowed =
          error_units * 0x1p-24 * magnitude + static_cast<double>(std::numeric_limits<float>::denorm_min());
      wrong += !(std::fabs(static_cast<double>(c(i, j)) - sum) <= allowed);
    }
  }
  return wrong;
}

}  // namespace gaussweep::testing_help
