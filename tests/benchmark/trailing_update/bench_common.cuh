#pragma once
/// The benchmark trailing_update.cu: errors, data, kernels under test.

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/benchmark/trailing_update/update.cuh"

using namespace gaussweep::cuda::lu;

namespace {

const auto program_start = std::chrono::steady_clock::now();
double seconds_before = 0;  // of a run that this one goes on with
double seconds() {
  return seconds_before +
         std::chrono::duration<double>(std::chrono::steady_clock::now() - program_start).count();
}
double time_limit = 55;
bool time_left(double wanted, const char* what) {
  if (seconds() + wanted < time_limit) return true;
  std::printf("SKIPPED (time): %s\n", what);
  std::fflush(stdout);
  return false;
}
void say(const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::vprintf(format, list);
  va_end(list);
  std::fflush(stdout);
}
int errors = 0;
bool good(cudaError_t error, const char* call, int line) {
  if (error == cudaSuccess) return true;
  ++errors;
  say("ERROR line %d: %s: %s (%s)\n", line, call, cudaGetErrorName(error), cudaGetErrorString(error));
  return false;
}
bool good(cublasStatus_t status, const char* call, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  ++errors;
  say("ERROR line %d: %s: cuBLAS status %d\n", line, call, static_cast<int>(status));
  return false;
}
#define TRY(call) good((call), #call, __LINE__)
#define MUST(call)                \
  do {                            \
    if (!TRY(call)) return false; \
  } while (0)
double median(std::vector<double> v) {
  if (v.empty()) return NAN;
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : 0.5 * (v[v.size() / 2 - 1] + v[v.size() / 2]);
}

__host__ __device__ inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
/// Uniform in (-1, 1), all 53 bits in use.
__device__ inline double uniform(std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = mixed(seed * 0x2545f4914f6cdd1dull + i);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-52 - 1.0;
}
__global__ void fill(double* p, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::uint64_t>(gridDim.x) * blockDim.x)
    p[i] = uniform(seed, i);
}
constexpr std::uint64_t guard_bits = 0x7ff80000deadbeefull;  // a NaN of its own
/// A matrix with `before` and `behind` guard columns and guard rows from m to ld; `p` is where the guard
/// begins.
__global__ void fill_guarded(double* p, int m, int n, int ld, int before, int behind, std::uint64_t seed) {
  const std::uint64_t count = static_cast<std::uint64_t>(ld) * (n + before + behind);
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::uint64_t>(gridDim.x) * blockDim.x) {
    const int row = static_cast<int>(i % ld);
    const int column = static_cast<int>(i / ld) - before;
    p[i] = row < m && column >= 0 && column < n ? uniform(seed, i) : __longlong_as_double(guard_bits);
  }
}
struct Comparison {
  unsigned long long difference, largest;  // of |.|, as bits
  unsigned long long nans, strays, hash, unequal;
};
__global__ void compare(const double* p, const double* reference, int m, int n, int ld, int before,
                        int behind, Comparison* to) {
  const std::uint64_t count = static_cast<std::uint64_t>(ld) * (n + before + behind);
  Comparison mine{};
  for (std::uint64_t i = blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::uint64_t>(gridDim.x) * blockDim.x) {
    const int row = static_cast<int>(i % ld);
    const int column = static_cast<int>(i / ld) - before;
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(p[i]));
    if (row < m && column >= 0 && column < n) {
      const double difference = fabs(p[i] - reference[i]);
      if (!(difference >= 0)) {
        ++mine.nans;
      } else {
        mine.difference =
            max(mine.difference, static_cast<unsigned long long>(__double_as_longlong(difference)));
      }
      mine.largest =
          max(mine.largest, static_cast<unsigned long long>(__double_as_longlong(fabs(reference[i]))));
      mine.unequal += bits != static_cast<std::uint64_t>(__double_as_longlong(reference[i]));
      mine.hash += mixed(bits ^ mixed(i));
    } else {
      mine.strays += bits != guard_bits;
    }
  }
  atomicMax(&to->difference, mine.difference);
  atomicMax(&to->largest, mine.largest);
  if (mine.nans) atomicAdd(&to->nans, mine.nans);
  if (mine.strays) atomicAdd(&to->strays, mine.strays);
  if (mine.unequal) atomicAdd(&to->unequal, mine.unequal);
  atomicAdd(&to->hash, mine.hash);
}

