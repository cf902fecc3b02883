#pragma once
/// The blocked Cholesky factorisation of J. Soriano, IIT 2011, section 5.2.2, as potrf/blocked,
/// potrf/blocked_simultaneous and poinv/cholesky_gets share it.
///
/// Blocks of 16 x 16 elements, a thread an element. For each block on the diagonal, `topleft` factorises it
/// and `strip` solves for the blocks below it. Their products are subtracted from all that is right of and
/// below it. `diagupdate` does so for blocks on the diagonal, `loupdate` for the others: a thread block a
/// column of blocks, one after another down. Or `update` does, a thread block a block, all at once.
///
/// Here for any n, with 0 beyond the edge, and for both triangles. Everything is said of L, and U is stored
/// where L^T would be. Every product that is subtracted is one fma, so that all backends agree to the
/// bit, and so do both ways to update.

#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::cholesky {

constexpr int tile = 16;

/// The symmetric matrix, of which one triangle is read and overwritten.
template <class T>
struct Factor {
  T* data;
  std::int64_t n;
  std::int64_t ld;
  bool upper;
  int* info;

  __host__ __device__ T& at(std::int64_t i, std::int64_t j) const {
    return upper ? data[j + i * ld] : data[i + j * ld];
  }
  __host__ __device__ std::int64_t blocks() const { return (n + tile - 1) / tile; }
};

/// This thread's place in a block of L, so that neighbouring threads have neighbouring addresses.
struct Place {
  int i, j;
};
template <class T>
__device__ __forceinline__ Place place_in(const Factor<T>& a) {
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  return a.upper ? Place{y, x} : Place{x, y};
}

/// A block in shared memory; the padding keeps rows and columns apart in the banks.
template <class T>
using Block = T[tile][tile + 1];

/// Every thread loads its element of block (bi, bj) of L.
template <class T>
__device__ __forceinline__ void load(Block<T>& block, const Factor<T>& a, std::int64_t bi, std::int64_t bj) {
  const Place p = place_in(a);
  const std::int64_t i = bi * tile + p.i;
  const std::int64_t j = bj * tile + p.j;
  block[p.i][p.j] = i < a.n && j < a.n ? a.at(i, j) : T(0);
}

/// The place in the lower triangle of a block whose number, counted row by row, is this thread's.
__device__ __forceinline__ Place place_in_triangle() {
  const int number = static_cast<int>(threadIdx.x);
  int row = 0;
  while ((row + 1) * (row + 2) / 2 <= number) ++row;
  return {row, number - row * (row + 1) / 2};
}

/// Elements of a block's lower triangle.
constexpr unsigned triangle_threads = tile * (tile + 1) / 2;

/// Factorises block (b, b): one thread block, of 16 x 16 threads, or, `triangle`, of as many as the lower
/// triangle has elements. The first pivot that is not positive goes to *info, from 1, and ends the block
/// there.
template <class T, bool triangle>
__global__ void __launch_bounds__(tile* tile) topleft(Factor<T> a, std::int64_t b) {
  __shared__ Block<T> block;
  if (*a.info != 0) return;
  const Place p = triangle ? place_in_triangle() : place_in(a);
  const std::int64_t first = b * tile;
  const int size = static_cast<int>(a.n - first < tile ? a.n - first : tile);
  block[p.i][p.j] = p.i < size && p.j < size ? a.at(first + p.i, first + p.j) : T(0);
  for (int k = 0; k < size; ++k) {
    __syncthreads();
    const T pivot = block[k][k];
    if (!(pivot > T(0))) {  // NaN too
      if (p.i == 0 && p.j == 0) *a.info = static_cast<int>(first + k + 1);
      return;
    }
    __syncthreads();  // all have read the pivot before its place is overwritten
    const T root = std::sqrt(pivot);
    if (p.j == k && p.i >= k) block[p.i][k] = p.i == k ? root : block[p.i][k] / root;
    __syncthreads();
    if (p.j > k && p.i >= p.j) block[p.i][p.j] = std::fma(-block[p.i][k], block[p.j][k], block[p.i][p.j]);
  }
  if (p.i >= p.j && p.i < size) a.at(first + p.i, first + p.j) = block[p.i][p.j];
}

/// L(i, b) = A(i, b) L(b, b)^-T for the blocks i below b: thread block x takes i = b + 1 + x. Its rows are
/// solved by 16 threads, a thread a row, as in the paper; all of them load and store.
template <class T>
__global__ void __launch_bounds__(tile* tile) strip(Factor<T> a, std::int64_t b) {
  __shared__ Block<T> corner;
  __shared__ Block<T> work;
  if (*a.info != 0) return;
  const std::int64_t bi = b + 1 + blockIdx.x;
  load(corner, a, b, b);
  load(work, a, bi, b);
  __syncthreads();
  if (threadIdx.y == 0) {
    T* const row = work[threadIdx.x];
    for (int k = 0; k < tile; ++k) {
      T rest = row[k];
      for (int m = 0; m < k; ++m) rest = std::fma(-corner[k][m], row[m], rest);
      row[k] = rest / corner[k][k];
    }
  }
  __syncthreads();
  const Place p = place_in(a);
  const std::int64_t i = bi * tile + p.i;
  if (i < a.n) a.at(i, b * tile + p.j) = work[p.i][p.j];
}

