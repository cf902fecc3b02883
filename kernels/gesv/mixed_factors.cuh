#pragma once
/// What is handed to those that make the factors in float, and the host's looks at how they go.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/gesv/mixed_steps.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::cuda::mixed {

inline double value_of(Largest bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The matrix, and where to put what is made of it. T is what A is given in.
template <class T>
struct System {
  Context& context;
  MatrixView<T> a;
  int n;
  unsigned blocks;  ///< of `group` rows
  std::int64_t ld;  ///< of vectors and factors, of which there is room for as many columns
  double* wide;     ///< the factors in double, once they are; anything before
  float* narrow;    ///< those in float, until then: the second half of the same room
  std::byte* solving;
  double *row_scale, *column_scale;
  double *slices, *other_slices;  ///< room for `slices` vectors, each
  Scalars* scalars;

  int slice_columns() const { return (n + gaussweep::mixed::slices - 1) / gaussweep::mixed::slices; }
  Scalars read() const {
    Scalars seen{};
    context.device.to_host(&seen, scalars, sizeof(seen));
    return seen;
  }

  /// Looks at a sample of a scaled matrix, or one that `scale` scales: pivots below 2^`level` are low.
  template <class E>
  void take_sample(const E* matrix, std::int64_t ld_matrix, Given given, const double* scale,
                   double level) const {
    if (n < least_sampled) return;
    context.stage("inspect");
    simt::launch(context, sample_pivots<E>, dim3(1), dim3(group), 0, matrix, ld_matrix, n, given, scale,
                 static_cast<float>(std::exp2(level)), scalars);
  }
  static bool has_few_low_pivots(const Scalars& measured) { return measured.low_pivots <= 3; }
  static bool is_in_range(const Scalars& measured) {
    constexpr double margin = sizeof(T) == 8 ? 0x1p500 : 0x1p100;
    const double norm = value_of(measured.norm_of_a);
    return norm >= 1 / margin && norm <= margin;
  }

  /// Whether the pivots of the columns so far let expect factors that are good for something.
  bool promising(int columns) const {
    const int window = std::max(32, n / 64);
    const int distance = std::max(64, n / 16);
    if (columns < window + distance) return true;
    context.stage("inspect");
    simt::launch(context, inspect_pivots, dim3(1), dim3(group), 0, narrow, ld, columns, window, distance,
                 scalars);
    const Scalars seen = read();
    if (!(seen.largest_pivot < most_growth)) return false;
    if (!(seen.smallest_pivot > (columns <= n / 2 ? 0x1p-20 : 0x1p-30))) return false;
    if (8 * columns > 5 * n) return true;  // nearly done: the iteration itself will tell
    // Scaled, a matrix has pivots of about 1 as long as float holds what is left of it. Where they fall
    // evenly, as those of a geometric sequence of singular values do, they would go on to do so.
    const double fall = std::min(0.0, (seen.last_window - seen.first_window) / distance);  // log2 a column
    const double end = seen.last_window + fall * (n - columns + window / 2);
    return seen.last_window > -0.25 || (seen.last_window > least_level && end > least_end);
  }

 private:
  static constexpr double most_growth = 2048;  ///< of elements: half of what a half holds, scaled
  static constexpr double least_level = -10;   ///< log2 of pivots; below, float's rounding errors rule them
  static constexpr double least_end = -12.5;   ///< the same of the last ones
  static constexpr int least_sampled = 256;    ///< order; below, a look at the pivots themselves is as quick
};

}  // namespace gaussweep::cuda::mixed
