#pragma once
/// Gauss-Jordan elimination with partial pivoting for gesv/gauss_jordan_global and gesv/gauss_jordan_shared,
/// after X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination".
///
/// The matrix is [A | B], row-major, n x columns with columns = n + nrhs. Iteration k copies column k to the
/// host, which finds the pivot. The device exchanges the rows, computes the multipliers and subtracts the
/// pivot row from all other rows. At the end the right-hand sides are divided by the diagonal.
///
/// The paper launches a thread per element of the whole matrix in every iteration (parameter `grid` = full).
/// All threads compute, even left of the pivot, where the pivot row is zero. With `grid` = shrinking, columns
/// 0 to k have no threads and keep their values. Both grids give the same bits: in columns 0 to k - 1 the
/// full grid only subtracts zeros, and in column k only the diagonal element is used later.

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

/// Copies to[i] = a(i, column) for rows i >= `first_row`, one thread per row.
template <class T>
__global__ void copy_column(MatrixView<T> a, std::int64_t column, std::int64_t first_row, T* to) {
  const std::int64_t i = first_row + global_thread_index();
  if (i < a.rows) to[i] = a.data[i * a.ld + column];
}

/// Exchanges two rows from column `first_column` on, one thread per column.
template <class T>
__global__ void switch_rows(MatrixView<T> a, std::int64_t row_a, std::int64_t row_b,
                            std::int64_t first_column) {
  const std::int64_t j = first_column + global_thread_index();
  if (j >= a.cols) return;
  const T saved = a.data[row_a * a.ld + j];
  a.data[row_a * a.ld + j] = a.data[row_b * a.ld + j];
  a.data[row_b * a.ld + j] = saved;
}

/// Computes multipliers[i] = a(i, k) / a(k, k), one thread per row. The multiplier of row k itself is not
/// used.
template <class T>
__global__ void find_multipliers(MatrixView<T> a, std::int64_t k, T* multipliers) {
  const std::int64_t i = global_thread_index();
  if (i < a.rows) multipliers[i] = a.data[i * a.ld + k] / a.data[k * a.ld + k];
}

/// Divides the right-hand sides by the diagonal, one thread per row.
template <class T>
__global__ void normalise(MatrixView<T> a) {
  const std::int64_t i = global_thread_index();
  if (i >= a.rows) return;
  T* row = a.data + i * a.ld;
  for (std::int64_t j = a.rows; j < a.cols; ++j) row[j] /= row[i];
}

/// The operands of the subtraction in iteration k.
template <class T>
struct Elimination {
  MatrixView<T> a;
  std::int64_t k;
  std::int64_t grid_begin;    ///< the grid's first column: a multiple of the tile size, for aligned loads
  std::int64_t update_begin;  ///< the first column that is updated, >= `grid_begin`
  const T* multipliers;       ///< one per row

  /// Returns true if iteration k updates element (i, j).
  __device__ bool updates(std::int64_t i, std::int64_t j) const {
    return i < a.rows && i != k && j >= update_begin && j < a.cols;
  }
  /// Subtracts multiplier * pivot_element from element (i, j), or sets it to 0 if j == k. `pivot_element` is
  /// the pivot row's element in column j.
  __device__ void subtract(std::int64_t i, std::int64_t j, T multiplier, T pivot_element) const {
    T* element = a.data + i * a.ld + j;
    *element = j == k ? T(0) : std::fma(-multiplier, pivot_element, *element);
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
  T* scratch = op.workspace.template take<T>(n);  // first the copy of column k, then the multipliers
  std::vector<T> column(static_cast<std::size_t>(n));
  constexpr unsigned threads = 256;
  const auto grid_1d = [](std::int64_t count) {
    return dim3(static_cast<unsigned>((count + threads - 1) / threads));
  };
  const auto tile_count = [tile](std::int64_t count) {
    return static_cast<unsigned>((count + tile - 1) / tile);
  };
  for (std::int64_t k = 0; k < n; ++k) {
    context.stage("copy_column");
    // The first row of the copied column, and the first column in which rows are exchanged.
    const std::int64_t begin = full ? 0 : k;
    simt::launch(context, copy_column<T>, grid_1d(n - begin), dim3(threads), 0, a, k, begin, scratch);
    context.device.to_host(column.data() + begin, scratch + begin,
                           static_cast<std::size_t>(n - begin) * sizeof(T));
    const std::int64_t pivot_row = k + find_pivot(column.data() + k, /*stride=*/1, n - k);
    if (column[static_cast<std::size_t>(pivot_row)] == T(0)) {
      const int info = static_cast<int>(k + 1);
      context.device.to_device(op.info, &info, sizeof(info));
      return;
    }
    if (pivot_row != k) {
      context.stage("switch_rows");
      simt::launch(context, switch_rows<T>, grid_1d(a.cols - begin), dim3(threads), 0, a, k, pivot_row,
                   begin);
    }
    context.stage("multipliers");
    simt::launch(context, find_multipliers<T>, grid_1d(n), dim3(threads), 0, a, k, scratch);
    context.stage("eliminate");
    const std::int64_t update_begin = full ? 0 : k + 1;
    const std::int64_t grid_begin = update_begin / tile * tile;
    simt::launch(context, eliminate, dim3(tile_count(a.cols - grid_begin), tile_count(n)),
                 dim3(static_cast<unsigned>(tile), static_cast<unsigned>(tile)), 0,
                 Elimination<T>{a, k, grid_begin, update_begin, scratch});
  }
  context.stage("normalise");
  simt::launch(context, normalise<T>, grid_1d(n), dim3(threads), 0, a);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
