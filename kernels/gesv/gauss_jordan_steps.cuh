#pragma once
/// Gauss-Jordan elimination with partial pivoting for gesv/gauss_jordan_global and gesv/gauss_jordan_shared,
/// after X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination".
///
/// The matrix is [A | B], row-major, n x columns with columns = n + nrhs. Iteration i copies column i to the
/// host, which finds the pivot. The device exchanges the rows, computes the multipliers and subtracts the
/// pivot row from all other rows. At the end the right-hand sides are divided by the diagonal.
///
/// The paper launches N x N threads in every iteration (parameter `grid`: full). All of them compute, even
/// left of the pivot, where the pivot row is zero. With `grid`: shrinking, columns 0 to i have no threads and
/// keep their values. The answers of both grids have the same bits: in columns 0 to i - 1 the full grid only
/// subtracts zeros, and in column i only the diagonal element is used later.

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/gesv/pivot_search.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

__device__ inline std::int64_t global_thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Copies to[j] = a(j, column) for rows j >= `first`, one thread per row.
template <class T>
__global__ void copy_column(MatrixView<T> a, std::int64_t column, std::int64_t first, T* to) {
  const std::int64_t j = first + global_thread_index();
  if (j < a.rows) to[j] = a.data[j * a.ld + column];
}

/// Exchanges two rows from column `first` on, one thread per column.
template <class T>
__global__ void switch_rows(MatrixView<T> a, std::int64_t row_a, std::int64_t row_b, std::int64_t first) {
  const std::int64_t c = first + global_thread_index();
  if (c >= a.cols) return;
  const T saved = a.data[row_a * a.ld + c];
  a.data[row_a * a.ld + c] = a.data[row_b * a.ld + c];
  a.data[row_b * a.ld + c] = saved;
}

/// Computes multipliers[j] = a(j, i) / a(i, i), one thread per row.
template <class T>
__global__ void find_multipliers(MatrixView<T> a, std::int64_t i, T* multipliers) {
  const std::int64_t j = global_thread_index();
  if (j < a.rows) multipliers[j] = a.data[j * a.ld + i] / a.data[i * a.ld + i];
}

/// Divides the right-hand sides by the diagonal, one thread per row.
template <class T>
__global__ void normalise(MatrixView<T> a) {
  const std::int64_t j = global_thread_index();
  if (j >= a.rows) return;
  T* row = a.data + j * a.ld;
  for (std::int64_t c = a.rows; c < a.cols; ++c) row[c] /= row[j];
}

/// The operands of the subtraction in iteration i.
template <class T>
struct Elimination {
  MatrixView<T> a;
  std::int64_t i;
  std::int64_t first;    ///< the grid's first column: a multiple of the tile size, for aligned loads
  std::int64_t begin;    ///< the first column that is updated, >= `first`
  const T* multipliers;  ///< one per row

  /// Returns true if iteration i updates element (j, c).
  __device__ bool updates(std::int64_t j, std::int64_t c) const {
    return j < a.rows && j != i && c >= begin && c < a.cols;
  }
  /// Subtracts multiplier * pivot_element from element (j, c), or sets it to 0 if c == i. `pivot_element` is
  /// the pivot row's element in column c.
  __device__ void subtract(std::int64_t j, std::int64_t c, T multiplier, T pivot_element) const {
    T* element = a.data + j * a.ld + c;
    *element = c == i ? T(0) : std::fma(-multiplier, pivot_element, *element);
  }
};

template <class T>
using EliminationKernel = void (*)(Elimination<T>);

/// Solves [A | B] by Gauss-Jordan elimination.
/// @param eliminate the kernel that subtracts the pivot row, with tile x tile threads per block
template <class T>
void gauss_jordan(Context& context, Operands<T>& op, const Parameters& parameters,
                  EliminationKernel<T> eliminate, int tile) {
  const bool full = parameters.choice("grid") == "full";
  const std::int64_t n = op.shape.n;
  const MatrixView<T> a = op.a;
  T* scratch = op.workspace.template take<T>(n);  // the column, then the multipliers
  std::vector<T> column(static_cast<std::size_t>(n));
  constexpr unsigned threads = 256;
  const auto grid_1d = [](std::int64_t count) {
    return dim3(static_cast<unsigned>((count + threads - 1) / threads));
  };
  const auto tile_count = [tile](std::int64_t count) {
    return static_cast<unsigned>((count + tile - 1) / tile);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    context.stage("copy_column");
    const std::int64_t first_row = full ? 0 : i;
    simt::launch(context, copy_column<T>, grid_1d(n - first_row), dim3(threads), 0, a, i, first_row, scratch);
    context.device.to_host(column.data() + first_row, scratch + first_row,
                           static_cast<std::size_t>(n - first_row) * sizeof(T));
    const std::int64_t pivot = i + find_pivot(column.data() + i, 1, n - i);
    if (column[static_cast<std::size_t>(pivot)] == T(0)) {
      const int info = static_cast<int>(i + 1);
      context.device.to_device(op.info, &info, sizeof(info));
      return;
    }
    if (pivot != i) {
      context.stage("switch_rows");
      simt::launch(context, switch_rows<T>, grid_1d(a.cols - first_row), dim3(threads), 0, a, i, pivot,
                   first_row);
    }
    context.stage("multipliers");
    simt::launch(context, find_multipliers<T>, grid_1d(n), dim3(threads), 0, a, i, scratch);
    context.stage("eliminate");
    const std::int64_t begin = full ? 0 : i + 1;
    const std::int64_t first = begin / tile * tile;
    simt::launch(context, eliminate, dim3(tile_count(a.cols - first), tile_count(n)),
                 dim3(static_cast<unsigned>(tile), static_cast<unsigned>(tile)), 0,
                 Elimination<T>{a, i, first, begin, scratch});
  }
  context.stage("normalise");
  simt::launch(context, normalise<T>, grid_1d(n), dim3(threads), 0, a);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
