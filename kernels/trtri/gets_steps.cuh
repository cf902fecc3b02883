#pragma once
/// GETS, the "Gaussian elimination triangular solver" of J. Soriano, IIT 2011, section 5.2.3, for trtri/gets,
/// trtri/gets_adaptive, poinv/cholesky_gets and trsv/gets.
///
/// The inverse X of a triangular A starts as the identity. The pivot row k runs from the first row to the
/// last (if A is upper triangular, from the last to the first). Step k subtracts X(k, :) A(i, k) / A(k, k)
/// from every later row i. Each step is one launch, which processes only the columns in which X(k, :) can
/// differ from 0. A is not updated, because elimination would only set its off-diagonal elements to 0.
///
/// In the paper one thread block of the same launch divides row k of X while other blocks read that row,
/// which is a race. Here row k keeps its undivided value, which the other rows need, and one launch at the
/// end divides all rows. Every subtracted product is one fma, so that all backends (GPU, CPU) give the same
/// bits.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::gets {

/// One elimination step: updates rows [row, end_row) of X in columns [column, end_column).
template <class T>
struct EliminationStep {
  MatrixView<T> a, x;
  std::int64_t k;  ///< the pivot row
  std::int64_t row, end_row;
  std::int64_t column, end_column;
};

/// Computes X(i, j) -= A(i, k) X(k, j) / A(k, k) for one element per thread. Neighbouring threads work on
/// neighbouring rows; a thread block covers blockDim.x rows and blockDim.y columns.
template <class T>
__global__ void eliminate(EliminationStep<T> s) {
  const std::int64_t i = s.row + static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t j = s.column + static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (i >= s.end_row || j >= s.end_column) return;
  const T* a = s.a.data + s.k * s.a.ld;
  T* x = s.x.data + j * s.x.ld;
  x[i] = std::fma(-a[i], x[s.k] / a[s.k], x[i]);
}

/// Computes X(i, :) /= A(i, i) for all rows i.
template <class T>
__global__ void normalise(MatrixView<T> a, MatrixView<T> x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t j = blockIdx.x;
  if (i < x.rows) x.data[i + j * x.ld] /= a.data[i + i * a.ld];
}

/// The names of the timed stages. Each stage covers an eighth of the steps, so that timings show how the time
/// per step changes.
constexpr std::array<std::string_view, 8> stages{"gets_1", "gets_2", "gets_3", "gets_4",
                                                 "gets_5", "gets_6", "gets_7", "gets_8"};

/// The shape of thread blocks. Their height is the number of rows of X that they cover.
enum class BlockShape {
  fixed,    ///< a thread block covers one column; its height is the same in every step
  adaptive  ///< the height shrinks with the number of remaining rows; a thread block covers several columns
};

/// Returns the shape of a thread block of `threads` threads for `rows` rows. @pre `threads` is a multiple of
/// 32
inline dim3 block_for(std::int64_t rows, std::int64_t threads, BlockShape block_shape) {
  std::int64_t height = threads;
  if (block_shape == BlockShape::adaptive) {
    height = 32;
    while (height < rows && 2 * height <= threads) height *= 2;
  }
  return dim3(static_cast<unsigned>(height), static_cast<unsigned>(threads / height));
}

inline unsigned blocks_of(std::int64_t count, unsigned block_size) {
  return static_cast<unsigned>((count + block_size - 1) / block_size);
}

/// A range [first, end) of columns of X.
struct ColumnRange {
  std::int64_t first, end;
};

/// Computes X = A^-1 X for the triangle `uplo` of `a`, which is not changed. Asynchronous. Does not check the
/// diagonal; a 0 on the diagonal leads to elements that are not finite.
/// @param threads number of threads per thread block
/// @param columns columns(k) returns the columns in which row k of X can differ from 0
template <class T, class ColumnsOfRow>
void solve(Context& context, MatrixView<T> a, MatrixView<T> x, Uplo uplo, std::int64_t threads,
           BlockShape block_shape, ColumnsOfRow columns) {
  const std::int64_t n = a.rows;
  const bool lower = uplo == Uplo::lower;
  for (std::int64_t step = 0; step + 1 < n; ++step) {
    context.stage(stages[static_cast<std::size_t>(step * 8 / n)]);
    const std::int64_t k = lower ? step : n - 1 - step;
    const ColumnRange changed = columns(k);
    const std::int64_t row = lower ? k + 1 : 0, end_row = lower ? n : k;
    const EliminationStep<T> s{a, x, k, row, end_row, changed.first, changed.end};
    const dim3 block = block_for(s.end_row - s.row, threads, block_shape);
    simt::launch(context, eliminate<T>,
                 dim3(blocks_of(s.end_column - s.column, block.y), blocks_of(s.end_row - s.row, block.x)),
                 block, 0, s);
  }
  context.stage("normalise");
  const auto block = static_cast<unsigned>(threads);
  simt::launch(context, normalise<T>, dim3(static_cast<unsigned>(x.cols), blocks_of(n, block)), dim3(block),
               0, a, x);
}

/// Computes X = A^-1 for the triangle `uplo` of `a`, which is not changed, and sets the other triangle of X
/// to 0. Asynchronous. Does not check the diagonal, like solve().
template <class T>
void invert(Context& context, MatrixView<T> a, MatrixView<T> x, Uplo uplo, std::int64_t threads,
            BlockShape block_shape) {
  const std::int64_t n = a.rows;
  const bool lower = uplo == Uplo::lower;
  context.stage("identity");
  set_identity(context, x);
  solve(context, a, x, uplo, threads, block_shape, [=](std::int64_t k) {
    return lower ? ColumnRange{/*first=*/0, k + 1} : ColumnRange{k, /*end=*/n};
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::gets
