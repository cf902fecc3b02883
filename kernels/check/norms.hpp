#pragma once
/// Norms of host matrices, accumulated in double in a fixed order, without overflow or underflow.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/check/element_differences.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/core/parallel_rows.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep {

/// The elements of a matrix that are used: all, or one triangle with its diagonal. The others count as 0.
enum class MatrixPart { all, lower, upper };

/// Return the part for a triangle, and the part for the elements that a problem uses of an operand.
inline MatrixPart part_of(Uplo uplo) {
  return uplo == Uplo::lower ? MatrixPart::lower : MatrixPart::upper;
}
inline MatrixPart part_of(UsedElements used, Uplo uplo) {
  return used == UsedElements::all ? MatrixPart::all : part_of(uplo);
}

/// The rows [begin, end) of column j that belong to a part.
struct RowRange {
  std::int64_t begin, end;
};
inline RowRange rows_of(MatrixPart part, std::int64_t rows, std::int64_t j) {
  if (part == MatrixPart::lower) return {j < rows ? j : rows, rows};
  if (part == MatrixPart::upper) return {0, j < rows ? j + 1 : rows};
  return {0, rows};
}

/// Returns the number of elements of a part.
inline std::int64_t count_of(MatrixPart part, std::int64_t rows, std::int64_t cols) {
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < cols; ++j) {
    const RowRange range = rows_of(part, rows, j);
    count += range.end - range.begin;
  }
  return count;
}

/// Returns the largest value_of_column(j) over all columns, computed on several threads; NaN if a value is
/// NaN.
template <class ValueOfColumn>
double largest_of_columns(std::int64_t rows, std::int64_t cols, ValueOfColumn&& value_of_column) {
  std::vector<double> values(static_cast<std::size_t>(cols), 0.0);
  const double cost = static_cast<double>(rows) * static_cast<double>(cols);
  for_row_ranges(cols, /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) values[static_cast<std::size_t>(j)] = value_of_column(j);
  });
  double largest = 0;
  for (const double value : values) {
    if (std::isnan(value)) return value;
    largest = std::max(largest, value);
  }
  return largest;
}

/// Returns max |a_ij|; NaN if an element is NaN.
template <class T>
double max_norm(const HostMatrix<T>& a, MatrixPart part = MatrixPart::all) {
  return largest_of_columns(a.rows, a.cols, [&](std::int64_t j) {
    const RowRange range = rows_of(part, a.rows, j);
    T largest = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const T value = std::fabs(a(i, j));
      if (!(value <= largest)) largest = value;
      if (std::isnan(largest)) break;
    }
    return static_cast<double>(largest);
  });
}

/// Scales elements to |a_ij| 2^-exponent in [0, 1), with one exponent for the whole matrix. restored() undoes
/// the scaling for a sum of scaled elements.
template <class T>
class ScaledDown {
 public:
  /// @param largest max |a_ij| of the matrix
  explicit ScaledDown(double largest) : exponent_(exponent_of(largest)) {}
  double operator()(T value) const { return times_power(std::fabs(static_cast<double>(value)), -exponent_); }
  WideNumber restored(double sum) const { return WideNumber(sum, exponent_); }

 private:
  int exponent_;
};

/// Returns the largest column sum of |a_ij|; NaN if an element is NaN.
template <class T>
WideNumber one_norm(const HostMatrix<T>& a, MatrixPart part = MatrixPart::all) {
  const double largest_magnitude = max_norm(a, part);
  if (!std::isfinite(largest_magnitude)) return WideNumber(largest_magnitude);
  const ScaledDown<T> scaled_down(largest_magnitude);
  return scaled_down.restored(largest_of_columns(a.rows, a.cols, [&](std::int64_t j) {
    const RowRange range = rows_of(part, a.rows, j);
    double sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) sum += scaled_down(a(i, j));
    return sum;
  }));
}

/// Returns the largest row sum of |a_ij|. If `mirrored`, the matrix is symmetric and `part` is its stored
/// triangle.
template <class T>
WideNumber largest_row_sum(const HostMatrix<T>& a, MatrixPart part, bool mirrored) {
  const double largest_magnitude = max_norm(a, part);
  if (!std::isfinite(largest_magnitude)) return WideNumber(largest_magnitude);
  const ScaledDown<T> scaled_down(largest_magnitude);
  std::vector<double> sums(static_cast<std::size_t>(a.rows), 0.0);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double magnitude = scaled_down(a(i, j));
      sums[static_cast<std::size_t>(i)] += magnitude;
      if (mirrored && i != j) sums[static_cast<std::size_t>(j)] += magnitude;
    }
  }
  return scaled_down.restored(sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end()));
}

