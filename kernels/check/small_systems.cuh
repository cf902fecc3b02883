#pragma once
/// Kernels that verify a batch of systems of at most N x N elements (N = LanesPerSystem: 8, 16 or 32). N
/// lanes of a warp compute one system's ratio, i.e. its residual C - L R divided by an error bound
/// (check.hpp). Lane i keeps row i of L in registers; R is in shared memory.

#include "kernels/check/system_verification.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::verification {

constexpr int small_threads = 128;

/// The right operand R of one system in column-major order, in shared memory. The padding makes the columns,
/// and the systems of a warp, start in different banks.
template <int LanesPerSystem, class T>
struct RightOperand {
  static constexpr int pitch = LanesPerSystem + 16 / static_cast<int>(sizeof(T));
  alignas(16) T columns[LanesPerSystem * pitch + 32 / sizeof(T)];
};

/// Loads the row whose index is the lane's, with zeros outside of the part. For an unused element it loads
/// element 0, because predicated loads would wait for each other.
template <int LanesPerSystem, class T>
__device__ __forceinline__ void load_row(const DeviceOperand<T>& m, T (&row)[LanesPerSystem]) {
  const int i = lane_of<LanesPerSystem>(), cols = static_cast<int>(m.cols);
  const int begin = m.part == MatrixPart::upper ? i : 0;
  const int end = i >= m.rows ? 0 : m.part == MatrixPart::lower ? min(cols, i + 1) : cols;
  const int first = i * static_cast<int>(m.row_stride), col_stride = static_cast<int>(m.col_stride);
  GAUSSWEEP_UNROLL
  for (int j = 0; j < LanesPerSystem; ++j)
    row[j] = m.data[j >= begin && j < end ? first + j * col_stride : 0];
  GAUSSWEEP_UNROLL
  for (int j = 0; j < LanesPerSystem; ++j) row[j] = j >= begin && j < end ? row[j] : T(0);
}

/// Returns the largest |element| of all rows in every lane; NaN if an element is NaN.
template <int LanesPerSystem, class T>
__device__ __forceinline__ double largest_of_rows(const T (&row)[LanesPerSystem]) {
  unsigned long long max_bits = 0;
  GAUSSWEEP_UNROLL
  for (int j = 0; j < LanesPerSystem; ++j)
    max_bits = max(max_bits, bits_of(fabs(static_cast<double>(row[j]))));
  return largest_of_lanes<LanesPerSystem>(double_of(max_bits));
}

/// Sums row[j] over all LanesPerSystem lanes for every j, by recursive halving of the exchanged elements.
/// Lane i returns the sum of row[i % RowLength].
template <int LanesPerSystem, int RowLength>
__device__ __forceinline__ double sum_of_column(double (&row)[RowLength]) {
  GAUSSWEEP_UNROLL
  for (int offset = RowLength / 2; offset > 0; offset /= 2) {
    const bool upper = (lane_of<LanesPerSystem>() & offset) != 0;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < RowLength / 2; ++j) {
      if (j >= offset) continue;
      const double sent = upper ? row[j] : row[j + offset], retained = upper ? row[j + offset] : row[j];
      row[j] = retained + __shfl_xor_sync(mask_of<LanesPerSystem>(), sent, offset);
    }
  }
  double sum = row[0];
  GAUSSWEEP_UNROLL
  for (int offset = RowLength; offset < LanesPerSystem; offset *= 2)
    sum += __shfl_xor_sync(mask_of<LanesPerSystem>(), sum, offset);
  return sum;
}

