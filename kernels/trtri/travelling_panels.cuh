#pragma once
/// Applies panels of a distributed triangle to a GPU's block columns of its inverse. To apply a panel means
/// to perform the steps of the substitution that use it. Each panel is first copied to all GPUs, hence the
/// name.

#include <cstddef>
#include <cstdint>

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/getrf/distributed_panels.cuh"
#include "kernels/getrf/peer_columns.cuh"
#include "kernels/getrf/recursive_lu.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

/// A copy of adjacent block columns of a triangle. A panel of a lower triangle begins with the rows of its
/// diagonal block. A panel of an upper triangle ends with them.
template <class T>
struct TrianglePanel {
  T* a;
  std::int64_t ld;
  int rows, columns;
};

/// Performs the steps of forward substitution that use one panel of a unit lower triangular L. The diagonal
/// of L is not read. The first l.columns rows of C become L^-1 C. The product of the panel's other rows and
/// these rows is subtracted from the rows of C below.
/// @tparam Corrects true if L may have elements above 1: solutions are then corrected if the inverse of an 8
/// x 8 tile is ill-conditioned
/// @param c first element of C in the panel's first row
/// @param count number of columns of C
template <bool Corrects, class T>
void apply_lower(Context& context, const TrianglePanel<T>& l, T* c, std::int64_t ldc, std::int64_t count) {
  const int columns = static_cast<int>(count);
  if (columns == 0) return;
  // A solution is not corrected if the column sums of the 8 x 8 tile and of its inverse are at most this.
  constexpr double max_uncorrected_sum = 32;
  const auto subtract = [&](int row, int rows, int first, int k) {
    if (rows == 0) return;
    vendor_gemm(context, vendor::Op::none, vendor::Op::none, rows, columns, k, T(-1),
                l.a + row + first * l.ld, l.ld, c + first, ldc, T(1), c + row, ldc);
  };
  const auto solve_block = [&](int row, int rows) {
    lu::solve_in_one_launch<lu::RowOrder::plain, Corrects>(
        context, l.a + row * (l.ld + 1), l.ld, rows, c + row, ldc, columns, static_cast<const T*>(nullptr),
        max_uncorrected_sum);
  };
  lu::solve_by_blocks(0, l.columns, solve_block, subtract);
  subtract(l.columns, l.rows - l.columns, /*first=*/0, l.columns);
}

/// Performs the steps of back substitution that use one panel of U. The last u.columns rows of C become U^-1
/// C. The product of the panel's other rows and these rows is subtracted from the rows of C above.
/// @param c first element of C in the panel's first row
/// @param count number of columns of C
/// @param reversed workspace of u.columns x lu::max_solve_rows_per_launch elements
/// @param reciprocals workspace of u.columns elements
template <class T>
void apply_upper(Context& context, const TrianglePanel<T>& u, T* c, std::int64_t ldc, std::int64_t count,
                 T* reversed, T* reciprocals) {
  const int columns = static_cast<int>(count), above = u.rows - u.columns;
  if (columns == 0) return;
  UpperSolve<T, lu::NoProducts>{context, u.a + above, u.ld,     u.columns,   c + above,
                                ldc,     columns,     reversed, reciprocals, nullptr}
      .solve();
  if (above == 0) return;
  vendor_gemm(context, vendor::Op::none, vendor::Op::none, above, columns, u.columns, T(-1), u.a, u.ld,
              c + above, ldc, T(1), c, ldc);
}

/// Sets rows [row, row + rows) of a GPU's columns of an inverse to those of the identity. One thread block
/// per column.
/// @param x the element in row `row` of the matrix and column `local` of the GPU's columns
/// @param own own.global(i) is the matrix column of the GPU's column i
template <class T>
__global__ void __launch_bounds__(threads)
    start_columns(T* x, std::int64_t ld, int row, int rows, LocalColumns own, int local) {
  const int column = static_cast<int>(blockIdx.x), diagonal = own.global(local + column) - row;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x))
    x[i + column * ld] = T(i == diagonal ? 1 : 0);
}

/// Sets rows [row, row + rows) of the inverse to those of the identity, in the GPU's columns that belong to
/// the blocks [first, last).
template <class T>
void start_blocks(Context& context, DistributedPanels<T>& panels, int gpu, std::int64_t first,
                  std::int64_t last, std::int64_t row, int rows) {
  const ColumnBlocks& blocks = panels.blocks();
  const std::int64_t local = blocks.columns_before(first, gpu);
  const std::int64_t columns = blocks.columns_before(last, gpu) - local;
  if (columns == 0) return;
  simt::launch(context, start_columns<T>, dim3(static_cast<unsigned>(columns)), dim3(threads), 0,
               panels.local_column(gpu, local, row), panels.ld(gpu), static_cast<int>(row), rows,
               LocalColumns(blocks, gpu), static_cast<int>(local));
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
