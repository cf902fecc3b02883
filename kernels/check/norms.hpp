#pragma once
/// Norms of host matrices, accumulated in double or better.

#include <cmath>
#include <vector>

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// Which elements of a matrix count: all, or one triangle with its diagonal (the others are taken as 0).
enum class Part { all, lower, upper };

inline Part part_of(Uplo uplo) {
  return uplo == Uplo::lower ? Part::lower : Part::upper;
}

/// The rows [begin, end) of column j that count.
struct RowRange {
  std::int64_t begin, end;
};
inline RowRange rows_of(Part part, std::int64_t rows, std::int64_t j) {
  if (part == Part::lower) return {j < rows ? j : rows, rows};
  if (part == Part::upper) return {0, j < rows ? j + 1 : rows};
  return {0, rows};
}

/// max |a_ij|; NaN where there is one.
template <class T>
double max_norm(const HostMatrix<T>& a, Part part = Part::all) {
  double largest = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double value = std::fabs(static_cast<double>(a(i, j)));
      if (!(value <= largest)) largest = value;
      if (std::isnan(largest)) return largest;
    }
  }
  return largest;
}

/// Largest column sum of absolute values; NaN where there is one.
template <class T>
double one_norm(const HostMatrix<T>& a, Part part = Part::all) {
  double largest = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) sum += std::fabs(static_cast<double>(a(i, j)));
    if (!(sum <= largest)) largest = sum;
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

/// Largest row sum of absolute values; NaN where there is one.
template <class T>
double infinity_norm(const HostMatrix<T>& a, Part part = Part::all) {
  std::vector<double> sum(static_cast<std::size_t>(a.rows), 0.0);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      sum[static_cast<std::size_t>(i)] += std::fabs(static_cast<double>(a(i, j)));
    }
  }
  double largest = 0;
  for (const double value : sum) {
    if (!(value <= largest)) largest = value;
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

/// sqrt(sum of squares), scaled so that squares of representable elements neither overflow nor vanish.
template <class T>
double frobenius_norm(const HostMatrix<T>& a) {
  const double scale = max_norm(a);
  if (scale == 0 || !std::isfinite(scale)) return scale;
  double sum = 0;
  for (const T value : a.data) {
    const double scaled = static_cast<double>(value) / scale;
    sum += scaled * scaled;
  }
  return scale * std::sqrt(sum);
}

/// Whether every element that counts is finite.
template <class T>
bool all_finite(const HostMatrix<T>& a, Part part = Part::all) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!std::isfinite(a(i, j))) return false;
    }
  }
  return true;
}

}  // namespace gaussweep