/// a(i, j) less the product of two blocks' rows.
template <class T>
__device__ __forceinline__ void subtract(const Factor<T>& a, std::int64_t bi, std::int64_t bj,
                                         const Block<T>& left, const Block<T>& right) {
  const Place p = place_in(a);
  const std::int64_t i = bi * tile + p.i;
  const std::int64_t j = bj * tile + p.j;
  if (i >= a.n || j > i) return;
  T value = a.at(i, j);
  for (int k = 0; k < tile; ++k) value = std::fma(-left[p.i][k], right[p.j][k], value);
  a.at(i, j) = value;
}

/// A(i, i) -= L(i, b) L(i, b)^T: thread block x takes i = b + 1 + x.
template <class T>
__global__ void __launch_bounds__(tile* tile) diagupdate(Factor<T> a, std::int64_t b) {
  __shared__ Block<T> left;
  if (*a.info != 0) return;
  const std::int64_t bi = b + 1 + blockIdx.x;
  load(left, a, bi, b);
  __syncthreads();
  subtract(a, bi, bi, left, left);
}

/// A(i, j) -= L(i, b) L(j, b)^T below the diagonal: thread block x takes j = b + 1 + x and all i > j, one
/// after another.
template <class T>
__global__ void __launch_bounds__(tile* tile) loupdate(Factor<T> a, std::int64_t b) {
  __shared__ Block<T> left;
  __shared__ Block<T> right;
  if (*a.info != 0) return;
  const std::int64_t bj = b + 1 + blockIdx.x;
  load(right, a, bj, b);
  for (std::int64_t bi = bj + 1; bi < a.blocks(); ++bi) {
    load(left, a, bi, b);
    __syncthreads();
    subtract(a, bi, bj, left, right);
    __syncthreads();  // all are done with this block before the next overwrites it
  }
}

/// Both updates at once: thread block x takes the x-th block of the triangle right of and below b, counted
/// row by row.
template <class T>
__global__ void __launch_bounds__(tile* tile) update(Factor<T> a, std::int64_t b) {
  __shared__ Block<T> left;
  __shared__ Block<T> right;
  if (*a.info != 0) return;
  const std::int64_t number = blockIdx.x;
  // Row r begins at number r (r + 1) / 2; the root is rounded, so it may be one off.
  auto row = static_cast<std::int64_t>((std::sqrt(8.0 * static_cast<double>(number) + 1) - 1) / 2);
  if (row * (row + 1) / 2 > number) --row;
  if ((row + 1) * (row + 2) / 2 <= number) ++row;
  const std::int64_t bi = b + 1 + row;
  const std::int64_t bj = b + 1 + number - row * (row + 1) / 2;
  load(left, a, bi, b);
  load(right, a, bj, b);
  __syncthreads();
  subtract(a, bi, bj, left, right);
}

enum class Update { sequential, simultaneous };
/// The threads of topleft: one an element of the block, or of its lower triangle.
enum class Topleft { square, triangle };

/// Replaces the triangle `uplo` of `a` by its Cholesky factor. Asynchronous; *info, 0 at the start, becomes
/// LAPACK's, and all that follows a pivot that is not positive is left as it was.
template <class T>
void factorise(Context& context, MatrixView<T> a, Uplo uplo, Update how, Topleft corner, int* info) {
  const Factor<T> factor{a.data, a.rows, a.ld, uplo == Uplo::upper, info};
  const dim3 block(tile, tile);
  const std::int64_t blocks = factor.blocks();
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto below = static_cast<unsigned>(blocks - 1 - b);
    context.stage("topleft");
    if (corner == Topleft::triangle) {
      simt::launch(context, topleft<T, true>, dim3(1), dim3(triangle_threads), 0, factor, b);
    } else {
      simt::launch(context, topleft<T, false>, dim3(1), block, 0, factor, b);
    }
    if (below == 0) return;
    context.stage("strip");
    simt::launch(context, strip<T>, dim3(below), block, 0, factor, b);
    if (how == Update::simultaneous) {
      context.stage("update");
      simt::launch(context, update<T>, dim3(below * (below + 1) / 2), block, 0, factor, b);
      continue;
    }
    context.stage("diagupdate");
    simt::launch(context, diagupdate<T>, dim3(below), block, 0, factor, b);
    if (below == 1) continue;
    context.stage("loupdate");
    simt::launch(context, loupdate<T>, dim3(below - 1), block, 0, factor, b);
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::cholesky
