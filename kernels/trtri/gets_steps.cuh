#pragma once
/// GETS, "Gaussian elimination triangular solver" of J. Soriano, IIT 2011, section 5.2.3, as trtri/gets,
/// trtri/gets_adaptive, poinv/cholesky_gets and trsv/gets share it.
///
/// The inverse X of a triangular A starts as the identity. Row k goes from the diagonal's first element to
/// its last (upper: from its last to its first). For each k, X(k, :) A(y, k) / A(k, k) is subtracted from
/// every row y that comes later. Each k is one launch, which works only on the columns where X(k, :) can
/// differ from 0. A's own columns need no update: what is left of A in them is known to become 0.
///
/// The paper divides row k of X in that same launch, by one thread block, while the others of its column read
/// it: a race. Here row k keeps its value, which is what the others need, and one launch at the end divides
/// all rows. Every product that is subtracted is one fma, so that all backends agree to the bit.

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

/// One step: the rows from `row` on below `end_row` and the columns from `column` on below `end_column`.
template <class T>
struct Step {
  MatrixView<T> a, x;
  std::int64_t k;
  std::int64_t row, end_row;
  std::int64_t column, end_column;
};

/// A thread an element, neighbouring threads in neighbouring rows; a block is rows x columns.
template <class T>
__global__ void eliminate(Step<T> s) {
  const std::int64_t i = s.row + static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t j = s.column + static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (i >= s.end_row || j >= s.end_column) return;
  const T* a = s.a.data + s.k * s.a.ld;
  T* x = s.x.data + j * s.x.ld;
  x[i] = std::fma(-a[i], x[s.k] / a[s.k], x[i]);
}

/// X(i, :) /= A(i, i) for all rows.
template <class T>
__global__ void normalise(MatrixView<T> a, MatrixView<T> x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const std::int64_t j = blockIdx.x;
  if (i < x.rows) x.data[i + j * x.ld] /= a.data[i + i * a.ld];
}

/// The stages of the eliminations: an eighth of them each, so that it is seen how they change on the way.
constexpr std::array<std::string_view, 8> stages{"gets_1", "gets_2", "gets_3", "gets_4",
                                                 "gets_5", "gets_6", "gets_7", "gets_8"};

enum class Threads {
  fixed,    ///< a column of threads, as many in every step
  adaptive  ///< no more rows of threads than there are rows left, and several columns in a block instead
};

/// The block for `rows` rows, of at most `threads` threads, a multiple of 32.
inline dim3 block_for(std::int64_t rows, std::int64_t threads, Threads how) {
  std::int64_t height = threads;
  if (how == Threads::adaptive) {
    height = 32;
    while (height < rows && 2 * height <= threads) height *= 2;
  }
  return dim3(static_cast<unsigned>(height), static_cast<unsigned>(threads / height));
}

inline unsigned pieces(std::int64_t count, unsigned piece) {
  return static_cast<unsigned>((count + piece - 1) / piece);
}

/// Columns of X.
struct Columns {
  std::int64_t first, end;
};

/// X = A^-1 X for the triangle `uplo` of `a`, which stays; `columns(k)` are those in which row k of X can
/// differ from 0. Asynchronous: the host does not look at the diagonal, a 0 there ends in elements that are
/// not finite.
template <class T, class ColumnsOfRow>
void solve(Context& context, MatrixView<T> a, MatrixView<T> x, Uplo uplo, std::int64_t threads, Threads how,
           ColumnsOfRow columns) {
  const std::int64_t n = a.rows;
  const bool lower = uplo == Uplo::lower;
  for (std::int64_t step = 0; step + 1 < n; ++step) {
    context.stage(stages[static_cast<std::size_t>(step * 8 / n)]);
    const std::int64_t k = lower ? step : n - 1 - step;
    const Columns changed = columns(k);
    const Step<T> s{a, x, k, lower ? k + 1 : 0, lower ? n : k, changed.first, changed.end};
    const dim3 block = block_for(s.end_row - s.row, threads, how);
    simt::launch(context, eliminate<T>,
                 dim3(pieces(s.end_column - s.column, block.y), pieces(s.end_row - s.row, block.x)), block, 0,
                 s);
  }
  context.stage("normalise");
  const auto block = static_cast<unsigned>(threads);
  simt::launch(context, normalise<T>, dim3(static_cast<unsigned>(x.cols), pieces(n, block)), dim3(block), 0,
               a, x);
}

/// x = A^-1 of the triangle `uplo` of `a`, which stays; the other triangle of x becomes 0. Asynchronous: the
/// host does not look at the diagonal, a 0 there ends in elements that are not finite.
template <class T>
void invert(Context& context, MatrixView<T> a, MatrixView<T> x, Uplo uplo, std::int64_t threads,
            Threads how) {
  const std::int64_t n = a.rows;
  const bool lower = uplo == Uplo::lower;
  context.stage("identity");
  set_identity(context, x);
  solve(context, a, x, uplo, threads, how, [=](std::int64_t k) {
    return lower ? Columns{0, k + 1} : Columns{k, n};
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::gets
