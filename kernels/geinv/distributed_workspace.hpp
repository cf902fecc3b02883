#pragma once
/// Parameters and workspace sizes of geinv/multi_gpu, poinv/multi_gpu and trtri/multi_gpu, in a header that
/// needs no CUDA.

#include "kernels/geinv/recursive_workspace.hpp"
#include "kernels/poinv/recursive_workspace.hpp"
#include "kernels/potrf/recursive_workspace.hpp"
#include "kernels/registry/column_blocks.hpp"

namespace gaussweep::inverse {

/// The measured order from which several GPUs are faster than one (docs/notebook/several_gpus.md). It is the
/// default of the parameter `gpus_from` of trtri and poinv.
constexpr std::int64_t default_gpus_from = 14336;

/// Returns true if one GPU inverts the triangular or positive definite matrix. It does so if the parameter
/// `gpus` is 1, or if several GPUs would be slower for this order.
inline bool uses_one_gpu(const Shape& shape, const Parameters& parameters) {
  return parameters.integer("gpus") == 1 || is_below_gpus_from(shape.n, parameters, default_gpus_from);
}
inline Parameter gpus_from_parameter() {
  return integer_parameter("gpus_from", 0, 0, 1 << 30, "smallest n for several GPUs; 0: 14336");
}
/// Returns the columns per block of trtri/multi_gpu.
inline std::int64_t trtri_block(const Shape& shape, const Parameters& parameters) {
  const std::int64_t block = parameters.integer("block");
  return block > 0 ? tiles::round_up_to_tiles(block) : shape.n <= 24576 ? 256 : 512;
}
/// Returns the columns per block of poinv/multi_gpu, which are also those of its Cholesky panels.
inline std::int64_t poinv_block(const Shape& shape, const Parameters& parameters) {
  const std::int64_t block = parameters.integer("block");
  return block > 0 ? tiles::round_up_to_tiles(block) : shape.n <= 4096 ? 256 : 512;
}
/// Returns the columns per panel of trtri and poinv, a multiple of the columns per block.
inline std::int64_t panel_width(const Shape& shape, const Parameters& parameters, std::int64_t block) {
  std::int64_t width = parameters.integer("panel");
  if (width == 0) width = std::min<std::int64_t>(shape.n / 16, 2048);
  return std::max<std::int64_t>(1, width / block) * block;
}
inline Parameter block_parameter(const std::string& widths) {
  return integer_parameter("block", 0, 0, 4096,
                           "columns per block, rounded up to a multiple of 64; 0: " + widths);
}
inline Parameter panel_parameter() {
  return integer_parameter(
      "panel", 0, 0, 8192,
      "columns per panel, which GPUs copy together, in whole blocks; 0: n / 16, at most 2048");
}

/// Returns the bytes of the two panels of DistributedPanels (getrf/distributed_panels.cuh).
constexpr std::size_t two_panels(std::size_t panel_bytes) {
  return 2 * aligned_workspace_bytes(static_cast<std::int64_t>(panel_bytes), 1);
}
/// Returns the bytes of workspace per GPU of DistributedUpperSolve (distributed_upper_solve.cuh): a copy of
/// all diagonal blocks of U, and buffers for the current block. These hold the block's triangles of at most
/// 256 rows (lu::max_solve_rows_per_launch) in reverse order of rows and columns, and the reciprocals of the
/// diagonal. In reverse order an upper triangle is a lower one, so that it uses the kernel for L.
inline std::size_t upper_solve_bytes(const ColumnBlocks& blocks, std::size_t element) {
  return aligned_workspace_bytes(blocks.count() * blocks.width * blocks.width, element) +
         aligned_workspace_bytes(blocks.width * lu::max_solve_rows_per_launch, element) +
         aligned_workspace_bytes(blocks.width, element);
}

/// Returns the bytes of workspace per GPU of geinv/multi_gpu: two panels, the LU factorisation of a panel
/// (lu::in_place_bytes), pivots, two row orders, and the solve with U.
inline std::size_t geinv_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  if (parameters.integer("gpus") == 1 || lu::uses_one_gpu(shape, parameters))
    return geinv_recursive_workspace(shape.n, element);
  const ColumnBlocks blocks{shape.n, lu::column_block(shape, parameters)};
  return two_panels(lu::panel_bytes(shape.n, blocks.width, element)) + lu::in_place_bytes(shape.n, element) +
         3 * aligned_workspace_bytes(shape.n, sizeof(int)) + upper_solve_bytes(blocks, element);
}
/// Returns the bytes of workspace per GPU of DistributedTriangle (trtri/distributed_triangle.cuh) with panels
/// of `width` columns. These are two panels, and a copy of the other triangle of a panel's diagonal square.
/// Solves need reversed triangles and reciprocals of the diagonal, as in upper_solve_bytes.
inline std::size_t distributed_triangle_bytes(const Shape& shape, std::int64_t width, std::size_t element) {
  return two_panels(lu::panel_bytes(shape.n, width, element)) +
         aligned_workspace_bytes(width * width, element) +
         aligned_workspace_bytes(width * lu::max_solve_rows_per_launch, element) +
         aligned_workspace_bytes(width, element);
}
/// Returns the bytes of workspace per GPU of trtri/multi_gpu; on one GPU, of trtri/levels.
inline std::size_t trtri_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  if (!uses_one_gpu(shape, parameters)) {
    return distributed_triangle_bytes(shape, panel_width(shape, parameters, trtri_block(shape, parameters)),
                                      element);
  }
  return aligned_workspace_bytes(levels::workspace_elements(shape.n), element);
}
/// Returns the parameters of potrf/multi_gpu for the factorisation in poinv/multi_gpu. Its parameter `rest`
/// is the maximum number of last rows that the first GPU factors alone; 0 selects the default.
inline Parameters cholesky_parameters(const Shape& shape, const Parameters& parameters) {
  Parameters result;
  result.set("gpus", parameters.integer("gpus"));
  result.set("block", poinv_block(shape, parameters));
  result.set("rest", std::int64_t{0});
  return result;
}
/// Returns the bytes of workspace per GPU of poinv/multi_gpu: the larger of two sizes, because the
/// factorisation (potrf/multi_gpu) and the inversion of the factor share the memory.
inline std::size_t poinv_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  if (uses_one_gpu(shape, parameters)) return poinv_recursive_workspace(shape.n, element);
  return std::max(tiles::multi_gpu_bytes(shape, cholesky_parameters(shape, parameters), element),
                  distributed_triangle_bytes(
                      shape, panel_width(shape, parameters, poinv_block(shape, parameters)), element));
}

}  // namespace gaussweep::inverse
