#pragma once
/// Kernels that touch `count` elements of an array whose size the caller chose too small by one.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::broken {

namespace {  // internal, as kernels of methods are: only such static arrays have red zones

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

/// Through an index: seen by the undefined-behaviour sanitizer, which knows the array's size.
__global__ void write_static_shared(double* out, int count) {
  __shared__ double shared[32];
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) shared[i] = i;
  __syncthreads();
  out[0] = shared[0];
}

/// Through a pointer: seen by the address sanitizer, in the red zone behind the array.
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
}  // namespace gaussweep::GAUSSWEEP_BACKEND::broken
