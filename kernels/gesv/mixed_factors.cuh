#pragma once
/// The inputs and buffers of the float factorisations in the mixed-precision solvers (gesv/mixed_gmres,
/// posv/mixed_gmres). This file also has the checks on the host that decide if a factorisation is accurate
/// enough for refinement.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/gesv/mixed_steps.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::cuda::mixed {

/// Returns the double whose bits are given (DoubleBits in mixed_steps.cuh).
inline double double_from_bits(DoubleBits bits) {
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
  unsigned row_blocks;  ///< number of row blocks (row_block_count)
  std::int64_t ld;  ///< leading dimension of vectors and factors; also the columns allocated for the factors
  double* double_factors;   ///< the factors in double, valid after the conversion
  float* float_factors;     ///< the factors in float until then, in the second half of the same memory
  std::byte* solve_memory;  ///< workspace of the solves with the factors
  double *row_scale, *column_scale;           ///< the diagonals of R and C (mixed_steps.cuh)
  double *partial_sums, *spare_partial_sums;  ///< two buffers, with one vector per column slice in each
  MatrixMeasurements* measurements;           ///< results of the measurements, on the device

  int columns_per_slice() const { return (n + column_slices - 1) / column_slices; }
  MatrixMeasurements read() const {
    MatrixMeasurements measured{};
    context.device.to_host(&measured, measurements, sizeof(measured));
    return measured;
  }

  /// Factors a sample of rows and columns of the matrix (sample_pivots), and stores the number of low pivots.
  /// Rows and columns are scaled by `scale`, unless it is null. A pivot is low if it is below 2^`log2_limit`.
  template <class E>
  void factor_sample(const E* matrix, std::int64_t ld_matrix, StoredPart stored_part, const double* scale,
                     double log2_limit) const {
    if (n < min_sampled) return;
    context.stage("inspect");
    simt::launch(context, sample_pivots<E>, dim3(1), dim3(block_threads), 0, matrix, ld_matrix, n,
                 stored_part, scale, static_cast<float>(std::exp2(log2_limit)), measurements);
  }
  /// Returns true if the sample has at most three low pivots. More of them indicate that A is too
  /// ill-conditioned for float factors (measurements: docs/notebook/mixed_precision.md).
  static bool has_few_low_pivots(const MatrixMeasurements& measured) { return measured.low_pivot_count <= 3; }
  /// Returns true if the iteration in double cannot overflow or underflow. All nonzero float matrices are in
  /// range.
  static bool is_in_range(const MatrixMeasurements& measured) {
    constexpr double limit = 0x1p500;
    const double norm = double_from_bits(measured.norm_of_a);
    return norm >= 1 / limit && norm <= limit;
  }

  /// Returns true if the pivots of the first `columns` columns suggest that refinement will converge.
  /// Extrapolates the trend of the pivots from two ranges (windows) of `window` columns: the last of these
  /// columns, and the ones `distance` columns earlier.
  bool pivots_predict_convergence(int columns) const {
    const int window = std::max(32, n / 64);
    const int distance = std::max(64, n / 16);
    if (columns < window + distance) return true;
    context.stage("inspect");
    simt::launch(context, inspect_pivots, dim3(1), dim3(block_threads), 0, float_factors, ld, columns, window,
                 distance, measurements);
    const MatrixMeasurements measured = read();
    if (!(measured.largest_pivot < max_growth)) return false;
    if (!(measured.smallest_pivot > (columns <= n / 2 ? 0x1p-20 : 0x1p-30))) return false;
    if (8 * columns > 5 * n) return true;  // the remaining columns cost less than a fallback
    // The pivots of a well-conditioned scaled matrix are about 1, with a mean log2 above -0.25. If they
    // decrease evenly, as for a geometric sequence of singular values, they are extrapolated to the last
    // column.
    const double log2_slope =
        std::min(0.0, (measured.last_mean_log2 - measured.first_mean_log2) / distance);  // per column
    const double log2_end = measured.last_mean_log2 + log2_slope * (n - columns + window / 2);
    return measured.last_mean_log2 > -0.25 ||
           (measured.last_mean_log2 > min_log2_pivot && log2_end > min_log2_end);
  }

 private:
  /// Limit for pivots: half of the largest element that getrf/split_products.cuh represents: it scales by
  /// 16, and FP16 ends at 65504.
  static constexpr double max_growth = 2048;
  /// Smallest accepted mean of log2 |pivot| in the last window; smaller pivots consist of float's rounding
  /// errors.
  static constexpr double min_log2_pivot = -10;
  static constexpr double min_log2_end = -12.5;  ///< smallest accepted extrapolated log2 of the last pivot
  static constexpr int min_sampled = 256;  ///< smallest n with a sample; below, factoring all of A is as fast
};

}  // namespace gaussweep::cuda::mixed
