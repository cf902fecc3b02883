#pragma once
/// Broken unless `mended`: the barrier between the threads of one block that write global memory and those
/// that read it. Race checkers on the GPU look at shared memory alone.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

/// Elimination of a column of a row-major n x n matrix by one block, thread i owning column i: in every step
/// thread 0 writes the multipliers of all rows to global memory, then all threads use them.
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

}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
