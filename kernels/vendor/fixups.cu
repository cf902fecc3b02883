/// Portable kernels (for the GPU and the CPU) that prepare the operands of vendor routines or complete their
/// results.

#include "kernels/vendor/fixups.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int no_zero_pivot = 0x7fffffff;  ///< the initial value of an atomicMin, larger than any index

/// Sets *info to the first i (from 1) with a(i, i) = 0. It uses one thread block, so that no second launch is
/// needed to combine results.
template <class T>
__global__ void zero_diagonal_kernel(MatrixView<T> a, int* info) {
  __shared__ int first;
  if (threadIdx.x == 0) first = no_zero_pivot;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < a.rows; i += blockDim.x) {
    if (a.data[i + i * a.ld] == T(0)) atomicMin(&first, static_cast<int>(i + 1));
  }
  __syncthreads();
  if (threadIdx.x == 0 && first != no_zero_pivot) *info = first;
}

/// The row and column of element k (in memory order) in a grid-stride loop over a matrix.
struct ElementPosition {
  std::int64_t i, j;
};
template <class T>
__device__ __forceinline__ ElementPosition position_of(const MatrixView<T>& a, std::int64_t k) {
  return {k % a.rows, k / a.rows};
}

/// Return the start and the step of this thread's grid-stride loop.
__device__ __forceinline__ std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t index_step() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

constexpr int tile_order = 32;
constexpr int tile_columns = 8;  ///< columns of a tile that a block processes at a time

/// Copies the triangle `uplo` of `from` to both triangles of `to`. A thread block copies and transposes one
/// tile through shared memory, so that reads and writes are coalesced.
template <class T>
__global__ void mirror_kernel(Uplo uplo, MatrixView<T> from, MatrixView<T> to) {
  __shared__ T staged[tile_order][tile_order + 1];
  const bool lower = uplo == Uplo::lower;
  if (lower ? blockIdx.x < blockIdx.y : blockIdx.x > blockIdx.y) return;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * tile_order;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * tile_order;
  const int t = static_cast<int>(threadIdx.x);
  for (int c = static_cast<int>(threadIdx.y); c < tile_order; c += tile_columns) {
    const std::int64_t i = row + t, j = column + c;
    if (i >= to.rows || j >= to.cols) continue;
    staged[c][t] = from.data[i + j * from.ld];
    if (from.data != to.data && (lower ? i >= j : i <= j)) to.data[i + j * to.ld] = staged[c][t];
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.y); c < tile_order; c += tile_columns) {
    const std::int64_t i = column + t, j = row + c;  // in the other triangle
    if (i < to.rows && j < to.cols && (lower ? i < j : i > j)) to.data[i + j * to.ld] = staged[t][c];
  }
}

template <class T>
__global__ void identity_kernel(MatrixView<T> a) {
  for (std::int64_t k = first_index(); k < a.rows * a.cols; k += index_step()) {
    const ElementPosition p = position_of(a, k);
    a.data[p.i + p.j * a.ld] = p.i == p.j ? T(1) : T(0);
  }
}

template <class T>
__global__ void pointers_kernel(T** pointers, T* first, std::int64_t step, std::int64_t count) {
  for (std::int64_t s = first_index(); s < count; s += index_step()) pointers[s] = first + s * step;
}

/// Does the same as zero_diagonal_kernel for each n x n matrix of a batch (rows = n), with one thread per
/// matrix.
template <class T>
__global__ void zero_diagonals_kernel(MatrixView<T> a, int* infos, std::int64_t batch) {
  for (std::int64_t s = first_index(); s < batch; s += index_step()) {
    const T* const matrix = a.data + s * a.rows * a.ld;
    std::int64_t i = 0;
    while (i < a.rows && matrix[i + i * a.ld] != T(0)) ++i;
    if (i < a.rows) infos[s] = static_cast<int>(i + 1);
  }
}

__global__ void shift_kernel(int* pivots, std::int64_t n, int offset) {
  for (std::int64_t k = first_index(); k < n; k += index_step()) pivots[k] += offset;
}

__global__ void no_exchange_kernel(int* pivots, std::int64_t n, std::int64_t count) {
  for (std::int64_t k = first_index(); k < count; k += index_step()) pivots[k] = static_cast<int>(k % n);
}

