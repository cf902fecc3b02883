#pragma once
/// Broken unless `mended`: the barrier between writing and reading shared memory.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

/// out[i] = in[n - 1 - i] for one block of n <= 256 threads.
template <bool mended>
__global__ void reverse_in_shared(const int* in, int* out) {
  __shared__ int part[256];
  const int i = static_cast<int>(threadIdx.x);
  const int n = static_cast<int>(blockDim.x);
  part[i] = in[i];
  if (mended) __syncthreads();
  out[i] = part[n - 1 - i];
}

/// out = the sum of n values, n a power of two up to 256. Runs right in ascending order of threads only if
/// nobody reads what a later thread has yet to write, which is why the halves are read backwards.
template <bool mended>
__global__ void sum_by_halves(const int* in, int* out) {
  int* const part = simt::dynamic_shared<int>();
  const int i = static_cast<int>(threadIdx.x);
  part[i] = in[i];
  for (int half = static_cast<int>(blockDim.x) / 2; half > 0; half /= 2) {
    if (mended || half == static_cast<int>(blockDim.x) / 2) __syncthreads();
    if (i < half) part[i] += part[i + half];
  }
  if (i == 0) *out = part[0];
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
