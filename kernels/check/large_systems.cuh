#pragma once
/// Kernels that verify a batch of systems of any size. A thread block of 1 to 8 warps computes the ratio of
/// one system, i.e. the residual of its answer divided by an error bound (check.hpp).

#include "kernels/check/system_verification.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::verification {

constexpr int max_threads = 256, max_warps = max_threads / 32;
constexpr int max_columns = 8;      ///< the maximum columns of the residual that a warp computes together
constexpr int loads_in_flight = 8;  ///< independent loads per lane, which hide the latency of memory
constexpr std::int64_t max_mirrored_order =
    1024;  ///< Residual::mirrored_sums then takes 64 KiB of shared memory

__device__ __forceinline__ int warp_of_block() {
  return static_cast<int>(threadIdx.x) / 32;
}
__device__ __forceinline__ int warps_of_block() {
  return static_cast<int>(blockDim.x) / 32;
}

/// A block's static shared memory: one number per warp for reductions, and one buffer per warp. The buffer
/// holds a k slice of R: 32 rows and max_columns columns.
struct SharedStorage {
  double warp_values[max_warps];
  alignas(16) double right[max_warps][32][max_columns];
};

/// Reduces one number per warp to the largest number (Reduction::largest; NaN if one is NaN) or to the sum
/// (Reduction::sum). All threads of the block call it and return the result.
__device__ inline double reduce_block(SharedStorage& shared, double warp_value, Reduction reduction) {
  if (warps_of_block() == 1) return warp_value;
  __syncthreads();
  if (lane_of<32>() == 0) shared.warp_values[warp_of_block()] = warp_value;
  __syncthreads();
  double result = 0;
  for (int w = 0; w < warps_of_block(); ++w) {
    const double value = shared.warp_values[w];
    result = reduction == Reduction::sum ? result + value : value > result || value != value ? value : result;
    if (result != result) break;  // NaN
  }
  return result;
}
__device__ __forceinline__ double largest_of_block(SharedStorage& shared, double value) {
  return reduce_block(shared, largest_of_lanes<32>(value), Reduction::largest);
}

/// Returns data[offset] if `is_used`, else 0. For an unused element it loads data[0], because predicated
/// loads would wait for each other.
template <class T>
__device__ __forceinline__ T loaded(const T* data, std::int64_t offset, bool is_used) {
  const T value = data[is_used ? offset : 0];
  return is_used ? value : T(0);
}

/// Processes the warp's columns in groups of `loads_in_flight`; lane l has rows l, l + 32, ... For each group
/// of columns, calls visit(c, |element|) for the lane's elements of column c of the group, then end_group().
template <class T, class Visit, class EndGroup>
__device__ __forceinline__ void for_each_magnitude(const DeviceOperand<T>& m, Visit&& visit,
                                                   EndGroup&& end_group) {
  const auto rows = static_cast<int>(m.rows), cols = static_cast<int>(m.cols);
  for (int j = warp_of_block() * loads_in_flight; j < cols; j += warps_of_block() * loads_in_flight) {
    const bool is_whole = m.part == MatrixPart::all && j + loads_in_flight <= cols;
    GAUSSWEEP_ROLLED
    for (int i = lane_of<32>() + (m.part == MatrixPart::lower ? j / 32 * 32 : 0); i < rows; i += 32) {
      const T* const row = m.data + (i * m.row_stride + j * m.col_stride);
      T elements[loads_in_flight];
      if (is_whole) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < loads_in_flight; ++c) elements[c] = row[c * m.col_stride];
      } else {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < loads_in_flight; ++c)
          elements[c] = loaded(row, c * m.col_stride, is_used(m, i, j + c));
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < loads_in_flight; ++c) visit(c, fabs(static_cast<double>(elements[c])));
    }
    end_group();
  }
}

/// Norms of a matrix.
struct Norms {
  double largest;  ///< the largest |element|; NaN if an element is NaN
  double columns;  ///< the largest column sum of |elements|
  double squares;  ///< the sum of squares
};
/// Returns the norms.
/// @tparam Columns, Squares false: leaves out Norms::columns or Norms::squares
template <bool Columns, bool Squares, class T>
__device__ Norms norms_of(SharedStorage& shared, const DeviceOperand<T>& m) {
  unsigned long long largest = 0;
  double column_max = 0, squares = 0, sums[loads_in_flight] = {};
  for_each_magnitude(
      m,
      [&](int c, double magnitude) {
        largest = max(largest, bits_of(magnitude));
        if (Columns) sums[c] += magnitude;
        if (Squares) squares += magnitude * magnitude;
      },
      [&] {
        GAUSSWEEP_UNROLL
        for (int c = 0; Columns && c < loads_in_flight; ++c) {
          column_max = max(column_max, sum_of_lanes<32>(sums[c]));
          sums[c] = 0;
        }
      });
  return {largest_of_block(shared, double_of(largest)),
          Columns ? reduce_block(shared, column_max, Reduction::largest) : 0,
          Squares ? reduce_block(shared, sum_of_lanes<32>(squares), Reduction::sum) : 0};
}

