#pragma once
/// Kernels in which not all threads reach the same barrier.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

/// Half of the block waits at one barrier, the other half at another.
__global__ void either_barrier(int* out) {
  if (threadIdx.x < blockDim.x / 2) {
    __syncthreads();  // first barrier
    out[0] = 1;
  } else {
    __syncthreads();  // second barrier
    out[1] = 1;
  }
}

/// Threads beyond n leave, the others wait for them.
__global__ void early_return(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = 1;
  __syncthreads();
}

/// Some threads take another round than others.
__global__ void uneven_rounds(int* out, int rounds) {
  const int own = rounds + (threadIdx.x == 3 ? 1 : 0);
  for (int i = 0; i < own; ++i) {
    __syncthreads();
    out[threadIdx.x] = i;
  }
}

/// Lane 5 is named in the mask, but takes part at another place.
__global__ void uneven_shuffle(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane == 5) {
    out[lane] = __shfl_sync(0xffffffffu, lane, 1);
  } else {
    out[lane] = __shfl_sync(0xffffffffu, lane, 0);
  }
}

/// Lane 0 shuffles outside of its own mask.
__global__ void outside_of_mask(int* out) {
  out[threadIdx.x] = __shfl_sync(0xfffffffeu, static_cast<int>(threadIdx.x), 1);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
