#pragma once
/// The preparation of F. Fuhrmann, TU Wien 2017, section 4.3.2 (limitations). A matrix with zeros becomes one
/// without by adding rows to each other, which does not change the solution. He describes it and leaves it
/// unbuilt.
///
/// It assures what he asks of a matrix, that no element is 0, and no more. The minors of the stripes may
/// still be 0, and then the row-cyclic methods fail.

#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The least index below `count` for which `holds` is true, else `count`. All threads of the block call this
/// and get the same. `place` is in shared memory.
template <class Holds>
__device__ int first_in_block(int count, int* place, Holds holds) {
  __syncthreads();  // what `holds` reads is written, and all have read the last answer
  if (threadIdx.x == 0) *place = count;
  __syncthreads();
  for (int index = static_cast<int>(threadIdx.x); index < count; index += static_cast<int>(blockDim.x)) {
    if (holds(index)) {
      atomicMin(place, index);
      break;
    }
  }
  __syncthreads();
  return *place;
}

/// The largest multiple of a row that is tried, as a power of two.
constexpr int most_doublings = 30;

/// One block goes down the rows. To a row with a 0 it adds the next row (from the first again, after the
/// last) that has none in this column. It adds that once, or subtracts it, or adds a multiple of it, so that
/// no other element becomes 0. Where a column has nothing but zeros, or no multiple will do, *info becomes
/// that column, from 1, and all ends there.
template <class T>
__global__ void add_rows_at_zeros(T* a, std::int64_t ld, int n, int columns, int* info) {
  __shared__ int place;
  for (int i = 0; i < n; ++i) {
    T* row = a + i * ld;
    for (;;) {
      const int column = first_in_block(n, &place, [=](int j) { return row[j] == T(0); });
      if (column == n) break;
      const auto after = [=](int step) { return a + (i + 1 + step) % n * ld; };
      const int step = first_in_block(n - 1, &place, [=](int s) { return after(s)[column] != T(0); });
      const T* other = after(step);
      T multiple = 1;
      int tries = step == n - 1 ? 2 * most_doublings : 0;
      for (; tries < 2 * most_doublings; ++tries) {
        const int cancelled = first_in_block(
            n, &place, [=](int j) { return row[j] != T(0) && std::fma(multiple, other[j], row[j]) == T(0); });
        if (cancelled == n) break;
        multiple = multiple > 0 ? -multiple : -2 * multiple;
      }
      if (tries == 2 * most_doublings) {
        if (threadIdx.x == 0) atomicCAS(info, 0, column + 1);
        return;
      }
      for (int j = static_cast<int>(threadIdx.x); j < columns; j += static_cast<int>(blockDim.x)) {
        row[j] = std::fma(multiple, other[j], row[j]);
      }
    }
  }
}

/// Where the parameter `preparation` asks for it.
template <class T>
void prepare(Context& context, Operands<T>& op, const Parameters& parameters, int threads) {
  if (parameters.choice("preparation") != "add_rows") return;
  context.stage("prepare");
  simt::launch(context, add_rows_at_zeros<T>, dim3(1), dim3(static_cast<unsigned>(threads)), 0, op.a.data,
               op.a.ld, static_cast<int>(op.shape.n), static_cast<int>(op.a.cols), op.info);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