/// Returns the largest row sum of |elements|.
/// @param mirrored true: the matrix is symmetric, and its part is the stored triangle
template <class T>
__device__ double largest_row_sum(SharedStorage& shared, const DeviceOperand<T>& m, bool mirrored) {
  double row_max = 0;
  for (std::int64_t i = threadIdx.x; i < m.rows; i += blockDim.x) {
    double sum = 0;
    GAUSSWEEP_ROLLED
    for (std::int64_t first = 0; first < m.cols; first += loads_in_flight) {
      T elements[loads_in_flight];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < loads_in_flight; ++c) {
        const std::int64_t j = first + c;
        const bool swapped = mirrored && !is_used(m, i, j);
        const std::int64_t row = swapped ? j : i, col = swapped ? i : j;
        elements[c] = loaded(m.data, row * m.row_stride + col * m.col_stride, is_used(m, row, col));
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < loads_in_flight; ++c) sum += fabs(static_cast<double>(elements[c]));
    }
    row_max = max(row_max, sum);
  }
  return largest_of_block(shared, row_max);
}

/// The operands of C - L R and the divisor of the ratio.
template <class T>
struct Residual {
  DeviceOperand<T> left, right, target;  ///< L, R and C
  double factor;     ///< the result of roundoff_factor: n u, or sqrt(k + 2) u for a product
  double norms;      ///< the product of norms in the divisor; for a solution only ||A||
  double bias;       ///< the initial value of BiasedSum::high (BiasedSum in system_verification.cuh)
  const int* order;  ///< row i of C is row order[i] of `target`; null: row i
  /// Null, or for Cholesky `cols` column sums per warp, which are initially zero. Only the lower triangle of
  /// the symmetric residual is then computed. Each element (i, j) with i > j is added to the sums of columns
  /// j and i, because element (j, i) mirrors it.
  double* mirrored_sums;
};

