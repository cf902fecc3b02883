#pragma once
/// The blocked Cholesky factorisation of J. Soriano, IIT 2011, section 5.2.2, shared by potrf/blocked,
/// potrf/blocked_simultaneous and poinv/cholesky_gets.
///
/// Blocks have 16 x 16 elements, one per thread. The kernels have the paper's names. For each diagonal block,
/// kernel `topleft` factorises it and kernel `strip` solves for the blocks below it. The products of the
/// solved blocks are then subtracted from the trailing blocks. Kernel `diagupdate` updates the diagonal
/// blocks. Kernel `loupdate` updates the blocks below the diagonal, with one thread block per block column.
/// Alternatively one launch of `update` updates all trailing blocks, with one thread block per block.
///
/// This version works for any n (elements beyond the edge of the matrix count as 0) and for both triangles.
/// The comments describe L; with `upper`, L^T is stored. Every product is subtracted with one fma. All
/// backends (GPU, CPU) and both kinds of updates therefore give the same bits.

#include <cmath>
#include <cstdint>

#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::cholesky {

constexpr int block_order = 16;  ///< order of a block

/// The symmetric matrix, whose lower or upper triangle is read and overwritten by the Cholesky factor.
template <class T>
struct FactorView {
  T* data;
  std::int64_t n;
  std::int64_t ld;
  bool upper;
  int* info;

  /// Returns element (i, j) of L, which is element (j, i) of a stored upper triangle.
  __host__ __device__ T& at(std::int64_t i, std::int64_t j) const {
    return upper ? data[j + i * ld] : data[i + j * ld];
  }
  __host__ __device__ std::int64_t blocks() const { return (n + block_order - 1) / block_order; }
};

/// The row and column of the thread's element in a block of L. Neighbouring threads access neighbouring
/// addresses.
struct BlockElement {
  int i, j;
};
template <class T>
__device__ __forceinline__ BlockElement element_in(const FactorView<T>& a) {
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  return a.upper ? BlockElement{y, x} : BlockElement{x, y};
}

/// A block in shared memory; the padding avoids bank conflicts.
template <class T>
using Block = T[block_order][block_order + 1];

/// Loads block (bi, bj) of L, one element per thread.
template <class T>
__device__ __forceinline__ void load(Block<T>& block, const FactorView<T>& a, std::int64_t bi,
                                     std::int64_t bj) {
  const BlockElement p = element_in(a);
  const std::int64_t i = bi * block_order + p.i;
  const std::int64_t j = bj * block_order + p.j;
  block[p.i][p.j] = i < a.n && j < a.n ? a.at(i, j) : T(0);
}

/// Returns the thread's element of a block's lower triangle, numbered row by row.
__device__ __forceinline__ BlockElement element_in_triangle() {
  const int number = static_cast<int>(threadIdx.x);
  int row = 0;
  while ((row + 1) * (row + 2) / 2 <= number) ++row;
  return {row, number - row * (row + 1) / 2};
}

/// The number of elements of a block's lower triangle.
constexpr unsigned triangle_threads = block_order * (block_order + 1) / 2;

/// Factorises block (b, b) with one thread block: 16 x 16 threads, or if `triangle` one thread per element of
/// the lower triangle. The first pivot that is not positive sets *info (from 1) and ends the factorisation.
template <class T, bool triangle>
__global__ void __launch_bounds__(block_order* block_order) topleft(FactorView<T> a, std::int64_t b) {
  __shared__ Block<T> block;
  if (*a.info != 0) return;
  const BlockElement p = triangle ? element_in_triangle() : element_in(a);
  const std::int64_t first = b * block_order;
  const int size = static_cast<int>(a.n - first < block_order ? a.n - first : block_order);
  block[p.i][p.j] = p.i < size && p.j < size ? a.at(first + p.i, first + p.j) : T(0);
  for (int k = 0; k < size; ++k) {
    __syncthreads();
    const T pivot = block[k][k];
    if (!(pivot > T(0))) {  // also true for NaN
      if (p.i == 0 && p.j == 0) *a.info = static_cast<int>(first + k + 1);
      return;
    }
    __syncthreads();  // all threads have read the pivot before it is overwritten
    const T root = std::sqrt(pivot);
    if (p.j == k && p.i >= k) block[p.i][k] = p.i == k ? root : block[p.i][k] / root;
    __syncthreads();
    if (p.j > k && p.i >= p.j) block[p.i][p.j] = std::fma(-block[p.i][k], block[p.j][k], block[p.i][p.j]);
  }
  if (p.i >= p.j && p.i < size) a.at(first + p.i, first + p.j) = block[p.i][p.j];
}

