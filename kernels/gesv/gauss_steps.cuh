#pragma once
/// Forward elimination as the Gauss methods share it, after F. Fuhrmann, "Solving Linear Equations With the
/// GPU Architecture", TU Wien 2017, sections 4.3.1 and 4.3.2.
///
/// The matrix is [A | B], row-major, n x columns with columns = n + nrhs. Every product that is subtracted is
/// one fma, so that all backends agree to the bit; and x - 1 x is exactly 0, which the test for a zero factor
/// needs.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/core/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// What a factor of exactly 0 says about the rows further down the stripe.
enum class ZeroFactor {
  skips_row,   ///< nothing: only this row has nothing to subtract
  ends_stripe  ///< they begin with as many zeros at least, from an earlier stage: the stripe is done
};

/// Divides row[first], …, row[columns - 1] by row[first]. Where that is 0, `*info` becomes `index` + 1,
/// unless an earlier failure stands there, and the answer is false. All threads of the block call this and
/// get the same.
template <class T>
__device__ bool normalise_row(T* row, int first, int columns, int index, int* info) {
  __syncthreads();  // the updates of this row were made by other threads
  const T divisor = row[first];
  __syncthreads();  // all have read the divisor before its place is overwritten
  if (divisor == T(0)) {
    if (threadIdx.x == 0) atomicCAS(info, 0, index + 1);
    return false;
  }
  const int threads = static_cast<int>(blockDim.x);
  for (int j = first + static_cast<int>(threadIdx.x); j < columns; j += threads) row[j] /= divisor;
  return true;
}

/// Subtracts target[column] times `row`, which has a 1 there, from `target`, over all columns from 0 as the
/// paper does. False, and nothing done, where target[column] is 0. All threads of the block call this and get
/// the same.
template <class T>
__device__ bool eliminate_row(T* target, const T* row, int column, int columns) {
  const T factor = target[column];
  __syncthreads();  // all have read the factor before its place is overwritten; and `row` is normalised
                    // throughout
  if (factor == T(0)) return false;
  const int threads = static_cast<int>(blockDim.x);
  for (int j = static_cast<int>(threadIdx.x); j < columns; j += threads) {
    target[j] = std::fma(-factor, row[j], target[j]);
  }
  return true;
}

/// One stage: block p eliminates within the rows p, p + gridDim.x, p + 2 gridDim.x, … (1D grid and block).
/// The k-th of them is normalised at column k. With one block that is Gaussian elimination without pivoting;
/// with more the divisors lie off the diagonal, and the matrix is left as a staircase with steps gridDim.x
/// high.
template <class T>
__global__ void eliminate_stripe(T* a, std::int64_t ld, int n, int columns, ZeroFactor zero, int* info) {
  __shared__ int failed;
  if (threadIdx.x == 0) failed = simt::load_volatile(info);
  __syncthreads();
  if (failed != 0) return;
  const std::int64_t stride = gridDim.x;
  int column = 0;
  for (std::int64_t i = blockIdx.x; i < n; i += stride, ++column) {
    T* row = a + i * ld;
    if (!normalise_row(row, column, columns, static_cast<int>(i), info)) return;
    for (std::int64_t y = i + stride; y < n; y += stride) {
      if (!eliminate_row(a + y * ld, row, column, columns) && zero == ZeroFactor::ends_stripe) break;
    }
  }
}

/// The threads of a block: the parameter `threads`, where 0 means one a row, as many as fit in a block.
inline int thread_count(const Parameters& parameters, std::int64_t n) {
  const std::int64_t asked = parameters.integer("threads");
  return static_cast<int>(asked > 0 ? asked : std::min<std::int64_t>(n, 1024));
}

/// Launches one stage with `blocks` stripes.
template <class T>
void eliminate(Context& context, Operands<T>& op, int blocks, int threads, ZeroFactor zero) {
  simt::launch(context, eliminate_stripe<T>, dim3(static_cast<unsigned>(blocks)),
               dim3(static_cast<unsigned>(threads)), 0, op.a.data, op.a.ld, static_cast<int>(op.shape.n),
               static_cast<int>(op.a.cols), zero, op.info);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
