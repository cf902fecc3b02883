#pragma once
/// Broken unless `mended`: lanes of a warp that take for granted that they run in step.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

/// out[i] = in[(i + 1) % 32] for one warp.
template <bool mended>
__global__ void rotate_in_warp(const int* in, int* out) {
  __shared__ int part[32];
  const int i = static_cast<int>(threadIdx.x);
  part[i] = in[i];
  if (mended) __syncwarp();
  out[i] = part[(i + 1) % 32];
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
