#pragma once
/// Kernels that wait for something that cannot come. Not for a GPU: there they hang.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

/// Every block waits for the next one: on a GPU this ends only while all blocks are resident.
__global__ void wait_for_higher_block(int* flags) {
  const int last = static_cast<int>(gridDim.x) - 1;
  const int block = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0 && block < last) {
    while (simt::load_acquire(flags + block + 1) == 0) simt::spin_pause();
  }
  __syncthreads();
  if (threadIdx.x == 0) simt::store_release(flags + block, 1);
}

/// The same loop without spin_pause.
__global__ void wait_without_pause(int* flags) {
  if (blockIdx.x + 1 < gridDim.x) {
    while (simt::load_volatile(flags + blockIdx.x + 1) == 0) {
    }
  }
  simt::store_release(flags + blockIdx.x, 1);
}

/// A lock that is never freed.
__global__ void take_lock_twice(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

/// Thread 0 waits for what the others do only after the barrier.
__global__ void spin_before_barrier(int* flag) {
  if (threadIdx.x == 0) {
    while (simt::load_acquire(flag) == 0) simt::spin_pause();
  }
  __syncthreads();
  if (threadIdx.x == 1) simt::store_release(flag, 1);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
