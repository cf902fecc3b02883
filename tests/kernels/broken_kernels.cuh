#pragma once
/// Deliberately broken kernels, and their correct twins.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

// Kernels in which not all threads reach the same barrier.

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

/// Threads beyond n return; the others wait for them.
__global__ void early_return(int* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = 1;
  __syncthreads();
}

/// Some threads run one more iteration than others.
__global__ void uneven_rounds(int* out, int rounds) {
  const int rounds_of_thread = rounds + (threadIdx.x == 3 ? 1 : 0);
  for (int i = 0; i < rounds_of_thread; ++i) {
    __syncthreads();
    out[threadIdx.x] = i;
  }
}

/// Lane 5 is in the mask, but calls another shuffle.
__global__ void uneven_shuffle(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane == 5) {
    out[lane] = __shfl_sync(0xffffffffu, lane, 1);
  } else {
    out[lane] = __shfl_sync(0xffffffffu, lane, 0);
  }
}

/// Lane 0 shuffles although the mask excludes it.
__global__ void outside_of_mask(int* out) {
  out[threadIdx.x] = __shfl_sync(0xfffffffeu, static_cast<int>(threadIdx.x), 1);
}

// Without `mended` the barrier between writing and reading shared memory is missing.

/// out[i] = in[n - 1 - i] for one block of n <= 256 threads.
template <bool mended>
__global__ void reverse_in_shared(const int* in, int* out) {
  __shared__ int staged[256];
  const int i = static_cast<int>(threadIdx.x);
  const int n = static_cast<int>(blockDim.x);
  staged[i] = in[i];
  if (mended) __syncthreads();
  out[i] = staged[n - 1 - i];
}

/// Computes the sum of n values, a power of two up to 256, by adding the upper half to the lower one. In the
/// broken kernel a thread may read an element before its owner has added to it in the previous step.
template <bool mended>
__global__ void sum_by_halves(const int* in, int* out) {
  int* const staged = simt::dynamic_shared<int>();
  const int i = static_cast<int>(threadIdx.x);
  staged[i] = in[i];
  for (int half = static_cast<int>(blockDim.x) / 2; half > 0; half /= 2) {
    if (mended || half == static_cast<int>(blockDim.x) / 2) __syncthreads();
    if (i < half) staged[i] += staged[i + half];
  }
  if (i == 0) *out = staged[0];
}

// Without `mended` the lanes of a warp rely on lockstep execution.

/// out[i] = in[(i + 1) % 32] for one warp.
template <bool mended>
__global__ void rotate_in_warp(const int* in, int* out) {
  __shared__ int staged[32];
  const int i = static_cast<int>(threadIdx.x);
  staged[i] = in[i];
  if (mended) __syncwarp();
  out[i] = staged[(i + 1) % 32];
}

// Without `mended` the barrier between threads of one block that write global memory and those that read it
// is missing. Race checkers on the GPU check only shared memory.

/// Eliminates in a row-major n x n matrix with one block; thread i owns column i. In every step thread 0
/// writes the multipliers of all rows to global memory, then all threads use them.
template <bool mended>
__global__ void eliminate(double* a, double* multipliers, int n) {
  const int j = static_cast<int>(threadIdx.x);
  for (int k = 0; k < n - 1; ++k) {
    if (j == k) {
      for (int i = k + 1; i < n; ++i) multipliers[i] = a[i * n + k] / a[k * n + k];
    }
    if (mended) __syncthreads();
    if (j >= k) {
      for (int i = k + 1; i < n; ++i) a[i * n + j] -= multipliers[i] * a[k * n + j];
    }
    __syncthreads();
  }
}

// Kernels that access `count` elements of an array that the caller made one element too small.

namespace {  // internal like the kernels of methods: only such static arrays have red zones

__global__ void write_global(double* out, int count) {
  const int i = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (i < count) out[i] = i;
}

__global__ void read_global(const double* in, double* out, int count) {
  const int i = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (i < count) out[0] += in[i];
}

__global__ void write_dynamic_shared(double* out, int count) {
  double* const shared = simt::dynamic_shared<double>();
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) shared[i] = i;
  __syncthreads();
  out[0] = shared[0];
}

/// Writes through an index: the undefined-behaviour sanitizer, which knows the array's size, reports it.
__global__ void write_static_shared(double* out, int count) {
  __shared__ double shared[32];
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) shared[i] = i;
  __syncthreads();
  out[0] = shared[0];
}

/// Writes through a pointer: the address sanitizer reports it in the red zone behind the array.
__global__ void write_static_shared_by_pointer(double* out, int count) {
  __shared__ double shared[32];
  double* volatile hidden = shared;
  double* const p = hidden;
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) p[i] = i;
  __syncthreads();
  out[0] = shared[0];
}

}  // namespace

// Kernels that wait for an event that never comes. They would hang on a GPU.

/// Every block waits for the next one; on a GPU this ends only if all blocks are resident.
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

/// Takes a lock that is never released.
__global__ void take_lock_twice(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

/// Thread 0 waits for a write that the others make only after the barrier.
__global__ void spin_before_barrier(int* flag) {
  if (threadIdx.x == 0) {
    while (simt::load_acquire(flag) == 0) simt::spin_pause();
  }
  __syncthreads();
  if (threadIdx.x == 1) simt::store_release(flag, 1);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
