#pragma once
/// Parameters, workspaces and thresholds of the LU methods. Compiles without CUDA.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/gemm/workspaces.hpp"
#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/registry/parameters.hpp"

namespace gaussweep::lu {

constexpr int max_cluster_blocks = 16;  ///< thread blocks per cluster; CUDA calls sizes above 8 non-portable
constexpr int panel_threads = 256;      ///< threads per block of the kernel that factors a panel
/// Largest row count of a panel of 32 columns: two rows per thread. A thread holds more rows if panels have
/// fewer columns.
constexpr int max_cluster_panel_rows = 2 * max_cluster_blocks * panel_threads;
constexpr int max_panel_rows = 16 * max_cluster_panel_rows;  ///< largest row count of a panel of 2 columns
/// Largest order of gesv/mixed_gmres and of the methods whose products are by halves or residues.
constexpr int max_rows = max_panel_rows / 2;
/// Levels of the recursion in columns, for parts of 64, 128, ..., 131072 columns.
constexpr int levels = 12;
/// Largest number of row exchanges that move single elements. For more, exchange_rows_by_column_buffer
/// (lu_updates.cuh) copies whole columns.
constexpr int max_exchanges_by_row = 512;
/// Largest number of columns per panel on several GPUs, where one thread per exchange moves all rows.
constexpr int max_distributed_columns = 1024;
/// Buffers of one column each, for exchange_rows_by_column_buffer (lu_updates.cuh). Together they fit in L2.
constexpr int column_buffers = 132;

/// Returns the leading dimension of copies and panels of a matrix with n rows: products are fast with a
/// multiple of 32 elements.
constexpr std::int64_t leading_dimension(std::int64_t n) {
  return (n + 31) / 32 * 32;
}
/// Returns true if a contiguous matrix of order n is factored in a copy with leading_dimension(n). Products
/// of doubles are up to 1.5 times as fast if columns begin at multiples of 16 elements.
constexpr bool is_copied(std::int64_t n, std::size_t element) {
  return element == sizeof(double) && n >= 4096 && n % 16 != 0;
}

/// Returns the bytes of workspace for a factorisation of order n in place.
inline std::size_t in_place_bytes(std::int64_t n, std::size_t element) {
  // Two arrays of a panel's exchanges, and two permutations per level.
  return aligned_workspace_bytes((2 + 2 * levels) * n, sizeof(int)) +
         aligned_workspace_bytes(n > max_exchanges_by_row ? column_buffers * n : 0, element);
}
/// Returns the bytes of workspace for a factorisation of order n.
inline std::size_t workspace_bytes(std::int64_t n, std::size_t element) {
  return in_place_bytes(n, element) +
         aligned_workspace_bytes(is_copied(n, element) ? leading_dimension(n) * n : 0, element);
}

/// Returns the number of columns per panel and block column of the methods for several GPUs. The thresholds
/// were measured (docs/notebook/several_gpus.md).
inline std::int64_t column_block(const Shape& shape, const Parameters& parameters) {
  const std::int64_t block = parameters.integer("block");
  if (block > 0) return (block + 31) / 32 * 32;
  if (shape.n <= 12288) return 256;
  const std::int64_t columns_per_gpu = shape.n / parameters.integer("gpus");
  return columns_per_gpu < 8192 ? 512 : columns_per_gpu < 12288 ? 768 : 1024;
}
/// Returns true if every panel of the matrix fits in the registers of a thread-block cluster.
inline bool panels_fit_in_cluster(const Shape& shape, const Parameters&) {
  return shape.n <= max_panel_rows;
}
/// Returns true if one GPU factors the matrix faster than several.
inline bool uses_one_gpu(const Shape& shape, const Parameters& parameters) {
  return is_below_gpus_from(shape.n, parameters, 8192);
}
/// Adds the parameters and functions of a method for several GPUs to a registry row.
inline Method on_several_gpus(Method method) {
  method.parameters = {
      gpus_parameter(),
      integer_parameter(
          "block", 0, 0, max_distributed_columns,
          "columns per panel, rounded up to a multiple of 32; 0: 256 to 1024, depending on n and gpus"),
      integer_parameter("gpus_from", 0, 0, max_panel_rows + 1, "smallest n for several GPUs; 0: 8192")};
  method.column_block = column_block;
  method.uses_one_gpu = uses_one_gpu;
  method.accepts = panels_fit_in_cluster;
  return method;
}
/// Returns the bytes of a panel with its pivots, info and row order.
constexpr std::size_t panel_bytes(std::int64_t rows, std::int64_t columns, std::size_t element) {
  return static_cast<std::size_t>(leading_dimension(rows) * columns) * element +
         static_cast<std::size_t>(columns + 1 + rows) * sizeof(int);
}
/// Returns the bytes of workspace per GPU: two panels, the workspace of a panel's factorisation, the row
/// exchanges of all panels, and column buffers for these exchanges.
inline std::size_t multi_gpu_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  if (parameters.integer("gpus") == 1 || uses_one_gpu(shape, parameters))
    return workspace_bytes(shape.n, element);
  const std::size_t panel = panel_bytes(shape.n, column_block(shape, parameters), element);
  const ColumnBlocks blocks{shape.n, column_block(shape, parameters)};
  return 2 * aligned_workspace_bytes(static_cast<std::int64_t>(panel), 1) + in_place_bytes(shape.n, element) +
         aligned_workspace_bytes((blocks.count() + 1) * shape.n, sizeof(int)) +
         aligned_workspace_bytes(column_buffers * shape.n, element);
}

