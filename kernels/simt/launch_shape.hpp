#pragma once
/// Checks grids and blocks for both backends. Only the launch headers, which define `dim3`, include this
/// file.

#include <stdexcept>
#include <string>

namespace gaussweep::GAUSSWEEP_BACKEND::simt {

inline std::string to_text(const dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

/// Checks a launch. @throws std::invalid_argument if no GPU accepts it
inline void check_launch_shape(const dim3& grid, const dim3& block) {
  // A negative number that was converted to unsigned exceeds these limits, too.
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535u ||
      grid.z > 65535u) {
    throw std::invalid_argument(
        "launch: grid " + to_text(grid) +
        ": each dimension must be at least 1, and at most (2147483647, 65535, 65535)");
  }
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024u || block.y > 1024u || block.z > 64u ||
      block.x * block.y * block.z > 1024u) {
    throw std::invalid_argument(
        "launch: block " + to_text(block) +
        ": each dimension must be at least 1, and the block at most 1024 threads (z at most 64)");
  }
}

/// Checks a cluster.
/// @throws std::invalid_argument if it has more blocks than any GPU allows, or its blocks are not whole warps
inline void check_cluster_shape(unsigned blocks, const dim3& block) {
  if (blocks == 0 || blocks > 16 || block.x * block.y * block.z % 32 != 0) {
    throw std::invalid_argument("launch: a cluster of " + std::to_string(blocks) + " blocks " +
                                to_text(block) + ": 1 to 16 blocks of whole warps are allowed");
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::simt