/// Computes L(i, b) = A(i, b) L(b, b)^-T for the blocks i below b; thread block x computes i = b + 1 + x. As
/// in the paper, only 16 threads solve, one row each; all threads load and store.
template <class T>
__global__ void __launch_bounds__(block_order* block_order) strip(FactorView<T> a, std::int64_t b) {
  __shared__ Block<T> diagonal_block;
  __shared__ Block<T> solution;
  if (*a.info != 0) return;
  const std::int64_t bi = b + 1 + blockIdx.x;
  load(diagonal_block, a, b, b);
  load(solution, a, bi, b);
  __syncthreads();
  if (threadIdx.y == 0) {
    T* const row = solution[threadIdx.x];
    for (int k = 0; k < block_order; ++k) {
      T remainder = row[k];
      for (int m = 0; m < k; ++m) remainder = std::fma(-diagonal_block[k][m], row[m], remainder);
      row[k] = remainder / diagonal_block[k][k];
    }
  }
  __syncthreads();
  const BlockElement p = element_in(a);
  const std::int64_t i = bi * block_order + p.i;
  if (i < a.n) a.at(i, b * block_order + p.j) = solution[p.i][p.j];
}

/// Subtracts the product of `left` and the transpose of `right` from block (bi, bj).
template <class T>
__device__ __forceinline__ void subtract(const FactorView<T>& a, std::int64_t bi, std::int64_t bj,
                                         const Block<T>& left, const Block<T>& right) {
  const BlockElement p = element_in(a);
  const std::int64_t i = bi * block_order + p.i;
  const std::int64_t j = bj * block_order + p.j;
  if (i >= a.n || j > i) return;
  T value = a.at(i, j);
  for (int k = 0; k < block_order; ++k) value = std::fma(-left[p.i][k], right[p.j][k], value);
  a.at(i, j) = value;
}

/// Computes A(i, i) -= L(i, b) L(i, b)^T; thread block x computes i = b + 1 + x.
template <class T>
__global__ void __launch_bounds__(block_order* block_order) diagupdate(FactorView<T> a, std::int64_t b) {
  __shared__ Block<T> left;
  if (*a.info != 0) return;
  const std::int64_t bi = b + 1 + blockIdx.x;
  load(left, a, bi, b);
  __syncthreads();
  subtract(a, bi, bi, left, left);
}

/// Computes A(i, j) -= L(i, b) L(j, b)^T below the diagonal. Thread block x updates block column
/// j = b + 1 + x: all blocks i > j, one after another.
template <class T>
__global__ void __launch_bounds__(block_order* block_order) loupdate(FactorView<T> a, std::int64_t b) {
  __shared__ Block<T> left;
  __shared__ Block<T> right;
  if (*a.info != 0) return;
  const std::int64_t bj = b + 1 + blockIdx.x;
  load(right, a, bj, b);
  for (std::int64_t bi = bj + 1; bi < a.blocks(); ++bi) {
    load(left, a, bi, b);
    __syncthreads();
    subtract(a, bi, bj, left, right);
    __syncthreads();  // all threads have read this block before the next one overwrites it
  }
}

/// Does the work of diagupdate and loupdate in one launch; thread block x updates block x of the trailing
/// triangle, numbered row by row.
template <class T>
__global__ void __launch_bounds__(block_order* block_order) update(FactorView<T> a, std::int64_t b) {
  __shared__ Block<T> left;
  __shared__ Block<T> right;
  if (*a.info != 0) return;
  const std::int64_t number = blockIdx.x;
  // Row r begins at number r (r + 1) / 2. The square root is rounded, so `row` may be off by one.
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

/// The trailing updates: by diagupdate and loupdate, or by one launch of `update`.
enum class Update { sequential, simultaneous };
/// The threads of topleft: one per element of the block, or of its lower triangle.
enum class Topleft { square, triangle };

/// Replaces the triangle `uplo` of `a` by its Cholesky factor. Asynchronous. *info, which must be 0, becomes
/// LAPACK's info. If a pivot is not positive, its block column and all later ones are not factorised. They
/// keep the values from the updates by earlier block columns.
template <class T>
void factorise(Context& context, MatrixView<T> a, Uplo uplo, Update update_kind, Topleft topleft_threads,
               int* info) {
  const FactorView<T> factor{a.data, a.rows, a.ld, uplo == Uplo::upper, info};
  const dim3 block(block_order, block_order);
  const std::int64_t blocks = factor.blocks();
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto below = static_cast<unsigned>(blocks - 1 - b);
    context.stage("topleft");
    if (topleft_threads == Topleft::triangle) {
      simt::launch(context, topleft<T, true>, dim3(1), dim3(triangle_threads), 0, factor, b);
    } else {
      simt::launch(context, topleft<T, false>, dim3(1), block, 0, factor, b);
    }
    if (below == 0) return;
    context.stage("strip");
    simt::launch(context, strip<T>, dim3(below), block, 0, factor, b);
    if (update_kind == Update::simultaneous) {
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
