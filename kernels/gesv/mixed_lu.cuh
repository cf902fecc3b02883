#pragma once
/// The factors of gesv/mixed_gmres: an LU factorisation in float of the scaled matrix R A C.
///
/// The diagonal matrix R scales the largest element of every row of A to [1, 2); then C does the same for the
/// columns of R A. Both consist of powers of two, so that scaling does not round. Partial sums of column
/// slices are added in a fixed order, so that every run gives the same bits.

#include "kernels/gesv/mixed_factors.cuh"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/getrf/split_products.cuh"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::cuda::mixed {

/// Computes max |a| and sum |a| of each row within each slice of `columns` columns. blockIdx.y is the slice.
/// Each output has n rows and one column per slice.
template <class T>
__global__ void __launch_bounds__(block_threads)
    measure_rows(const T* a, std::int64_t lda, int n, int columns, double* largest, double* sums) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= n) return;
  const int begin = static_cast<int>(blockIdx.y) * columns;
  const int end = min(n, begin + columns);
  double maximum = 0, sum = 0;
  constexpr int unrolled = 8;
  int j = begin;
  for (; j + unrolled <= end; j += unrolled) {
    T value[unrolled];
#pragma unroll
    for (int i = 0; i < unrolled; ++i) value[i] = a[row + (j + i) * lda];
#pragma unroll
    for (int i = 0; i < unrolled; ++i) {
      maximum = fmax(maximum, std::fabs(static_cast<double>(value[i])));
      sum += std::fabs(static_cast<double>(value[i]));
    }
  }
  for (; j < end; ++j) {
    const double value = std::fabs(static_cast<double>(a[row + j * lda]));
    maximum = fmax(maximum, value);
    sum += value;
  }
  const std::int64_t index = row + blockIdx.y * static_cast<std::int64_t>(n);
  largest[index] = maximum;
  sums[index] = sum;
}

/// Computes R and the norm of A from the results of measure_rows.
__global__ void __launch_bounds__(block_threads) scale_rows(const double* largest, const double* sums, int n,
                                                            double* row_scale, MatrixMeasurements* result) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  double maximum = 0, sum = 0;
  if (row < n) {
    for (int s = 0; s < column_slices; ++s) {
      maximum = fmax(maximum, largest[row + s * static_cast<std::int64_t>(n)]);
      sum += sums[row + s * static_cast<std::int64_t>(n)];
    }
    row_scale[row] = scale_for(maximum);
  }
  atomic_max_of_warp(&result->norm_of_a, sum);
}

/// Computes C, the maximum of 1 / c over the elements c of C, and R A C in float, padded with zero rows to
/// `ld_out` rows. Each block processes one column at a time.
template <class T>
__global__ void __launch_bounds__(block_threads)
    scale_columns(const T* a, std::int64_t lda, int n, const double* row_scale, double* column_scale,
                  float* out, std::int64_t ld_out, MatrixMeasurements* result) {
  constexpr int unrolled = 4;
  for (int j = static_cast<int>(blockIdx.x); j < n; j += static_cast<int>(gridDim.x)) {
    const T* const column = a + j * lda;
    const auto load = [&](int begin, double(&value)[unrolled]) {
#pragma unroll
      for (int i = 0; i < unrolled; ++i) {
        const int row = begin + i * block_threads;
        value[i] = row < n ? static_cast<double>(column[row]) * row_scale[row] : 0.0;
      }
    };
    double maximum = 0, value[unrolled];
    for (int begin = static_cast<int>(threadIdx.x); begin < n; begin += unrolled * block_threads) {
      load(begin, value);
#pragma unroll
      for (int i = 0; i < unrolled; ++i) maximum = fmax(maximum, std::fabs(value[i]));
    }
    const double scale = scale_for(largest_of_block(maximum));
    if (threadIdx.x == 0) {
      column_scale[j] = scale;
      atomicMax(&result->max_inverse_column_scale, static_cast<DoubleBits>(__double_as_longlong(1 / scale)));
    }
    for (int begin = static_cast<int>(threadIdx.x); begin < ld_out; begin += unrolled * block_threads) {
      load(begin, value);
#pragma unroll
      for (int i = 0; i < unrolled; ++i) {
        const int row = begin + i * block_threads;
        if (row < ld_out) out[row + j * ld_out] = static_cast<float>(value[i] * scale);
      }
    }
  }
}