/// Returns the largest quotient (measure of a column of the residual) / (norms * factor). The measure is the
/// sum of |elements|, or the largest |element| for a solution. For a product, returns the sum of squares of
/// the residual instead. For a solution, the divisor includes the norms of the columns of x and b. A warp
/// computes `Columns` columns at a time, and each of its lanes one row.
template <RatioKind kind, int Columns, class T>
__device__ double ratio_of(SharedStorage& shared, const Residual<T>& r) {
  constexpr bool is_solution = kind == RatioKind::solution, is_product = kind == RatioKind::product;
  const int lane = lane_of<32>(), warp = warp_of_block();
  const auto rows = static_cast<int>(r.left.rows), cols = static_cast<int>(r.right.cols);
  const auto terms = static_cast<int>(r.left.cols);
  const MatrixPart left_part = r.left.part, right_part = r.right.part;
  double(*const right)[max_columns] = shared.right[warp];
  double* const warp_sums = kind == RatioKind::cholesky_factor && r.mirrored_sums != nullptr
                                ? r.mirrored_sums + warp * cols
                                : nullptr;
  double ratio = 0;
  for (int j0 = warp * Columns; j0 < cols; j0 += warps_of_block() * Columns) {
    double column[Columns] = {}, x_norm[Columns] = {}, b_norm[Columns] = {};
    for (int i0 = warp_sums == nullptr ? 0 : j0 / 32 * 32; i0 < rows; i0 += 32) {
      // The k range with nonzero terms: [row_begin, row_end) of this row, [begin, end) of all 32 rows.
      const int i = i0 + lane;
      const int row_begin = left_part == MatrixPart::upper ? i : 0;
      const int row_end = i >= rows ? 0 : left_part == MatrixPart::lower ? min(terms, i + 1) : terms;
      int begin = 0, end = terms;
      if (left_part == MatrixPart::lower) end = min(end, i0 + 32);
      if (left_part == MatrixPart::upper) begin = i0;
      if (right_part == MatrixPart::upper) end = min(end, j0 + Columns);
      if (right_part == MatrixPart::lower) begin = max(begin, j0);
      // For k in [whole_begin, whole_end), all 32 rows have an element, so that loads need no predicate. A
      // lane beyond the last row loads the last row.
      const int whole_begin = left_part == MatrixPart::upper ? i0 + 32 : 0;
      const int whole_end = left_part == MatrixPart::lower ? i0 : terms;
      const T* const left = r.left.data + static_cast<std::int64_t>(min(i, rows - 1)) * r.left.row_stride;
      const std::int64_t col_stride = r.left.col_stride;
      BiasedSum<T> sums[Columns];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) sums[c].high = r.bias;
      GAUSSWEEP_ROLLED
      for (int k0 = begin; k0 < end; k0 += 32) {
        const int lane_k = k0 + lane;
        T right_row[Columns];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c)
          right_row[c] = loaded(r.right.data, lane_k * r.right.row_stride + (j0 + c) * r.right.col_stride,
                                is_used(r.right, lane_k, j0 + c));
        __syncwarp();
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c)
          right[lane][c] = r.right.unit_diagonal && lane_k == j0 + c ? T(1) : right_row[c];
        __syncwarp();
        GAUSSWEEP_ROLLED
        for (int first = 0; first < 32 && k0 + first < end; first += loads_in_flight) {
          const int k = k0 + first;
          T elements[loads_in_flight];
          if (k >= whole_begin && k + loads_in_flight <= whole_end) {
            GAUSSWEEP_UNROLL
            for (int u = 0; u < loads_in_flight; ++u) elements[u] = left[(k + u) * col_stride];
          } else {
            GAUSSWEEP_UNROLL
            for (int u = 0; u < loads_in_flight; ++u)
              elements[u] = loaded(left, (k + u) * col_stride, k + u >= row_begin && k + u < row_end);
            GAUSSWEEP_UNROLL
            for (int u = 0; u < loads_in_flight; ++u)
              elements[u] = r.left.unit_diagonal && k + u == i ? T(1) : elements[u];
          }
          GAUSSWEEP_UNROLL
          for (int u = 0; u < loads_in_flight; ++u) {
            GAUSSWEEP_UNROLL
            for (int c = 0; c < Columns; ++c) sums[c].add(elements[u], right[first + u][c]);
          }
        }
      }
      T target[Columns];
      const int row = i >= rows || r.order == nullptr ? i : r.order[i];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) {
        const int j = j0 + c;
        const bool swapped = kind == RatioKind::cholesky_factor && j > i;
        target[c] =
            kind == RatioKind::inverse
                ? T(i == j ? 1 : 0)
                : loaded(r.target.data,
                         (swapped ? j : row) * r.target.row_stride + (swapped ? i : j) * r.target.col_stride,
                         i < rows && j < cols);
      }
      double row_sum = 0;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) {
        const int j = j0 + c;
        const bool inside = i < rows && j < cols && !(warp_sums != nullptr && j > i);
        const double difference = inside ? sums[c].difference_to(target[c], r.bias) : 0;
        column[c] = is_solution ? max(column[c], difference)
                                : column[c] + (is_product ? difference * difference : difference);
        if (is_solution) b_norm[c] = max(b_norm[c], fabs(static_cast<double>(target[c])));
        if (j < i) row_sum += difference;
      }
      if (warp_sums != nullptr && i < rows) warp_sums[i] += row_sum;
    }
    for (int k = lane; is_solution && k < terms; k += 32) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) x_norm[c] = max(x_norm[c], fabs(element(r.right, k, j0 + c)));
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) {
      const double column_measure =
          is_solution ? largest_of_lanes<32>(column[c]) : sum_of_lanes<32>(column[c]);
      if (is_product) {
        ratio += column_measure;
      } else if (is_solution) {
        const double column_norm = r.norms * (largest_of_lanes<32>(x_norm[c]) + smallest_normal<T>);
        ratio = max(
            ratio, safe_quotient(column_measure, (column_norm + largest_of_lanes<32>(b_norm[c])) * r.factor));
      } else if (warp_sums == nullptr) {
        ratio = max(ratio, column_measure);
      } else if (j0 + c < cols && (j0 + c) % 32 == lane) {  // the lane that also adds row_sum to this sum
        warp_sums[j0 + c] += column_measure;
      }
    }
  }
  if (warp_sums != nullptr) {
    __syncthreads();
    for (int j = static_cast<int>(threadIdx.x); j < cols; j += static_cast<int>(blockDim.x)) {
      double column_sum = 0;
      for (int w = 0; w < warps_of_block(); ++w) column_sum += r.mirrored_sums[w * cols + j];
      ratio = max(ratio, column_sum);
    }
    ratio = largest_of_lanes<32>(ratio);
  }
  ratio = reduce_block(shared, ratio, is_product ? Reduction::sum : Reduction::largest);
  return is_solution || is_product ? ratio : safe_quotient(ratio, r.norms * r.factor);
}

