#pragma once
/// The layouts of the workspaces of block_chain.cu and block_products.cuh. Compiles without CUDA.

#include <algorithm>

#include "kernels/registry/method.hpp"
#include "kernels/trtri/levels_workspace.hpp"

namespace gaussweep {

/// The layout of the workspace of block_chain.cu. A launch solves for groups of up to eight right-hand sides,
/// and each group has its own part of the workspace. All offsets are byte offsets in that part, and multiples
/// of 256. A set of segments (block_chain.cuh) holds one vector per right-hand side of a group: n elements,
/// rounded up to whole block rows of 64.
struct ChainWorkspace {
  /// @param both_triangles true: a solve with both triangles, perhaps with row exchanges. The workspace then
  /// has three sets of segments: one per triangle, and one for the exchanged right-hand sides
  ChainWorkspace(std::int64_t n, std::int64_t nrhs, std::size_t element_bytes, bool both_triangles)
      : rhs_per_group(nrhs == 1   ? 1
                      : nrhs <= 4 ? 4
                                  : 8),
        groups_per_launch(std::min((nrhs + rhs_per_group - 1) / rhs_per_group, max_groups)),
        segment_bytes_(aligned_workspace_bytes((n + 63) / 64 * 64 * rhs_per_group, element_bytes)),
        source_bytes_(both_triangles ? aligned_workspace_bytes(n, sizeof(int)) : 0),
        sets_(both_triangles ? 3 : 1) {}

  /// Returns the offset of a set of segments.
  std::size_t segments(int set) const {
    return control_bytes + static_cast<std::size_t>(set) * segment_bytes_;
  }
  /// Returns the offset of the row permutation.
  std::size_t source_rows() const { return segments(sets_); }
  std::size_t group_bytes() const { return source_rows() + source_bytes_; }
  std::size_t bytes() const { return static_cast<std::size_t>(groups_per_launch) * group_bytes(); }

  std::int64_t rhs_per_group;
  std::int64_t groups_per_launch;

 private:
  static constexpr std::int64_t max_groups = 64;     ///< limits the memory; 64 groups fill a GPU
  static constexpr std::size_t control_bytes = 256;  ///< for a group's chain::GroupCounters
  std::size_t segment_bytes_;
  std::size_t source_bytes_;
  int sets_;
};

/// Returns the bytes of workspace for solve_triangle.
inline std::size_t solve_triangle_workspace(std::int64_t n, std::int64_t nrhs, std::size_t element_bytes) {
  return ChainWorkspace(n, nrhs, element_bytes, /*both_triangles=*/false).bytes();
}
/// Returns the bytes of workspace for solve_lu and solve_cholesky.
inline std::size_t solve_lu_workspace(std::int64_t n, std::int64_t nrhs, std::size_t element_bytes) {
  return ChainWorkspace(n, nrhs, element_bytes, /*both_triangles=*/true).bytes();
}

/// The sizes of the parts of BlockProducts' workspace, in elements. Every part begins at a multiple of 256
/// bytes.
struct BlockProductsWorkspace {
  /// @param order order of the diagonal blocks, 64 times a power of two
  /// @param ld leading dimension of the right-hand sides
  constexpr BlockProductsWorkspace(std::int64_t n, std::int64_t nrhs, std::int64_t order, std::int64_t ld)
      : count((n + order - 1) / order),
        inverses(count * order * order),
        solved(std::max(ld * nrhs, levels::workspace_elements(order, count))) {}

  constexpr std::int64_t elements() const { return 2 * inverses + solved; }

  std::int64_t count;     ///< number of blocks
  std::int64_t inverses;  ///< elements of the inverses of one triangle
  std::int64_t solved;    ///< elements of the inversion's workspace, then of the solved right-hand sides
};

}  // namespace gaussweep
