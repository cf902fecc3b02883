#pragma once
/// The distribution of a matrix over GPUs by block columns.

#include <algorithm>
#include <cstdint>

#include "kernels/registry/parameters.hpp"

namespace gaussweep {

/// Returns true if one GPU is used for a matrix of order n, because n is less than the parameter `gpus_from`.
/// This parameter is the smallest order that uses several GPUs. The value 0 stands for `default_from`.
/// Returns false if the method does not declare the parameter.
inline bool is_below_gpus_from(std::int64_t n, const Parameters& parameters, std::int64_t default_from) {
  if (parameters.all().count("gpus_from") == 0) return false;
  const std::int64_t from = parameters.integer("gpus_from");
  return n < (from > 0 ? from : default_from);
}

/// Block columns of `width` columns of an n x n matrix, distributed cyclically over `gpus` GPUs. A GPU stores
/// its blocks side by side. The last block may be narrower.
struct ColumnBlocks {
  std::int64_t n = 0, width = 1;
  int gpus = 1;

  constexpr std::int64_t count() const { return (n + width - 1) / width; }
  /// Returns the GPU that stores a block.
  int gpu_of(std::int64_t block) const { return static_cast<int>(block % gpus); }
  /// Returns the first column of a block in the matrix; n for blocks after the last one.
  std::int64_t begin(std::int64_t block) const { return std::min(block * width, n); }
  std::int64_t columns(std::int64_t block) const { return begin(block + 1) - begin(block); }
  /// Returns the first column of a block, counted in the memory of its GPU.
  std::int64_t local_begin(std::int64_t block) const { return block / gpus * width; }
  /// Returns the number of columns that a GPU stores of the blocks before `block`.
  std::int64_t columns_before(std::int64_t block, int gpu) const {
    // If the last block is among them, the columns that it lacks to the full width are subtracted.
    const std::int64_t blocks = block / gpus + (gpu < block % gpus ? 1 : 0);
    const bool has_last = block == count() && gpu_of(block - 1) == gpu;
    return blocks * width - (has_last ? block * width - n : 0);
  }
  /// Returns the number of columns that a GPU stores.
  std::int64_t columns_of(int gpu) const { return columns_before(count(), gpu); }
  /// Returns the leading dimension on every GPU. Products are fast with a multiple of 32 elements.
  std::int64_t leading_dimension() const { return (n + 31) / 32 * 32; }
};

}  // namespace gaussweep