/// Sets `order` such that row i of P A is row order[i] of A. Returns false if pivots or info contradict the
/// factors, as in verifiers::lu_factors. `order` and `pivots` have n entries in shared memory.
template <class T>
__device__ bool set_row_order(SharedStorage& shared, const BatchToVerify<T>& systems, std::int64_t s,
                              const T* x, int* order, int* pivots) {
  const auto n = static_cast<int>(systems.shape.n);
  double zero_pivot_from_end = 0, has_flaw = 0;  // see info_of
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const int pivot = systems.pivots[s * n + i];
    order[i] = i;
    pivots[i] = pivot;
    if (x[i + static_cast<std::int64_t>(i) * n] == T(0))
      zero_pivot_from_end = max(zero_pivot_from_end, n - i * 1.0);
    if (pivot < 0 || pivot >= n) has_flaw = 1;
  }
  zero_pivot_from_end = largest_of_block(shared, zero_pivot_from_end);
  has_flaw = largest_of_block(shared, has_flaw);
  if (has_flaw != 0 || (systems.infos[s] >= 0 && systems.infos[s] != info_of(zero_pivot_from_end, n)))
    return false;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 0; k < n; ++k) {
      const int row = order[k];
      order[k] = order[pivots[k]];
      order[pivots[k]] = row;
    }
  }
  __syncthreads();
  return true;
}

/// Returns the forward error of system s. Generates x_true again, because it is not in device memory.
template <class T>
__device__ double forward_error_of(SharedStorage& shared, const BatchToVerify<T>& systems, std::int64_t s,
                                   const DeviceOperand<T>& x) {
  const std::uint64_t seed = seed_of_system(systems.solution_seed, s);
  double difference = 0, largest = 0;
  for (std::int64_t k = threadIdx.x; k < x.rows * x.cols; k += blockDim.x) {
    const std::int64_t i = k % x.rows, j = k / x.rows;
    const double x_true = static_cast<T>(signed_unit(seed, RandomStream::solution, i, j));
    difference = max(difference, fabs(x.data[k] - x_true));
    largest = max(largest, fabs(x_true));
  }
  difference = largest_of_block(shared, difference);
  return safe_quotient(difference, largest_of_block(shared, largest));
}

/// Returns true if only the lower half of the residual is computed (Residual::mirrored_sums).
template <RatioKind kind>
__host__ __device__ constexpr bool mirrors(const Shape& shape) {
  return kind == RatioKind::cholesky_factor && shape.n <= max_mirrored_order;
}

