#pragma once
/// The inputs and buffers of the float factorisations, and the host's checks of their progress.

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

/// The matrix and the buffers for its factors. T is the element type of A.
template <class T>
struct System {
  Context& context;
  MatrixView<T> a;
  int n;
  unsigned blocks;  ///< number of blocks of `group` rows
  std::int64_t ld;  ///< leading dimension of vectors and factors; also the columns allocated for the factors
  double* wide;     ///< the factors in double, after the conversion
  float* narrow;    ///< the factors in float, before the conversion; the second half of the memory of `wide`
  std::byte* solving;
  double *row_scale, *column_scale;
  double *slices, *other_slices;  ///< each holds `slices` vectors
  Scalars* scalars;

  int slice_columns() const { return (n + gaussweep::mixed::slices - 1) / gaussweep::mixed::slices; }
  Scalars read() const {
    Scalars measured{};
    context.device.to_host(&measured, scalars, sizeof(measured));
    return measured;
  }

  /// Measures a sample of a matrix that is scaled already (null `scale`) or by `scale`. Pivots below
  /// 2^`level` are counted as low.
  template <class E>
  void take_sample(const E* matrix, std::int64_t ld_matrix, Given given, const double* scale,
                   double level) const {
    if (n < min_sampled) return;
    context.stage("inspect");
    simt::launch(context, sample_pivots<E>, dim3(1), dim3(group), 0, matrix, ld_matrix, n, given, scale,
                 static_cast<float>(std::exp2(level)), scalars);
  }
  static bool has_few_low_pivots(const Scalars& measured) { return measured.low_pivots <= 3; }
  /// Returns true if the iteration, which is in double, stays in range. Any norm of a float matrix does.
  static bool is_in_range(const Scalars& measured) {
    constexpr double margin = 0x1p500;
    const double norm = value_of(measured.norm_of_a);
    return norm >= 1 / margin && norm <= margin;
  }

  /// Returns true if the pivots of the first `columns` columns suggest that refinement will converge.
  bool is_promising(int columns) const {
    const int window = std::max(32, n / 64);
    const int distance = std::max(64, n / 16);
    if (columns < window + distance) return true;
    context.stage("inspect");
    simt::launch(context, inspect_pivots, dim3(1), dim3(group), 0, narrow, ld, columns, window, distance,
                 scalars);
    const Scalars measured = read();
    if (!(measured.largest_pivot < max_growth)) return false;
    if (!(measured.smallest_pivot > (columns <= n / 2 ? 0x1p-20 : 0x1p-30))) return false;
    if (8 * columns > 5 * n) return true;  // so late, finishing costs less than falling back
    // A scaled matrix has pivots of about 1 while float can represent its trailing matrix. Evenly falling
    // pivots, as for a geometric sequence of singular values, are extrapolated to the last column.
    const double slope =
        std::min(0.0, (measured.last_window - measured.first_window) / distance);  // log2 per column
    const double end = measured.last_window + slope * (n - columns + window / 2);
    return measured.last_window > -0.25 || (measured.last_window > min_level && end > min_end_level);
  }

 private:
  static constexpr double max_growth = 2048;  ///< limit for elements: half of the range of a half, scaled
  static constexpr double min_level =
      -10;  ///< log2 of pivots; smaller pivots consist of float's rounding errors
  static constexpr double min_end_level = -12.5;  ///< log2 of the extrapolated last pivots
  static constexpr int min_sampled =
      256;  ///< smallest n that is sampled; for smaller n, checking the pivots themselves is as fast
};

}  // namespace gaussweep::cuda::mixed
