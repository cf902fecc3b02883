#pragma once
/// Preparation of [A | B] for the gesv/gauss_cyclic methods: adds multiples of rows to other rows until A has
/// no zeros. This does not change the solution.
///
/// F. Fuhrmann, TU Wien 2017, section 4.3.2 (limitations), describes this without an implementation. The
/// row-cyclic methods need this preparation, because they treat a zero element as already eliminated. They
/// still fail if a leading minor (the determinant of the first k rows and columns) of a stripe is 0. A stripe
/// has the rows that one thread block eliminates.

#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Returns the smallest index < `count` for which `predicate` is true, else `count`. All threads of the block
/// must call this; all get the same answer. `shared_minimum` is an int in shared memory for the search.
template <class Predicate>
__device__ int first_in_block(int count, int* shared_minimum, Predicate predicate) {
  __syncthreads();  // the data that `predicate` reads is complete, and all threads have read *shared_minimum
  if (threadIdx.x == 0) *shared_minimum = count;
  __syncthreads();
  for (int index = static_cast<int>(threadIdx.x); index < count; index += static_cast<int>(blockDim.x)) {
    if (predicate(index)) {
      atomicMin(shared_minimum, index);
      break;
    }
  }
  __syncthreads();
  return *shared_minimum;
}

/// Number of powers of two that are tried as factors of the added row: ±2^d with d < max_doublings.
constexpr int max_doublings = 30;

/// Processes the rows in one thread block, from the top. For each 0 in a row, finds the next row (cyclically)
/// with a nonzero element in the same column. Adds ±2^d times that row, with the smallest d such that no
/// nonzero element becomes 0. If the column has only zeros, or every factor makes a nonzero element 0, stores
/// column + 1 in *info and returns.
template <class T>
__global__ void add_rows_at_zeros(T* a, std::int64_t ld, int n, int columns, int* info) {
  __shared__ int shared_minimum;
  for (int i = 0; i < n; ++i) {
    T* row = a + i * ld;
    for (;;) {
      const int column = first_in_block(n, &shared_minimum, [=](int j) { return row[j] == T(0); });
      if (column == n) break;
      const auto row_after = [=](int skipped_rows) { return a + (i + 1 + skipped_rows) % n * ld; };
      const int skipped_rows =
          first_in_block(n - 1, &shared_minimum, [=](int s) { return row_after(s)[column] != T(0); });
      const T* added_row = row_after(skipped_rows);
      T factor = 1;
      int tries = skipped_rows == n - 1 ? 2 * max_doublings : 0;  // no tries if the whole column is 0
      for (; tries < 2 * max_doublings; ++tries) {
        const int cancelled = first_in_block(n, &shared_minimum, [=](int j) {
          return row[j] != T(0) && std::fma(factor, added_row[j], row[j]) == T(0);
        });
        if (cancelled == n) break;
        factor = factor > 0 ? -factor : -2 * factor;  // 1, -1, 2, -2, 4, …
      }
      if (tries == 2 * max_doublings) {
        if (threadIdx.x == 0) atomicCAS(info, 0, column + 1);
        return;
      }
      for (int j = static_cast<int>(threadIdx.x); j < columns; j += static_cast<int>(blockDim.x)) {
        row[j] = std::fma(factor, added_row[j], row[j]);
      }
    }
  }
}

/// Runs add_rows_at_zeros if the parameter `preparation` is add_rows.
template <class T>
void prepare(Context& context, Operands<T>& op, const Parameters& parameters, int threads) {
  if (parameters.choice("preparation") != "add_rows") return;
  context.stage("prepare");
  simt::launch(context, add_rows_at_zeros<T>, dim3(1), dim3(static_cast<unsigned>(threads)), 0, op.a.data,
               op.a.ld, static_cast<int>(op.shape.n), static_cast<int>(op.a.cols), op.info);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