/// The template argument `Factors` of GmresSolver (mixed_refinement.cuh) for a general matrix.
template <class T>
class LuFactors {
 public:
  static constexpr bool has_unit_diagonal = true;
  static constexpr bool symmetric = false;
  /// Refinement stops without an answer if it expects to need more than this number + 10 iterations in a
  /// cycle (is_hopeless in gmres_cycle.hpp).
  static constexpr int max_iterations = max_iterations_per_cycle;
  static std::int64_t leading_dimension(std::int64_t n) { return gaussweep::lu::leading_dimension(n); }

  LuFactors(const System<T>& system, Workspace& memory)
      : system_(system), memory_(memory), pivots_(memory.take<int>(system.n + 1)) {}

  /// Computes R, C and the factors, and stores the measurements in `measured`. Returns false if refinement
  /// would not converge, in these cases:
  /// - the norm of A is not finite or out of range;
  /// - a sample of the matrix, which is factored first, has more than three tiny pivots;
  /// - a pivot is 0;
  /// - the pivots decrease so fast that later pivots would be smaller than float's rounding errors.
  bool prepare_factors(MatrixMeasurements& measured) {
    const System<T>& s = system_;
    Context& context = s.context;
    context.stage("scale");
    context.device.fill(s.measurements, 0, sizeof(MatrixMeasurements));
    simt::launch(context, measure_rows<T>, dim3(s.row_blocks, column_slices), dim3(block_threads), 0,
                 s.a.data, s.a.ld, s.n, s.columns_per_slice(), s.partial_sums, s.spare_partial_sums);
    simt::launch(context, scale_rows, dim3(s.row_blocks), dim3(block_threads), 0, s.partial_sums,
                 s.spare_partial_sums, s.n, s.row_scale, s.measurements);
    simt::launch(context, smallest_scale, dim3(1), dim3(block_threads), 0, s.row_scale, s.n, s.measurements);
    simt::launch(context, scale_columns<T>, dim3(static_cast<unsigned>(std::min(s.n, 4096))),
                 dim3(block_threads), 0, s.a.data, s.a.ld, s.n, s.row_scale, s.column_scale, s.float_factors,
                 s.ld, s.measurements);
    s.factor_sample(s.float_factors, s.ld, StoredPart::all, /*scale=*/nullptr, log2_low_pivot);
    measured = s.read();
    if (!s.is_in_range(measured) || !s.has_few_low_pivots(measured)) return false;
    context.device.fill(info(), 0, sizeof(int));
    lu::SplitProducts products(context, s.n, memory_);
    lu::RecursiveLu<float, lu::SplitProducts> factorisation(context, s.float_factors, s.ld, s.n, pivots_,
                                                            info(), memory_);
    if (!factorisation.factor(products, [&s](int columns) { return s.pivots_predict_convergence(columns); }))
      return false;
    row_permutation_ = factorisation.row_order();
    int zero_pivot = 0;
    context.device.to_host(&zero_pivot, info(), sizeof(zero_pivot));
    return zero_pivot == 0;
  }

  /// Returns a device array: row i of L U is row row_permutation()[i] of R A C.
  const int* row_permutation() const { return row_permutation_; }

  /// Replaces z by the solution x of L U x = P z, where P is the row permutation.
  template <class FactorElement>
  void solve(const FactorElement* factors, FactorElement* z, std::int64_t nrhs) {
    solve_lu(system_.context, system_.n, nrhs, factors, system_.ld, pivots_, z, system_.ld,
             system_.solve_memory, info());
  }

 private:
  static constexpr double log2_low_pivot = -10.5;  ///< pivots of the sample below 2^-10.5 count as low

  int* info() const { return pivots_ + system_.n; }

  System<T> system_;
  Workspace& memory_;
  int* pivots_;  // LAPACK's n pivots, then info
  const int* row_permutation_ = nullptr;
};

}  // namespace gaussweep::cuda::mixed
