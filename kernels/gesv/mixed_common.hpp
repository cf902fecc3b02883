#pragma once
/// The constants and workspace sizes that the mixed-precision solvers (gesv/mixed_gmres, posv/mixed_gmres)
/// share. Compiles without CUDA.

#include <algorithm>

#include "kernels/registry/method.hpp"
#include "kernels/trsv/workspaces.hpp"

namespace gaussweep::mixed {

constexpr int max_iterations_per_cycle = 30;  ///< iterations per GMRES cycle
constexpr int max_cycles = 4;                 ///< GMRES cycles per right-hand side
/// A is multiplied in this many *column slices*, ranges of adjacent columns. Each gives a partial sum of A x.
constexpr int column_slices = 32;
constexpr int block_threads = 256;  ///< threads per block
constexpr int sample_order = 64;    ///< order of the submatrix of A for sample_pivots (mixed_steps.cuh)
constexpr int matrix_measurement_doubles = 16;  ///< doubles reserved for MatrixMeasurements (mixed_steps.cuh)
constexpr int iteration_measurement_doubles =
    max_iterations_per_cycle + 4;               ///< doubles in IterationMeasurements (mixed_vectors.cuh)
constexpr std::int64_t max_rhs_per_group = 64;  ///< maximum number of right-hand sides refined together
/// From this number of right-hand sides on, triangular solves with the factors multiply by inverses of
/// diagonal blocks.
constexpr std::int64_t min_rhs_for_products = 33;
constexpr std::int64_t inverted_block_order = 512;  ///< order of these diagonal blocks
/// Smallest number of right-hand sides for which cuBLAS's GEMM computes A X, if A is in double.
constexpr unsigned min_rhs_for_vendor = 9;
/// Factors in float are tried if the expected time is below this fraction of the time with factors in double.
/// The distance to 1 allows for errors of the expected times. gesv/mixed_gmres uses 1 for up to four
/// right-hand sides.
constexpr double max_time_ratio = 0.98;
/// Maximum number of right-hand sides for which a thread of multiply_slice (mixed_vectors.cuh) keeps sums.
constexpr int max_rhs_per_thread = 8;

/// Returns the number of rows of A that a thread of multiply_slice multiplies.
constexpr int rows_per_thread(int rhs_per_thread) {
  return rhs_per_thread == 1 ? 1 : 2;
}

/// Returns the number of row blocks. A *row block* is `block_threads` adjacent rows, one per thread of a
/// thread block.
constexpr std::int64_t row_block_count(std::int64_t n) {
  return (n + block_threads - 1) / block_threads;
}

/// The order of the square tiles of A in multiply_triangle (mixed_triangle_product.cuh).
constexpr int triangle_tile_order = 128;
/// Returns the number of these tiles in a row or a column of tiles of a matrix of order n.
constexpr std::int64_t triangle_tile_count(std::int64_t n) {
  return (n + triangle_tile_order - 1) / triangle_tile_order;
}
/// Returns the number of vectors of partial sums in a product with A. There is one per column slice and
/// right-hand side of a thread, or one per tile column in multiply_triangle.
inline std::int64_t partial_sum_vectors(std::int64_t n, std::int64_t nrhs) {
  return std::max(column_slices * std::min<std::int64_t>(nrhs, max_rhs_per_thread), triangle_tile_count(n));
}

/// Returns the bytes of workspace that the solves with the factors need for `nrhs` right-hand sides with
/// leading dimension `ld`.
inline std::size_t factor_solve_bytes(std::int64_t n, std::int64_t nrhs, std::int64_t ld) {
  if (nrhs < min_rhs_for_products) return solve_lu_workspace(n, nrhs, sizeof(double));
  const BlockProductsWorkspace layout(n, nrhs, inverted_block_order, ld);
  return aligned_workspace_bytes(layout.elements(), sizeof(double));
}

/// Returns the expected milliseconds on an H200 of the solves with both triangles in double, of order 1000 k.
/// With few right-hand sides the critical path of dependent tiles determines the time, with many the number
/// of operations.
/// @param single_rhs_ms the milliseconds with one right-hand side
inline double direct_solves_ms(double single_rhs_ms, double k, std::int64_t nrhs) {
  if (nrhs == 1) return single_rhs_ms;
  if (nrhs <= 4) return 1.2 * single_rhs_ms;
  const auto groups = static_cast<double>((nrhs + 7) / 8);
  return std::max(1.6 * single_rhs_ms, 0.0021 * k * k * groups);
}

/// Returns the bytes for the factors (in double; the float factors use half of the same memory) and for
/// refining `nrhs` right-hand sides together. Excludes the workspace of the factorisation.
inline std::size_t iteration_bytes(std::int64_t n, std::int64_t nrhs, std::int64_t ld) {
  const std::int64_t vectors = ld * nrhs;
  return aligned_workspace_bytes(ld * ld, sizeof(double)) + factor_solve_bytes(n, nrhs, ld) +
         // R and C (mixed_steps.cuh); the vectors w and y (mixed_refinement.cuh); two buffers for partial
         // sums
         2 * aligned_workspace_bytes(n, sizeof(double)) +
         2 * aligned_workspace_bytes(vectors, sizeof(double)) +
         aligned_workspace_bytes(partial_sum_vectors(n, nrhs) * ld, sizeof(double)) +
         aligned_workspace_bytes(column_slices * n, sizeof(double)) +
         // basis and directions (gmres_cycle.hpp); partial sums of V^T w and w^T w; MatrixMeasurements,
         // IterationMeasurements and the coefficients of the directions
         aligned_workspace_bytes((max_iterations_per_cycle + 1) * vectors, sizeof(double)) +
         aligned_workspace_bytes(max_iterations_per_cycle * vectors, sizeof(double)) +
         aligned_workspace_bytes((max_iterations_per_cycle + 2) * row_block_count(n) * nrhs, sizeof(double)) +
         aligned_workspace_bytes(
             matrix_measurement_doubles + (iteration_measurement_doubles + max_iterations_per_cycle) * nrhs,
             sizeof(double));
}

}  // namespace gaussweep::mixed
