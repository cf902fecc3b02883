/// Generates matrices with a given 2-norm condition number.

#include "kernels/matrix/condition.hpp"

#include <cmath>

#include "kernels/core/parallel_rows.hpp"
#include "kernels/matrix/element.hpp"

namespace gaussweep {
namespace {

/// The number of random reflectors that multiply the diagonal matrix from each side. One makes the matrix
/// dense. More of them mix the singular vectors better.
constexpr int reflectors = 3;

/// A reflector I - scale v v^T with scale = 2 / (v^T v), which is orthogonal.
struct Reflector {
  std::vector<double> v;
  double scale = 0;
};

/// Returns reflector number `index`, whose vector v has random elements in (-1, 1).
Reflector make_reflector(const MatrixSpec& spec, RandomStream stream, int index) {
  Reflector reflector;
  reflector.v.resize(static_cast<std::size_t>(spec.rows));
  double sum = 0;
  for (std::int64_t i = 0; i < spec.rows; ++i) {
    const double value = signed_unit(spec.seed, stream, i, index);
    reflector.v[static_cast<std::size_t>(i)] = value;
    sum += value * value;
  }
  reflector.scale = 2 / sum;
  return reflector;
}

/// Computes A = (I - scale v v^T) A. Each thread processes a range of columns.
void apply_left(HostMatrix<double>& a, const Reflector& reflector, int threads) {
  const double* v = reflector.v.data();
  for_row_ranges(a.cols, threads, 4.0 * a.rows * a.cols, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      double dot = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) dot += v[i] * a(i, j);
      dot *= reflector.scale;
      for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) -= dot * v[i];
    }
  });
}

/// Computes A = A (I - scale v v^T). Each thread processes a range of rows, column by column (memory order).
void apply_right(HostMatrix<double>& a, const Reflector& reflector, int threads) {
  const double* v = reflector.v.data();
  for_row_ranges(a.rows, threads, 4.0 * a.rows * a.cols, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> dot(static_cast<std::size_t>(end - begin), 0.0);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = begin; i < end; ++i) dot[static_cast<std::size_t>(i - begin)] += a(i, j) * v[j];
    }
    for (double& value : dot) value *= reflector.scale;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = begin; i < end; ++i) a(i, j) -= dot[static_cast<std::size_t>(i - begin)] * v[j];
    }
  });
}

}  // namespace

std::vector<double> singular_values(const MatrixSpec& spec) {
  const std::int64_t n = spec.rows;
  const double smallest = 1 / spec.condition;
  std::vector<double> sigma(static_cast<std::size_t>(n), 1.0);
  for (std::int64_t i = 1; i < n; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(n - 1);
    double value = 1;
    switch (spec.mode) {
      case 1:  // one large value
        value = smallest;
        break;
      case 2:  // one small value
        value = 1;
        break;
      case 3:  // geometric sequence
        value = std::pow(spec.condition, -fraction);
        break;
      case 4:  // arithmetic sequence
        value = 1 - fraction * (1 - smallest);
        break;
      default:  // 5: random values with uniform logarithms
        value =
            std::pow(spec.condition, -random_element(spec.seed, RandomStream::singular_values, i, 0).unit);
    }
    sigma[static_cast<std::size_t>(i)] = i == n - 1 ? smallest : value;
  }
  return sigma;
}

HostMatrix<double> condition_matrix(const MatrixSpec& spec, int threads) {
  const bool spd = spec.kind == MatrixKind::spd;
  HostMatrix<double> a(spec.rows, spec.cols);
  const std::vector<double> sigma = singular_values(spec);
  for (std::int64_t i = 0; i < spec.rows; ++i) a(i, i) = sigma[static_cast<std::size_t>(i)];
  for (int r = 0; r < reflectors; ++r) {
    apply_left(a, make_reflector(spec, RandomStream::reflectors_left, r), threads);
    const RandomStream stream = spd ? RandomStream::reflectors_left : RandomStream::reflectors_right;
    apply_right(a, make_reflector(spec, stream, r), threads);
  }
  // Removes the asymmetry that rounding errors cause.
  for (std::int64_t j = 0; spd && j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  }
  return a;
}

}  // namespace gaussweep