/// Returns the ratio of system s, or NaN if the CPU has to verify the system. Sets the forward error if
/// x_true is known.
template <RatioKind kind, class T>
__device__ double system_ratio(SharedStorage& shared, const BatchToVerify<T>& systems, std::int64_t s,
                               double& error) {
  const BatchSystem<T> system(systems, s);
  const DeviceOperand<T>&a = system.a, &x = system.x, &b = system.b;
  constexpr bool is_lu = kind == RatioKind::lu_factors, is_product = kind == RatioKind::product;
  constexpr bool is_inverse = kind == RatioKind::inverse;
  const Norms a_norm = norms_of < /*Columns=*/is_lu || is_inverse, /*Squares=*/is_product > (shared, a);
  const Norms x_norm = norms_of</*Columns=*/is_inverse, /*Squares=*/false>(shared, x);
  const Norms b_norm = kind == RatioKind::solution || is_product
                           ? norms_of</*Columns=*/false, /*Squares=*/is_product>(shared, b)
                           : Norms{};
  const double early_ratio = ratio_if_out_of_range<T>(a_norm.largest, x_norm.largest, b_norm.largest);
  if (early_ratio != 0) return early_ratio;
  if (kind == RatioKind::solution && systems.has_solution_seed)
    error = forward_error_of(shared, systems, s, x);

  Residual<T> r{a,
                x,
                b,
                roundoff_factor<kind, T>(systems.shape),
                /*norms=*/0,
                /*bias=*/0,
                /*order=*/nullptr,
                /*mirrored_sums=*/nullptr};
  double max_left = a_norm.largest, max_right = x_norm.largest;
  if constexpr (kind == RatioKind::solution) {
    r.norms = largest_row_sum(shared, a, /*mirrored=*/false);
  } else if constexpr (is_lu) {
    const std::int64_t n = systems.shape.n;
    int* const order = simt::dynamic_shared<int>();
    if (!set_row_order(shared, systems, s, x.data, order, order + n)) return double_of(bits_of_nan);
    r.order = order;
    r.target = a;
    r.left = in_part(x, MatrixPart::lower);
    r.right = in_part(x, MatrixPart::upper);
    (systems.unit_lower ? r.left : r.right).unit_diagonal = true;
    max_left = max_right = max(x_norm.largest, 1.0);
    // If the factors are so large that rounding to subnormal numbers may affect the ratio, the CPU verifies
    // the system.
    r.norms = a_norm.columns;
    const double underflow_error = smallest_normal<T> * 4 * static_cast<double>(n) * max_left;
    if (underflow_error > 0x1p-20 * r.norms && r.norms > 0) return double_of(bits_of_nan);
  } else if constexpr (kind == RatioKind::cholesky_factor) {
    double has_flaw = 0;
    for (std::int64_t i = threadIdx.x; i < x.rows; i += blockDim.x) {
      if (!(x.data[i * (x.rows + 1)] > T(0))) has_flaw = 1;
    }
    if (largest_of_block(shared, has_flaw) != 0) return double_of(bits_of_nan);
    r.target = as_lower(a);
    r.left = as_lower(x);
    r.right = transposed(r.left);
    r.norms = largest_row_sum(shared, a, /*mirrored=*/true);
    max_left = max_right;
    if (mirrors<kind>(systems.shape)) {
      r.mirrored_sums = simt::dynamic_shared<double>();
      for (std::int64_t k = threadIdx.x; k < warps_of_block() * systems.shape.n; k += blockDim.x)
        r.mirrored_sums[k] = 0;
      __syncthreads();
    }
  } else if constexpr (kind == RatioKind::inverse) {
    r.norms = a_norm.columns * (x_norm.columns + smallest_normal<T>);
  } else {
    r.right = b;
    r.target = x;
    max_right = b_norm.largest;
    r.norms = std::sqrt(a_norm.squares) * std::sqrt(b_norm.squares);
  }
  const ProductSizes sizes{static_cast<double>(r.left.rows), static_cast<double>(r.left.cols), max_left,
                           max_right};
  r.bias = bias_of<T>(sizes);
  double ratio = 0;
  if constexpr (kind == RatioKind::inverse) {
    return ratio_of_sides(systems.other_side_threshold, [&](bool x_first) {
      r.left = x_first ? x : a;
      r.right = x_first ? a : x;
      return ratio_if_decided<T>(ratio_of<kind, max_columns>(shared, r), sizes, r.norms * r.factor,
                                 systems.tolerance);
    });
  } else if constexpr (kind == RatioKind::solution) {
    ratio = r.right.cols == 1 ? ratio_of<kind, 1>(shared, r) : ratio_of<kind, 4>(shared, r);
  } else {
    ratio = ratio_of<kind, max_columns>(shared, r);
  }
  double divisor = r.norms * r.factor;
  if (kind == RatioKind::solution) divisor = (r.norms * x_norm.largest + b_norm.largest) * r.factor;
  if (is_product) {
    ratio = safe_quotient(std::sqrt(ratio), divisor);
    if (ratio > 0.99) return double_of(bits_of_nan);  // above 1, check.hpp also needs elementwise ratios
  }
  return ratio_if_decided<T>(ratio, sizes, divisor, systems.tolerance);
}

/// Verifies system blockIdx.x.
template <RatioKind kind, class T>
__global__ void __launch_bounds__(max_threads, 2)
    large_kernel(BatchToVerify<T> systems, double* ratios, RatioTotals* totals) {
  __shared__ SharedStorage shared;
  double error = -1;
  const double ratio = system_ratio<kind>(shared, systems, blockIdx.x, error);
  if (threadIdx.x == 0) record_ratio(systems, blockIdx.x, ratio, error, ratios, totals);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::verification
