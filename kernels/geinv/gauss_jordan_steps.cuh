#pragma once
/// Inversion by Gauss-Jordan elimination after J. Soriano Pinedo (docs/papers.md), section 5.2.1, shared by
/// geinv/gauss_jordan and geinv/gauss_jordan_pivot.
///
/// [A | I] is stored as two column-major matrices: `a`, and `x`, which begins as the identity and becomes the
/// inverse. In iteration k, column k is copied to the host, which selects the pivot. The device exchanges the
/// rows, divides the pivot row by the pivot and subtracts multiples of this row from all other rows.
///
/// The paper updates all columns of both matrices in every iteration (parameter `grid` = full). With `grid` =
/// shrinking, columns of `a` up to k are not updated, because no later iteration reads them. Columns of `x`
/// with a 0 in row k are not updated either, because they would not change. Updates never write column k of
/// `a`, which holds the multipliers. The paper's kernels have two races: thread blocks overwrite the pivot
/// and the multipliers while others read them. This version has no race. It also omits the paper's copies to
/// shared memory, which only one thread would read. Every subtracted product is one fma, so that all backends
/// and both grids give the same bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::inversion {

/// Returns the index of the calling thread, which is the column that it processes.
__device__ __forceinline__ std::int64_t column_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Exchanges rows k and pivot_row, in `a` from column `begin` on, in `x` in all columns.
template <class T>
__global__ void exchange_rows(MatrixView<T> a, MatrixView<T> x, std::int64_t k, std::int64_t pivot_row,
                              std::int64_t begin) {
  const std::int64_t j = column_index();
  if (j >= a.cols) return;
  if (j >= begin) {
    T* const column = a.data + j * a.ld;
    const T saved = column[k];
    column[k] = column[pivot_row];
    column[pivot_row] = saved;
  }
  T* const column = x.data + j * x.ld;
  const T saved = column[k];
  column[k] = column[pivot_row];
  column[pivot_row] = saved;
}

/// Divides row k by the pivot, in `a` from column `begin` on, in `x` in all columns.
template <class T>
__global__ void normalise_row(MatrixView<T> a, MatrixView<T> x, std::int64_t k, std::int64_t begin, T pivot) {
  const std::int64_t j = column_index();
  if (j >= a.cols) return;
  if (j >= begin) a.data[k + j * a.ld] /= pivot;
  x.data[k + j * x.ld] /= pivot;
}

/// Subtracts multiples of row k from all other rows; a thread has one row, a thread block one column. Updates
/// the columns of `a` right of k and the columns of `x` with a nonzero in row k. With `full`, updates all
/// columns except column k of `a`.
template <class T>
__global__ void subtract_row(MatrixView<T> a, MatrixView<T> x, std::int64_t k, bool full) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t j = blockIdx.x;
  if (i >= a.rows || i == k) return;
  const T factor = a.data[i + k * a.ld];  // row k is already divided by the pivot
  if (j > k || (full && j != k)) {
    T* const column = a.data + j * a.ld;
    column[i] = std::fma(-factor, column[k], column[i]);
  }
  T* const column = x.data + j * x.ld;
  const T pivot_element = column[k];
  if (full || pivot_element != T(0)) column[i] = std::fma(-factor, pivot_element, column[i]);
}

/// Replaces op.x by the inverse; op.a is overwritten. `find(column, count)` returns the index of the pivot
/// among the elements column[0] to column[count - 1]. If the pivot is 0, stores the iteration, from 1, in
/// *info and returns. The host waits for the device once per column, as in the paper.
template <class T, class Find>
void gauss_jordan(Context& context, Operands<T>& op, const Parameters& parameters, Find find) {
  const std::int64_t n = op.shape.n;
  const std::int64_t threads = std::stoll(parameters.choice("threads"));
  const bool full = parameters.choice("grid") == "full";
  std::vector<T> column(static_cast<std::size_t>(n));
  // No more threads than rows, rounded up to whole warps.
  const auto block = static_cast<unsigned>(std::min(threads, (n + 31) / 32 * 32));
  const auto blocks = static_cast<unsigned>((n + block - 1) / block);
  context.stage("identity");
  set_identity(context, op.x);
  for (std::int64_t k = 0; k < n; ++k) {
    context.stage("copy_column");
    // The first row to copy, and the first column of `a` in which rows are exchanged.
    const std::int64_t begin = full ? 0 : k;
    context.device.to_host(column.data() + begin, op.a.data + begin + k * op.a.ld,
                           static_cast<std::size_t>(n - begin) * sizeof(T));
    const std::int64_t pivot_offset = find(column.data() + k, n - k);
    const T pivot = column[static_cast<std::size_t>(k + pivot_offset)];
    if (pivot == T(0)) {
      const int info = static_cast<int>(k + 1);
      context.device.to_device(op.info, &info, sizeof(info));
      return;
    }
    if (pivot_offset != 0) {
      context.stage("switch");
      simt::launch(context, exchange_rows<T>, dim3(blocks), dim3(block), 0, op.a, op.x, k, k + pivot_offset,
                   begin);
    }
    context.stage("normalise");
    simt::launch(context, normalise_row<T>, dim3(blocks), dim3(block), 0, op.a, op.x, k, full ? 0 : k + 1,
                 pivot);
    context.stage("update");
    simt::launch(context, subtract_row<T>, dim3(static_cast<unsigned>(n), blocks), dim3(block), 0, op.a, op.x,
                 k, full);
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inversion