/// Returns the largest row sum of |a_ij|; NaN if an element is NaN.
template <class T>
WideNumber infinity_norm(const HostMatrix<T>& a, MatrixPart part = MatrixPart::all) {
  return largest_row_sum(a, part, /*mirrored=*/false);
}

/// Returns the 1-norm of a symmetric matrix with one stored triangle.
template <class T>
WideNumber symmetric_norm(const HostMatrix<T>& a, MatrixPart part) {
  return largest_row_sum(a, part, /*mirrored=*/true);
}

/// Returns the square root of the sum of squares, summed column by column; NaN if an element is NaN.
template <class T>
WideNumber frobenius_norm(const HostMatrix<T>& a) {
  const double largest_magnitude = max_norm(a);
  if (!std::isfinite(largest_magnitude)) return WideNumber(largest_magnitude);
  const ScaledDown<T> scaled_down(largest_magnitude);
  double sum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double column = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const double value = scaled_down(a(i, j));
      column += value * value;
    }
    sum += column;
  }
  return scaled_down.restored(std::sqrt(sum));
}

/// Returns max |x - y| / max |y| over the part's elements; 0 / 0 is 0.
/// @pre both have the same shape; all elements of the part are finite
template <class T>
double largest_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part = MatrixPart::all) {
  const double y_norm = max_norm(y, part);
  const std::int64_t exponent = exponent_of(std::max(max_norm(x, part), y_norm)) + 1;
  const double largest = largest_of_columns(y.rows, y.cols, [&](std::int64_t j) {
    const RowRange range = rows_of(part, y.rows, j);
    double largest_magnitude = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double difference = times_power(x(i, j), -exponent) - times_power(y(i, j), -exponent);
      largest_magnitude = std::max(largest_magnitude, std::fabs(difference));
    }
    return largest_magnitude;
  });
  return (WideNumber(largest, exponent) / WideNumber(y_norm)).value();
}

/// Differences over a part's elements. The relative differences include only elements with y != 0; they are
/// NaN if all y are 0.
struct ElementDifference {
  double largest;           ///< max |x - y| / max |y|
  double largest_relative;  ///< max |x - y| / |y|
  double mean_relative;     ///< mean of |x - y| / |y|
  double mean_absolute;     ///< mean of |x - y|
};

/// Combines the differences (element_differences.hpp) of all columns, in order. Results beyond the range of
/// double become the largest double.
/// @param elements the number of elements of the part
/// @param exponent the exponent by which pair_difference has scaled the differences
inline ElementDifference combined(const std::vector<ColumnDifferences>& columns, std::int64_t elements,
                                  std::int64_t exponent, double y_norm) {
  ColumnDifferences all;
  for (const ColumnDifferences& column : columns) {
    all.largest = std::max(all.largest, column.largest);
    all.largest_relative = std::max(all.largest_relative, column.largest_relative);
    all.relative += column.relative;
    all.absolute += column.absolute;
    all.quotients += column.quotients;
  }
  constexpr double max_double = std::numeric_limits<double>::max(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const bool has_quotients = all.quotients > 0;
  return {(WideNumber(all.largest, exponent) / WideNumber(y_norm)).value(),
          has_quotients ? std::min(all.largest_relative, max_double) : nan,
          has_quotients ? std::min(all.relative / static_cast<double>(all.quotients), max_double) : nan,
          WideNumber(all.absolute / static_cast<double>(elements), exponent).value()};
}

/// Compares x and y column by column, with the same result for any number of threads. Each matrix is read
/// only once, because it may exceed the caches.
/// @param x_norm, y_norm max_norm of x and y over `part`
/// @pre both are finite, of the same shape and not empty
template <class T>
ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part,
                                     double x_norm, double y_norm) {
  const std::int64_t exponent = difference_exponent(x_norm, y_norm);
  std::vector<ColumnDifferences> columns(static_cast<std::size_t>(y.cols));
  const double cost = static_cast<double>(y.rows) * static_cast<double>(y.cols);
  for_row_ranges(y.cols, /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      const RowRange range = rows_of(part, y.rows, j);
      ColumnDifferences differences;
      for (std::int64_t i = range.begin; i < range.end; ++i)
        differences.include(pair_difference(x(i, j), y(i, j), exponent));
      columns[static_cast<std::size_t>(j)] = differences;
    }
  });
  return combined(columns, count_of(part, y.rows, y.cols), exponent, y_norm);
}

}  // namespace gaussweep