constexpr int max_solve_rows_per_launch = 256;  ///< largest row count of a triangular solve in one launch
constexpr int pivot_window_rows = 256;  ///< rows that the window panel (window_panel.cuh) searches for pivots
constexpr int min_split_k = 256;        ///< smallest k of a product by split_products.cuh
constexpr int max_split_k = 1024;       ///< largest k of such a product; larger k are split

/// Returns the number of half-precision numbers per operand of a product by split_products.cuh, for a
/// factorisation of order n.
inline std::int64_t split_elements(std::int64_t n) {
  // Padded rows (or columns) of the operand, three halves per element, and the k range.
  return n <= min_split_k ? 0 : (n + 7) / 8 * 8 * 3 * std::min<std::int64_t>(n, max_split_k);
}
/// Returns the bytes of workspace for both operands in half precision and for inverted diagonal triangles.
inline std::size_t split_bytes(std::int64_t n) {
  constexpr std::size_t half = 2;  // bytes of a half-precision number
  return 2 * aligned_workspace_bytes(split_elements(n), half) +
         aligned_workspace_bytes(max_solve_rows_per_launch * max_solve_rows_per_launch, sizeof(float)) +
         aligned_workspace_bytes(
             n / max_solve_rows_per_launch * 3 * max_solve_rows_per_launch * max_solve_rows_per_launch, half);
}

/// Returns the parameters of the methods whose large products are computed by residues, i.e. as integer
/// products modulo several 8-bit numbers (gemm/residue_products.cuh).
inline std::vector<Parameter> residue_parameters() {
  return {
      integer_parameter(
          "moduli", 0, 0, residues::max_moduli,
          "moduli of a product by residues, at least 5; 0: 15 in double, 8 in float; a number that is not "
          "accurate enough, as below 13 in double, gives the vendor's products"),
      integer_parameter("least_inner", 0, 0, max_rows,
                        "smallest k of products by residues; 0: by residues if that is faster")};
}
/// Returns the number of moduli that the parameter `moduli` selects.
inline int residue_moduli(const Parameters& parameters, std::size_t element) {
  const auto requested = static_cast<int>(parameters.integer("moduli"));
  return requested > 0 ? requested : element == sizeof(float) ? 8 : 15;
}
/// Returns true if the methods with residue_parameters() accept this order.
inline bool accepts_residues(const Shape& shape, const Parameters& parameters) {
  const std::int64_t moduli = parameters.integer("moduli");
  return shape.n <= max_rows && (moduli == 0 || moduli >= residues::min_moduli);
}

/// Returns the workspace sizes that suffice for every product of a factorisation of order n. In such a
/// product m + k <= n.
inline residues::WorkspaceCapacity residue_capacity(std::int64_t n, int moduli) {
  residues::WorkspaceCapacity capacity = residues::capacity_for(n / 2 + 80, n, n / 2 + 80, moduli);
  capacity.sums = moduli * residues::padded(n) * residues::padded(std::min<std::int64_t>(n, 2048));
  capacity.exponents = 2 * n;
  return capacity;
}

/// Returns the bytes for the products of a factorisation of order n, and of solves with its factors.
inline std::size_t residue_product_bytes(std::int64_t n, const Parameters& parameters, std::size_t element) {
  return residues::bytes_of(residue_capacity(n, residue_moduli(parameters, element)));
}
inline std::size_t residue_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  return workspace_bytes(shape.n, element) + residue_product_bytes(shape.n, parameters, element);
}

}  // namespace gaussweep::lu