/// Returns the largest column sum of |elements|.
template <int LanesPerSystem, class T>
__device__ __forceinline__ double largest_column_sum(const T (&row)[LanesPerSystem]) {
  double magnitudes[LanesPerSystem];
  GAUSSWEEP_UNROLL
  for (int j = 0; j < LanesPerSystem; ++j) magnitudes[j] = fabs(static_cast<double>(row[j]));
  return largest_of_lanes<LanesPerSystem>(sum_of_column<LanesPerSystem>(magnitudes));
}
template <int LanesPerSystem, class T>
__device__ __forceinline__ double sum_of_squares(const T (&row)[LanesPerSystem]) {
  double sum = 0;
  GAUSSWEEP_UNROLL
  for (int j = 0; j < LanesPerSystem; ++j) sum += static_cast<double>(row[j]) * row[j];
  return sum_of_lanes<LanesPerSystem>(sum);
}

/// Sets `row` such that row `row` of A is the row of P A with the lane's index. Returns false if a pivot is
/// no row index or info contradicts the factors.
/// @param pivot_is_zero true: the diagonal element in the lane's row of the factors is 0
template <int LanesPerSystem, class T>
__device__ __forceinline__ bool set_source_row(const BatchToVerify<T>& systems, std::int64_t s,
                                               bool pivot_is_zero, int& row) {
  const int n = static_cast<int>(systems.shape.n), lane = lane_of<LanesPerSystem>();
  const int pivot = lane < n ? systems.pivots[s * n + lane] : lane;
  const double zero_pivot_from_end =
      largest_of_lanes<LanesPerSystem>(pivot_is_zero && lane < n ? n - lane : 0);
  const double has_flaw = largest_of_lanes<LanesPerSystem>(lane < n && (pivot < 0 || pivot >= n) ? 1 : 0);
  if (has_flaw != 0 || (systems.infos[s] >= 0 && systems.infos[s] != info_of(zero_pivot_from_end, n)))
    return false;
  row = lane;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < LanesPerSystem; ++k) {  // the lanes k and pivot_k exchange their rows
    const int pivot_k = __shfl_sync(mask_of<LanesPerSystem>(), pivot, k, LanesPerSystem);
    row = __shfl_sync(mask_of<LanesPerSystem>(), row,
                      lane == k         ? pivot_k
                      : lane == pivot_k ? k
                                        : lane,
                      LanesPerSystem);
  }
  return true;
}

