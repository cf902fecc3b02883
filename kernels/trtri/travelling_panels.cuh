#pragma once
/// Panels of a triangle that go from the GPU that owns the block column to all GPUs, and their application to
/// block columns of an inverse.

#include <cstddef>
#include <cstdint>

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/getrf/distributed_panels.cuh"
#include "kernels/getrf/peer_columns.cuh"
#include "kernels/getrf/recursive_lu.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

/// Block columns of a triangle on one GPU: of a lower triangle from their first row down, of an upper
/// triangle down to their last row.
template <class T>
struct TrianglePanel {
  T* a;
  std::int64_t ld;
  int rows, columns;
};

/// Writes a panel on its owner and copies it to all other GPUs, on their streams for copies.
/// @param write write(context, block): returns the bytes of the panel
template <class T, class Write>
void send_panel(DistributedPanels<T>& panels, std::int64_t block, const Write& write) {
  DeviceGroup& group = panels.group();
  const int count = panels.blocks().gpus, owner = panels.blocks().gpu_of(block);
  group.stage(count, "panel");
  Device& device = group.device(owner);
  // The panel's memory is free once the other GPUs have copied the panel before the last one from it.
  for (int gpu = 0; gpu < count; ++gpu) {
    if (gpu != owner) device.wait_for(group.copies(gpu));
  }
  const std::size_t bytes = write(group.use(owner), block);
  group.stage(count, "transfer");
  for (int gpu = 0; gpu < count; ++gpu) {
    if (gpu == owner) continue;
    Device& copies = group.copies(gpu);
    copies.wait_for(device);
    copies.wait_for(group.device(gpu));  // which has queued its last use of the panel before the last one
    copies.copy(panels.panel(gpu, block), panels.panel(owner, block), bytes);
  }
}

/// Solves with a unit lower triangular panel of L, whose diagonal is not read: C = L^-1 C in the first rows
/// of the `count` columns at `c`, and subtracts the product from the rows below.
/// @tparam Corrects true if L may have elements above 1: solutions with ill-conditioned inverses of 8 x 8
/// tiles are then corrected
template <bool Corrects, class T>
void apply_lower(Context& context, const TrianglePanel<T>& l, T* c, std::int64_t ldc, std::int64_t count) {
  const int columns = static_cast<int>(count);
  if (columns == 0) return;
  constexpr double trusted = 32;  // as UpperSolve::trusted
  const auto subtract = [&](int row, int rows, int before, int k) {
    if (rows == 0) return;
    vendor_gemm(context, vendor::Op::none, vendor::Op::none, rows, columns, k, T(-1),
                l.a + row + before * l.ld, l.ld, c + before, ldc, T(1), c + row, ldc);
  };
  const auto solve_block = [&](int row, int rows) {
    lu::solve_in_one_launch<lu::RowOrder::plain, Corrects>(context, l.a + row * (l.ld + 1), l.ld, rows,
                                                           c + row, ldc, columns,
                                                           static_cast<const T*>(nullptr), trusted);
  };
  lu::solve_by_blocks(0, l.columns, solve_block, subtract);
  subtract(l.columns, l.rows - l.columns, 0, l.columns);
}

/// Does the same with a panel of U: C = U^-1 C in the last rows, and subtracts the product from the rows
/// above.
/// @param reversed, reciprocals workspace for `u.columns` x lu::solve_rows and `u.columns` elements
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

/// Sets a GPU's columns of an inverse to those of the identity. A thread block takes a column.
/// @param x the first row, row `row` of the matrix, of the GPU's column `local`
template <class T>
__global__ void __launch_bounds__(threads)
    start_columns(T* x, std::int64_t ld, int row, int rows, OwnColumns own, int local) {
  const int column = static_cast<int>(blockIdx.x), diagonal = own.global(local + column) - row;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x))
    x[i + column * ld] = T(i == diagonal ? 1 : 0);
}

/// Starts the columns of L^-1 or U^-1 in the blocks [first, last) that a GPU owns, in `rows` rows from `row`
/// on.
template <class T>
void start_blocks(Context& context, DistributedPanels<T>& panels, int gpu, std::int64_t first,
                  std::int64_t last, std::int64_t row, int rows) {
  const ColumnBlocks& blocks = panels.blocks();
  const std::int64_t local = blocks.columns_before(first, gpu);
  const std::int64_t columns = blocks.columns_before(last, gpu) - local;
  if (columns == 0) return;
  simt::launch(context, start_columns<T>, dim3(static_cast<unsigned>(columns)), dim3(threads), 0,
               panels.local_column(gpu, local, row), panels.ld(gpu), static_cast<int>(row), rows,
               OwnColumns(blocks, gpu), static_cast<int>(local));
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