namespace gaussweep {

inline std::vector<Parameter> fixed_point_parameters() {
  return {choice_parameter("update", {"double_buffered", "in_place"},
                           "every element from the last iterate, or from the current values"),
          choice_parameter("start", {"matrix", "scaled"},
                           "L and U start as the triangles of A, or with U's rows divided by the diagonal"),
          real_parameter("change_tolerance", 0, 0, 1e300,
                         "ends if no element changes by more than this; 0: if no element changes"),
          integer_parameter("max_iterations", 0, 0, 1 << 30,
                            "maximum number of iterations; 0: 2 n, after which no element can change")};
}

/// Returns the estimated number of iterations: 20, as for diagonally dominant matrices. Other matrices may
/// take 2 n.
inline double fixed_point_iterations(const Shape& shape, const Parameters& parameters) {
  const std::int64_t requested = parameters.integer("max_iterations");
  return static_cast<double>(std::min<std::int64_t>(20, requested > 0 ? requested : 2 * shape.n));
}

/// Returns the bytes of workspace of the fixed-point iteration: the largest change in an iteration
/// (FixedPointChanges) and, if double-buffered, a second iterate.
inline std::size_t fixed_point_workspace(const Shape& shape, const Parameters& parameters,
                                         std::size_t element) {
  const std::size_t changes = aligned_workspace_bytes(2, sizeof(unsigned long long));  // FixedPointChanges
  if (parameters.choice("update") == "in_place") return changes;
  return changes + aligned_workspace_bytes(shape.n * shape.n, element);
}

}  // namespace gaussweep

namespace gaussweep::batched {

constexpr std::int64_t max_rows = 128;          ///< largest order with rows in registers
constexpr std::int64_t max_inverse_order = 64;  ///< largest order of an inverse with rows in registers
constexpr std::int64_t max_panel_order = 512;   ///< largest order with panels

inline std::vector<Parameter> parameters() {
  return {choice_parameter("kernel", {"auto", "rows", "panels"},
                           "rows in registers (order at most 128, in geinv 64) or panels of 16 or 32 "
                           "columns, from order 4 on; auto: rows to order 8 to 48")};
}

/// Returns true if the batched methods accept this order.
inline bool accepts(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? max_rows : max_panel_order);
}

/// Returns true if geinv/batched accepts this order.
inline bool accepts_inverse(const Shape& shape, const Parameters& parameters) {
  return shape.n <= (parameters.choice("kernel") == "rows" ? max_inverse_order : max_panel_order);
}

/// Returns true if panel kernels factor order n. Up to order 3, only the kernels with rows in registers have
/// as few roundings per element as LAPACK.
/// @param max_rows_order the largest order at which rows in registers are faster
inline bool uses_panels(std::int64_t n, const Parameters& parameters, std::int64_t max_rows_order) {
  const std::string& kernel = parameters.choice("kernel");
  return kernel == "auto" ? n > max_rows_order : kernel == "panels" && n > 3;
}
/// Returns true if geinv/batched computes LU first and then the inverse column by column, in double by
/// geinv/factored_columns.cuh and in float by factored_solve.cuh.
inline bool inverts_by_columns(std::int64_t n, const Parameters& parameters, std::size_t element_bytes) {
  return uses_panels(n, parameters, /*max_rows_order=*/element_bytes == 8 ? 16 : 48);
}
/// Returns the largest order at which rows in registers are faster than panels for LU, measured on an H200
/// (docs/notebook/batches.md). The limit falls as `nrhs` grows, because kernels with rows in registers factor
/// A again for every four right-hand sides.
constexpr std::int64_t max_rows_order(std::size_t element_bytes, std::int64_t nrhs = 1) {
  return nrhs > 8 ? 8 : nrhs > 4 ? 16 : nrhs > 1 || element_bytes == 8 ? 32 : 48;
}
/// Returns true if gesv/batched solves with rows in registers. If not, several right-hand sides are solved
/// for with L and U (factored_solve.cuh).
inline bool solves_in_registers(const Shape& shape, const Parameters& parameters, std::size_t element_bytes) {
  return !uses_panels(shape.n, parameters, max_rows_order(element_bytes, shape.nrhs));
}
/// Returns the bytes of workspace for the row order of every system.
inline std::size_t row_order_bytes(const Shape& shape) {
  return aligned_workspace_bytes(shape.n * shape.batch, sizeof(int));
}
/// Returns the largest order at which posv/batched keeps rows in registers. Above it, several right-hand
/// sides use factored_solve.cuh.
constexpr std::int64_t max_cholesky_rows_order(std::size_t element_bytes, std::int64_t nrhs) {
  return nrhs > 8 ? 8 : nrhs > 4 || (nrhs > 1 && element_bytes == 4) ? 16 : 32;
}

}  // namespace gaussweep::batched