/// Returns the ratio of a solution of A X = B, or NaN if the CPU has to verify the system. Sets the forward
/// error if x_true is known.
template <int LanesPerSystem, class T>
__device__ double solution_of_small(const BatchToVerify<T>& systems, std::int64_t s,
                                    RightOperand<LanesPerSystem, T>& right_operand, double& error) {
  const BatchSystem<T> system(systems, s);
  const int lane = lane_of<LanesPerSystem>(), rows = static_cast<int>(systems.shape.n),
            cols = static_cast<int>(system.x.cols);
  T left[LanesPerSystem];
  load_row<LanesPerSystem>(system.a, left);
  const double max_a = largest_of_rows<LanesPerSystem>(left);
  double max_x = 0, max_b = 0, row_sum = 0;
  const auto lane_element = [&](const DeviceOperand<T>& m, int j) {
    const T value = m.data[lane < rows ? lane + j * rows : 0];
    return lane < rows ? static_cast<double>(value) : 0;
  };
  unsigned long long bits_of_x = 0, bits_of_b = 0;
  GAUSSWEEP_ROLLED
  for (int j = 0; j < cols; ++j) {
    bits_of_x = max(bits_of_x, bits_of(fabs(lane_element(system.x, j))));
    bits_of_b = max(bits_of_b, bits_of(fabs(lane_element(system.b, j))));
  }
  max_x = largest_of_lanes<LanesPerSystem>(double_of(bits_of_x));
  max_b = largest_of_lanes<LanesPerSystem>(double_of(bits_of_b));
  const double early_ratio = ratio_if_out_of_range<T>(max_a, max_x, max_b);
  if (early_ratio != 0) return early_ratio;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < LanesPerSystem; ++k) row_sum += fabs(static_cast<double>(left[k]));
  const double norm = largest_of_lanes<LanesPerSystem>(row_sum);
  const ProductSizes sizes{static_cast<double>(rows), static_cast<double>(rows), max_a, max_x};
  const double bias = bias_of<T>(sizes), factor = roundoff_factor<RatioKind::solution, T>(systems.shape);
  const std::uint64_t seed = systems.has_solution_seed ? seed_of_system(systems.solution_seed, s) : 0;
  double ratio = 0, max_error = 0, largest = 0;
  GAUSSWEEP_ROLLED
  for (int j = 0; j < cols; ++j) {
    const double x = lane_element(system.x, j), b = lane_element(system.b, j);
    __syncwarp(mask_of<LanesPerSystem>());
    right_operand.columns[lane] = static_cast<T>(x);
    BiasedSum<T> sum;
    sum.high = bias;
    GAUSSWEEP_UNROLL
    for (int k = 0; k < LanesPerSystem; ++k) {
      if (k % 8 == 0) __syncwarp(mask_of<LanesPerSystem>());  // keeps the compiler from loading further ahead
      sum.add(left[k], right_operand.columns[k]);
    }
    const double difference = largest_of_lanes<LanesPerSystem>(lane < rows ? sum.difference_to(b, bias) : 0);
    const double x_norm = largest_of_lanes<LanesPerSystem>(fabs(x)),
                 b_norm = largest_of_lanes<LanesPerSystem>(fabs(b));
    ratio = max(ratio, safe_quotient(difference, (norm * (x_norm + smallest_normal<T>)+b_norm) * factor));
    if (!systems.has_solution_seed || lane >= rows) continue;
    const double x_true = static_cast<T>(signed_unit(seed, RandomStream::solution, lane, j));
    max_error = max(max_error, fabs(x - x_true));
    largest = max(largest, fabs(x_true));
  }
  if (systems.has_solution_seed)
    error =
        safe_quotient(largest_of_lanes<LanesPerSystem>(max_error), largest_of_lanes<LanesPerSystem>(largest));
  return ratio_if_decided<T>(ratio, sizes, (norm * max_x + max_b) * factor, systems.tolerance);
}

