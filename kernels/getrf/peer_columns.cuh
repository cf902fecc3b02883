#pragma once
/// Addresses of the columns of a matrix that is distributed over GPUs, for kernels that access the memory of
/// other GPUs.

#include <vector>

#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The cyclic distribution of block columns (ColumnBlocks), from the view of GPU `gpu`.
struct LocalColumns {
  int width, gpus, gpu;  ///< columns per block; GPUs; the index of this GPU

  LocalColumns(const ColumnBlocks& blocks, int own_gpu)
      : width(static_cast<int>(blocks.width)), gpus(blocks.gpus), gpu(own_gpu) {}
  /// Returns the index in the matrix of this GPU's column `local`.
  __device__ int global(int local) const { return (local / width * gpus + gpu) * width + local % width; }
};

/// The parts of a distributed matrix on all GPUs.
template <class T>
struct PeerColumns {
  T* parts[max_gpus] = {};  ///< per GPU: the address of its first column
  std::int64_t ld;          ///< leading dimension of every part
  int width, gpus;          ///< columns per block; GPUs

  /// of_gpu(gpu) returns the address of the GPU's first column.
  template <class Part>
  PeerColumns(const ColumnBlocks& blocks, std::int64_t leading_dimension, const Part& of_gpu)
      : ld(leading_dimension), width(static_cast<int>(blocks.width)), gpus(blocks.gpus) {
    for (int gpu = 0; gpu < gpus; ++gpu) parts[gpu] = of_gpu(gpu);
  }
  /// Returns the address of column j of the matrix.
  __device__ T* column(int j) const {
    const int block = j / width;
    return parts[block % gpus] + (block / gpus * width + j % width) * ld;
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND
