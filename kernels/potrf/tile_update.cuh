#pragma once
/// What lies between the launches of tile_chain.cuh: products subtracted from triangles, and copies of them.

#include "kernels/potrf/tile_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Block columns of a part of the result whose blocks run at the same time, so that they share operands.
constexpr int beside = 8;

/// Blocks of threads of one lower triangle of `size` rows, with those that are above the diagonal.
__host__ __device__ constexpr int subtract_blocks(int size, int columns) {
  return (size + columns * beside - 1) / (columns * beside) * ((size + 127) / 128) * beside;
}

/// C -= A A^T in the lower triangles of the blocks of `size` rows on the diagonal of C, `rows` rows in all. A
/// block of threads has 128 rows and Columns columns of one of them, subtract_blocks of threads have all of
/// it. A has `inner` columns. @pre size, rows and inner are multiples of 64
template <class T, int Columns, int Pieces>
__global__ void __launch_bounds__(threads, Columns == 64 ? 2 : 1)
    subtract_squares(const T* a, T* c, std::int64_t ld, bool packed, int rows, int size, int inner) {
#if GAUSSWEEP_CLUSTERS
  simt::await_launches_before();
  constexpr int down = 128 / Columns;  // block columns a block row
  using Product = TileProduct<T, 128, Columns, Columns / 32>;
  const int height = (size + 127) / 128;  // of a block column of `beside`
  const int number = static_cast<int>(blockIdx.x) % subtract_blocks(size, Columns);
  const int first = static_cast<int>(blockIdx.x) / subtract_blocks(size, Columns) * size;
  const int end = min(size, rows - first);
  const int band = number / (height * beside);
  const int column = (band * beside + number % beside) * Columns;
  const int row = (band * beside / down + number / beside % height) * 128;
  if (row >= end || column >= end || column >= row + 128) return;
  const int given = min(128, end - row);
  T* const own = c + first * (ld + 1) + row + column * ld;
  const int columns = min(Columns, end - column);
  // Above the diagonal nothing is stored, beyond the matrix nothing is read.
  const auto for_own = [&](Product& product, auto visit) {
    product.for_pairs([&](int i, int j, T& first_of_pair, T& second_of_pair) {
      visit(i, j, first_of_pair, i < given && j < columns && row + i >= column + j);
      visit(i + 1, j, second_of_pair, i + 1 < given && j < columns && row + i + 1 >= column + j);
    });
  };
  Product product;
  for_own(product, [&](int i, int j, T& value, bool inside) { value = inside ? own[i + j * ld] : T(0); });
  for_own(product, [&](int, int, T& value, bool) { value = -value; });
  EverythingThere gate;
  product.template add_tiles<Pieces>(simt::dynamic_shared<T>(), {a + first + row, given},
                                     {a + first + column, columns}, ld, packed, inner / order, gate);
  for_own(product, [&](int i, int j, T& value, bool inside) {
    if (inside) own[i + j * ld] = -value;
  });
#endif
}

/// The triangle of the matrix of order n at `matrix` (upper: of its transpose) to the lower one at `own`,
/// whose order is the next multiple of 64, continued by an identity; or, `back`, from there. A block copies
/// 32 x 32.
template <class T>
__global__ void __launch_bounds__(256)
    copy_triangle(T* matrix, std::int64_t ld, int n, bool upper, T* own, std::int64_t ld_own, bool back) {
  __shared__ T square[32][33];
  if (blockIdx.y > blockIdx.x) return;
  const int first_row = static_cast<int>(blockIdx.x) * 32, first_column = static_cast<int>(blockIdx.y) * 32;
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  // x runs along the columns of what is read, then of what is written.
  const auto each = [&](bool turned, auto visit) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < 4; ++k) turned ? visit(y + 8 * k, x) : visit(x, y + 8 * k);
  };
  const auto place = [&](int i, int j) { return matrix + (upper ? j + i * ld : i + j * ld); };
  each(upper && !back, [&](int r, int c) {
    const int i = first_row + r, j = first_column + c;
    if (back) {
      square[r][c] = own[i + j * ld_own];
    } else {
      square[r][c] = i == j ? T(1) : T(0);
      if (i < n && j <= i) square[r][c] = *place(i, j);
    }
  });
  __syncthreads();
  each(upper && back, [&](int r, int c) {
    const int i = first_row + r, j = first_column + c;
    if (!back) {
      own[i + j * ld_own] = square[r][c];
    } else if (i < n && j <= i) {
      *place(i, j) = square[r][c];
    }
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