/// Returns the ratio of an LU or Cholesky factorisation, an inverse or a product, or NaN if the CPU has to
/// verify the system. The residual is `target` - L R, where a lane has a row of L in `left`.
/// @param x_first for an inverse, true: the residual is I - X A; false: I - A X
template <RatioKind kind, int LanesPerSystem, class T>
__device__ double ratio_of_small(const BatchToVerify<T>& systems, std::int64_t s,
                                 RightOperand<LanesPerSystem, T>& right_operand, bool x_first) {
  constexpr int group = 4,
                pitch = RightOperand<LanesPerSystem, T>::pitch;  // `group` columns are computed together
  constexpr bool is_lu = kind == RatioKind::lu_factors, is_cholesky = kind == RatioKind::cholesky_factor;
  const BatchSystem<T> system(systems, s);
  const int lane = lane_of<LanesPerSystem>();
  const DeviceOperand<T> target = kind == RatioKind::product ? system.x
                                  : is_cholesky              ? as_lower(system.a)
                                                             : system.a;
  T left[LanesPerSystem];
  double norms = 0, max_target = 0, max_left = 0, max_right = 0;
  int row = lane;
  if (is_lu || is_cholesky) {
    load_row<LanesPerSystem>(target, left);
    max_target = largest_of_rows<LanesPerSystem>(left);
    // LU: the largest column sum. Cholesky: A is symmetric and its lower triangle is stored. Column j's sum
    // is then that of row j plus that of column j without the diagonal element.
    double row_sum = 0, magnitudes[LanesPerSystem];
    GAUSSWEEP_UNROLL
    for (int j = 0; j < LanesPerSystem; ++j) {
      magnitudes[j] = fabs(static_cast<double>(left[j]));
      if (is_cholesky) row_sum += magnitudes[j];
      if (is_cholesky && j == lane) magnitudes[j] = 0;
    }
    norms = largest_of_lanes<LanesPerSystem>(row_sum + sum_of_column<LanesPerSystem>(magnitudes));
    load_row<LanesPerSystem>(is_lu ? system.x : as_lower(system.x), left);
    max_left = max_right = largest_of_rows<LanesPerSystem>(left);
    const double early_ratio = ratio_if_out_of_range<T>(max_target, max_left, 0);
    if (early_ratio != 0) return early_ratio;
  }
  if (is_lu) {
    bool pivot_is_zero = false;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < LanesPerSystem; ++j) {
      const bool on_diagonal = j == lane;
      pivot_is_zero = pivot_is_zero || (on_diagonal && left[j] == T(0));
      const T diagonal = on_diagonal ? left[j] : T(0);
      // Splits the row of the factors: the upper triangle becomes R, the lower one stays in `left` as L. One
      // of them gets the unit diagonal.
      right_operand.columns[j * pitch + lane] = j > lane                             ? left[j]
                                                : on_diagonal && !systems.unit_lower ? T(1)
                                                                                     : diagonal;
      left[j] = j < lane ? left[j] : on_diagonal && systems.unit_lower ? T(1) : diagonal;
    }
    // The CPU verifies the system if the factors are so large that rounding to subnormal numbers may change
    // the ratio.
    max_left = max_right = max(max_left, 1.0);
    if (smallest_normal<T> * 4 * LanesPerSystem * max_left > 0x1p-20 * norms && norms > 0)
      return double_of(bits_of_nan);
    if (!set_source_row<LanesPerSystem>(systems, s, pivot_is_zero, row)) return double_of(bits_of_nan);
  } else if (is_cholesky) {
    bool has_flaw = false;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < LanesPerSystem; ++j)
      has_flaw = has_flaw || (j == lane && lane < systems.shape.n && !(left[j] > T(0)));
    if (largest_of_lanes<LanesPerSystem>(has_flaw ? 1 : 0) != 0) return double_of(bits_of_nan);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < LanesPerSystem; ++k) right_operand.columns[lane * pitch + k] = left[k];
  } else {
    const DeviceOperand<T> right = kind == RatioKind::product ? system.b : x_first ? system.a : system.x;
    load_row<LanesPerSystem>(right, left);
    // All lanes must have read R of the first side (ratio_of_sides) before the second side overwrites it.
    __syncwarp(mask_of<LanesPerSystem>());
    GAUSSWEEP_UNROLL
    for (int j = 0; j < LanesPerSystem; ++j) right_operand.columns[j * pitch + lane] = left[j];
    max_right = largest_of_rows<LanesPerSystem>(left);
    const double right_norm = kind == RatioKind::product ? sum_of_squares<LanesPerSystem>(left)
                                                         : largest_column_sum<LanesPerSystem>(left);
    if (kind == RatioKind::product) {
      load_row<LanesPerSystem>(target, left);
      max_target = largest_of_rows<LanesPerSystem>(left);
    }
    load_row<LanesPerSystem>(x_first ? system.x : system.a, left);
    max_left = largest_of_rows<LanesPerSystem>(left);
    norms = kind == RatioKind::product
                ? std::sqrt(sum_of_squares<LanesPerSystem>(left)) * std::sqrt(right_norm)
                : largest_column_sum<LanesPerSystem>(left) * (right_norm + smallest_normal<T>);
    const double early_ratio = ratio_if_out_of_range<T>(max_left, max_right, max_target);
    if (early_ratio != 0) return early_ratio;
  }
  __syncwarp(mask_of<LanesPerSystem>());

  const int rows = static_cast<int>(system.a.rows),
            cols = static_cast<int>(kind == RatioKind::product ? system.b.cols : rows);
  const ProductSizes sizes{static_cast<double>(rows), static_cast<double>(system.a.cols), max_left,
                           max_right};
  const double bias = bias_of<T>(sizes);
  double column_residual = 0;  // the measure of column `lane`
  double row_sum = 0;  // Cholesky: the residual left of the diagonal in row `lane`, mirrored to its column
  GAUSSWEEP_ROLLED
  for (int j0 = 0; j0 < cols; j0 += group) {
    double targets[group], difference[group];
    GAUSSWEEP_UNROLL
    for (int g = 0; g < group; ++g) {
      const int j = j0 + g;
      const bool inside = lane < rows && j < cols && !(is_cholesky && j > lane);
      targets[g] = kind == RatioKind::inverse
                       ? (j == lane ? 1 : 0)
                       : target.data[inside ? row * static_cast<int>(target.row_stride) +
                                                  j * static_cast<int>(target.col_stride)
                                            : 0];
    }
    BiasedSum<T> sums[group];
    GAUSSWEEP_UNROLL
    for (int g = 0; g < group; ++g) sums[g].high = bias;
    GAUSSWEEP_UNROLL
    for (int k0 = 0; k0 < LanesPerSystem; k0 += 8) {
      if ((is_lu || is_cholesky) && k0 >= j0 + group) continue;  // R is upper triangular: all terms are 0
      GAUSSWEEP_UNROLL
      for (int k = k0; k < k0 + 8; ++k) {
        GAUSSWEEP_UNROLL
        for (int g = 0; g < group; ++g) sums[g].add(left[k], right_operand.columns[(j0 + g) * pitch + k]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int g = 0; g < group; ++g) {
      const int j = j0 + g;
      const bool inside = lane < rows && j < cols && !(is_cholesky && j > lane);
      difference[g] = inside ? sums[g].difference_to(targets[g], bias) : 0;
      if (kind == RatioKind::product) difference[g] *= difference[g];
      if (is_cholesky && j < lane) row_sum += difference[g];
    }
    // Lane l gets the sum of column j0 + l % group; the `group` lanes with the indices of these columns keep
    // it.
    const double column_sum = sum_of_column<LanesPerSystem>(difference);
    if (lane / group == j0 / group) column_residual = column_sum;
  }
  const double scale = norms * roundoff_factor<kind, T>(systems.shape);
  double ratio = 0;
  if (kind == RatioKind::product) {
    ratio = safe_quotient(std::sqrt(sum_of_lanes<LanesPerSystem>(column_residual)), scale);
    if (ratio > 0.99) return double_of(bits_of_nan);  // above 1, check.hpp also needs elementwise ratios
  } else {
    ratio = safe_quotient(largest_of_lanes<LanesPerSystem>(column_residual + row_sum), scale);
  }
  return ratio_if_decided<T>(ratio, sizes, scale, systems.tolerance);
}

/// Verifies one system per team of LanesPerSystem lanes.
template <RatioKind kind, int LanesPerSystem, class T>
__global__ void __launch_bounds__(small_threads, LanesPerSystem == 8 ? 6 : 4)
    small_kernel(BatchToVerify<T> systems, double* ratios, RatioTotals* totals) {
  constexpr int systems_per_block = small_threads / LanesPerSystem;
  __shared__ RightOperand<LanesPerSystem, T> right_operands[systems_per_block];
  const int team = static_cast<int>(threadIdx.x) / LanesPerSystem;
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * systems_per_block + team;
  if (s >= systems.shape.batch) return;
  double error = -1, ratio = 0;
  if constexpr (kind == RatioKind::solution) {
    ratio = solution_of_small<LanesPerSystem>(systems, s, right_operands[team], error);
  } else if constexpr (kind == RatioKind::inverse) {
    ratio = ratio_of_sides(systems.other_side_threshold, [&](bool x_first) {
      return ratio_of_small<kind, LanesPerSystem>(systems, s, right_operands[team], x_first);
    });
  } else {
    constexpr bool x_first = false;
    ratio = ratio_of_small<kind, LanesPerSystem>(systems, s, right_operands[team], x_first);
  }
  if (lane_of<LanesPerSystem>() == 0) record_ratio(systems, s, ratio, error, ratios, totals);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::verification