template <class T>
__global__ void copy_triangle_kernel(Uplo uplo, MatrixView<T> from, MatrixView<T> to) {
  for (std::int64_t k = first_index(); k < to.rows * to.cols; k += index_step()) {
    const auto [i, j] = position_of(to, k);
    if (uplo == Uplo::lower ? i >= j : i <= j) to.data[i + j * to.ld] = from.data[i + j * from.ld];
  }
}

constexpr int threads = 128;

/// Returns the number of blocks for `count` elements, at most 8192, which is enough for any GPU.
dim3 blocks_for(std::int64_t count) {
  return dim3(static_cast<unsigned>(std::min<std::int64_t>((count + threads - 1) / threads, 8192)));
}

}  // namespace

template <class T>
void find_zero_diagonal(Context& context, MatrixView<T> a, int* info) {
  const auto block = static_cast<unsigned>(std::min<std::int64_t>((a.rows + 31) / 32 * 32, 1024));
  simt::launch(context, zero_diagonal_kernel<T>, dim3(1), dim3(block), 0, a, info);
}

template <class T>
void find_zero_diagonals(Context& context, MatrixView<T> a, int* infos, std::int64_t batch) {
  simt::launch(context, zero_diagonals_kernel<T>, blocks_for(batch), dim3(threads), 0, a, infos, batch);
}

template <class T>
void mirror_triangle(Context& context, Uplo uplo, MatrixView<T> from, MatrixView<T> to) {
  const auto tiles = static_cast<unsigned>((to.rows + tile_order - 1) / tile_order);
  simt::launch(context, mirror_kernel<T>, dim3(tiles, tiles), dim3(tile_order, tile_columns), 0, uplo, from,
               to);
}

template <class T>
void set_identity(Context& context, MatrixView<T> a) {
  simt::launch(context, identity_kernel<T>, blocks_for(a.rows * a.cols), dim3(threads), 0, a);
}

template <class T>
void set_pointers(Context& context, T** pointers, T* first, std::int64_t step, std::int64_t count) {
  simt::launch(context, pointers_kernel<T>, blocks_for(count), dim3(threads), 0, pointers, first, step,
               count);
}

void make_pivots_zero_based(Context& context, int* pivots, std::int64_t n) {
  simt::launch(context, shift_kernel, blocks_for(n), dim3(threads), 0, pivots, n, /*offset=*/-1);
}

void make_pivots_one_based(Context& context, int* pivots, std::int64_t n) {
  simt::launch(context, shift_kernel, blocks_for(n), dim3(threads), 0, pivots, n, /*offset=*/1);
}

void set_no_exchange(Context& context, int* pivots, std::int64_t n, std::int64_t count) {
  simt::launch(context, no_exchange_kernel, blocks_for(count), dim3(threads), 0, pivots, n, count);
}

template <class T>
void copy_triangle(Context& context, Uplo uplo, MatrixView<T> from, MatrixView<T> to) {
  simt::launch(context, copy_triangle_kernel<T>, blocks_for(to.rows * to.cols), dim3(threads), 0, uplo, from,
               to);
}

template void find_zero_diagonal<float>(Context&, MatrixView<float>, int*);
template void find_zero_diagonal<double>(Context&, MatrixView<double>, int*);
template void find_zero_diagonals<float>(Context&, MatrixView<float>, int*, std::int64_t);
template void find_zero_diagonals<double>(Context&, MatrixView<double>, int*, std::int64_t);
template void mirror_triangle<float>(Context&, Uplo, MatrixView<float>, MatrixView<float>);
template void mirror_triangle<double>(Context&, Uplo, MatrixView<double>, MatrixView<double>);
template void set_pointers<float>(Context&, float**, float*, std::int64_t, std::int64_t);
template void set_pointers<double>(Context&, double**, double*, std::int64_t, std::int64_t);
template void copy_triangle<float>(Context&, Uplo, MatrixView<float>, MatrixView<float>);
template void copy_triangle<double>(Context&, Uplo, MatrixView<double>, MatrixView<double>);
template void set_identity<float>(Context&, MatrixView<float>);
template void set_identity<double>(Context&, MatrixView<double>);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
