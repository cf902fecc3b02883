// A method for gaussweep in CUDA: C = A B, one thread per element of C. Change the name, the problem and the
// kernel.
//
//   gaussweep methods --template header > method.h
//   nvcc -O3 -arch=native -shared -Xcompiler -fPIC mine.cu -o mine.so
//   gaussweep methods --methods ./mine.so mine
#include <cuda_runtime.h>

#include "method.h"

// Column-major: element (i, j) of A is a[i + j * lda].
template <class T>
__global__ void multiply_element(gaussweep_call call) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t j = blockIdx.y;
  if (i >= call.m) return;
  const T* a = static_cast<const T*>(call.a);
  const T* b = static_cast<const T*>(call.b);
  T sum = 0;
  for (int64_t k = 0; k < call.k; ++k) sum += a[i + k * call.lda] * b[k + j * call.ldb];
  static_cast<T*>(call.x)[i + j * call.ldx] = sum;
}

// Queues the run on the stream and returns. It must not wait for the device.
template <class T>
int multiply(const gaussweep_call* call) {
  if (call->n > 65535) return GAUSSWEEP_SKIP;  // the grid's limit
  const int threads = static_cast<int>(call->parameters[0]);
  const dim3 blocks(static_cast<unsigned>((call->m + threads - 1) / threads), static_cast<unsigned>(call->n));
  gaussweep_stage(call, "multiply");
  multiply_element<T><<<blocks, threads, 0, static_cast<cudaStream_t>(call->stream)>>>(*call);
  return cudaGetLastError();  // 0 if the launch is queued
}

extern "C" const gaussweep_library* gaussweep_methods(void) {
  static gaussweep_parameter threads = {"threads", "threads per block", 'i', 128, 32, 1024, nullptr};
  static gaussweep_method mine = {};
  mine.name = "mine";
  mine.problem = "gemm";
  mine.summary = "one thread per element";
  mine.cuda = {multiply<float>, multiply<double>};
  mine.answer = 'x';
  mine.keeps_inputs = 1;
  mine.parameter_count = 1;
  mine.parameters = &threads;
  static const gaussweep_library library = {GAUSSWEEP_METHOD_VERSION, 1, &mine};
  return &library;
}
