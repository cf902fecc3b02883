#pragma once
/// Inversion by Gauss-Jordan elimination, as geinv/gauss_jordan and geinv/gauss_jordan_pivot share it, after
/// J. Soriano, IIT 2011, section 5.2.1.
///
/// Two column-major matrices in place of [A | I]: `a`, which becomes the identity, and `x`, which begins as
/// the identity and becomes the inverse. In iteration k, column k is copied to the host, which chooses the
/// pivot. The device exchanges the rows, divides the pivot row and subtracts it from all others.
///
/// The paper works on all columns of both matrices in every iteration (`grid` full). With `grid` shrinking,
/// columns of `a` up to k are left as they stand: they are never read again. Columns of `x` where row k is 0
/// are left too. Either way column k of `a` is not written. The paper's kernels overwrite the pivot and the
/// column of multipliers while other thread blocks read them, two races. Its staging in shared memory, which
/// no second thread reads, is dropped. Every product that is subtracted is one fma, so that all backends
/// agree to the bit, and so do both grids.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::inversion {

/// Row k of both matrices, a thread a column: the column of this thread.
__device__ __forceinline__ std::int64_t column_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Exchanges rows k and other: in `a` from column `begin` on, in `x` throughout.
template <class T>
__global__ void switch_rows(MatrixView<T> a, MatrixView<T> x, std::int64_t k, std::int64_t other,
                            std::int64_t begin) {
  const std::int64_t j = column_index();
  if (j >= a.cols) return;
  if (j >= begin) {
    T* const column = a.data + j * a.ld;
    const T kept = column[k];
    column[k] = column[other];
    column[other] = kept;
  }
  T* const column = x.data + j * x.ld;
  const T kept = column[k];
  column[k] = column[other];
  column[other] = kept;
}

/// Divides row k by the pivot: in `a` from column `begin` on, in `x` throughout.
template <class T>
__global__ void normalise_row(MatrixView<T> a, MatrixView<T> x, std::int64_t k, std::int64_t begin, T pivot) {
  const std::int64_t j = column_index();
  if (j >= a.cols) return;
  if (j >= begin) a.data[k + j * a.ld] /= pivot;
  x.data[k + j * x.ld] /= pivot;
}

/// Subtracts row k from all others, a thread a row and a thread block's column. It does so in `a` right of
/// column k and in `x` where row k is not 0. With `full`, it does so everywhere but in column k of `a`. As
/// long as no rows were exchanged, that is one element of either matrix a thread, or, `full`, both.
template <class T>
__global__ void subtract_row(MatrixView<T> a, MatrixView<T> x, std::int64_t k, bool full) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t j = blockIdx.x;
  if (i >= a.rows || i == k) return;
  const T factor = a.data[i + k * a.ld];
  if (j > k || (full && j != k)) {
    T* const column = a.data + j * a.ld;
    column[i] = std::fma(-factor, column[k], column[i]);
  }
  T* const column = x.data + j * x.ld;
  const T above = column[k];
  if (full || above != T(0)) column[i] = std::fma(-factor, above, column[i]);
}

/// Replaces op.x by the inverse; op.a is used up. `find(column, count)` is the index of the pivot among
/// column[0] … column[count - 1]. Where the element there is 0, *info becomes the iteration, from 1, and all
/// ends there, with op.x unfinished. The host waits for the device once a column (the paper's choice).
template <class T, class Find>
void gauss_jordan(Context& context, Operands<T>& op, const Parameters& parameters, Find find) {
  const std::int64_t n = op.shape.n;
  const std::int64_t threads = std::stoll(parameters.choice("threads"));
  const bool full = parameters.choice("grid") == "full";
  std::vector<T> column(static_cast<std::size_t>(n));
  // No more threads than rows, but whole warps.
  const auto block = static_cast<unsigned>(std::min(threads, (n + 31) / 32 * 32));
  const auto blocks = static_cast<unsigned>((n + block - 1) / block);
  context.stage("identity");
  set_identity(context, op.x);
  for (std::int64_t k = 0; k < n; ++k) {
    context.stage("copy_column");
    const std::int64_t from = full ? 0 : k;
    context.device.to_host(column.data() + from, op.a.data + from + k * op.a.ld,
                           static_cast<std::size_t>(n - from) * sizeof(T));
    const std::int64_t pivot = find(column.data() + k, n - k);
    const T value = column[static_cast<std::size_t>(k + pivot)];
    if (value == T(0)) {
      const int info = static_cast<int>(k + 1);
      context.device.to_device(op.info, &info, sizeof(info));
      return;
    }
    if (pivot != 0) {
      context.stage("switch");
      simt::launch(context, switch_rows<T>, dim3(blocks), dim3(block), 0, op.a, op.x, k, k + pivot, from);
    }
    context.stage("normalise");
    simt::launch(context, normalise_row<T>, dim3(blocks), dim3(block), 0, op.a, op.x, k, full ? 0 : k + 1,
                 value);
    context.stage("update");
    simt::launch(context, subtract_row<T>, dim3(static_cast<unsigned>(n), blocks), dim3(block), 0, op.a, op.x,
                 k, full);
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inversion