struct Kernel {
  const char* name;
  const char* what;
  int rows, columns, blocks, threads, stages, groups;
  std::size_t shared_bytes;
  const void* function;
  UpdateProduct (*product)(EncodeTensorMap, const double*, std::int64_t, const double*, std::int64_t, double*,
                           std::int64_t, int, int, int);
  UpdateJob (*job)(UpdateCounters*, const UpdateProduct&, const UpdateProduct*, int);
  unsigned (*grid)(UpdateJob&, int, unsigned, unsigned);
  void (*launch)(const UpdateJob&, unsigned, cudaStream_t);
};
template <class Shape>
Kernel kernel(const char* name, const char* what) {
  return {name,
          what,
          Shape::rows,
          Shape::columns,
          Shape::blocks,
          Shape::threads,
          Shape::stages,
          Shape::groups,
          static_cast<std::size_t>(Shape::shared_bytes),
          reinterpret_cast<const void*>(&update_trailing<Shape>),
          &update_product<Shape>,
          &update_job<Shape>,
          &update_grid<Shape>,
          [](const UpdateJob& job, unsigned grid, cudaStream_t stream) {
            update_trailing<Shape><<<grid, Shape::threads, Shape::shared_bytes, stream>>>(job);
          }};
}
//                           blocks, groups, warp tile, inner, stages, buffers of B
using A8 = UpdateShape<1, 1, 2, 64, 32, 8, 7, 2>;
using A16 = UpdateShape<1, 1, 2, 64, 32, 16, 7, 1>;
using T8 = UpdateShape<1, 1, 3, 48, 32, 8, 6, 1>;
using E8 = UpdateShape<2, 1, 1, 64, 32, 8, 4, 2>;
using G8 = UpdateShape<1, 1, 2, 64, 40, 8, 6, 2>;

std::vector<Kernel> kernels;

/// A kernel and how it is called.
struct Contender {
  std::string name;
  int kernel = -1;  // -1: cuBLAS
  int lead = -1, prefetch = 1, hints = 1, group_columns = 0;
};

int multiprocessors = 132;
EncodeTensorMap encode = nullptr;
cublasHandle_t cublas = nullptr;
cudaStream_t stream = nullptr, second_stream = nullptr, urgent_stream = nullptr;
double *a_data = nullptr, *b_data = nullptr, *c_data = nullptr, *reference = nullptr;
constexpr std::int64_t a_count = 17000ll * 1040, b_count = 1040ll * 17000, c_count = 16400ll * 16400,
                       reference_count = 5100ll * 3100;
constexpr int counters_count = 256;
UpdateCounters* counters = nullptr;
Comparison* comparison = nullptr;

UpdateJob prepare(const Contender& contender, int m, int n, int k, const double* a, int lda, const double* b,
                  int ldb, double* c, int ldc, int first_columns = 0) {
  const Kernel& kernel = kernels[static_cast<std::size_t>(contender.kernel)];
  UpdateProduct first{}, second{};
  UpdateJob job{};
  if (first_columns > 0) {
    first = kernel.product(encode, a, lda, b, ldb, c, ldc, m, first_columns, k);
    second = kernel.product(encode, a, lda, b + static_cast<std::int64_t>(first_columns) * ldb, ldb,
                            c + static_cast<std::int64_t>(first_columns) * ldc, ldc, m, n - first_columns, k);
    job = kernel.job(counters, first, &second, contender.lead);
  } else {
    first = kernel.product(encode, a, lda, b, ldb, c, ldc, m, n, k);
    job = kernel.job(counters, first, nullptr, contender.lead);
  }
  job.prefetch = contender.prefetch;
  job.hints = contender.hints;
  if (contender.group_columns > 0) job.group_columns = contender.group_columns;
  return job;
}
bool multiply_by_cublas(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c,
                        int ldc) {
  const double minus_one = -1, one = 1;
  MUST(cublasDgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &minus_one, a, lda, b, ldb, &one, c, ldc));
  return true;
}

}  // namespace
