#pragma once
/// LU factorisation with partial pivoting of a matrix whose block columns are distributed over several GPUs,
/// for getrf/multi_gpu, gesv/multi_gpu and geinv/multi_gpu.
///
/// recursive_lu.cuh factors a panel; distributed_panels.cuh schedules panels, copies and updates. A panel's
/// row exchanges are applied to the columns right of the panel as part of its update. Columns left of the
/// panel get the exchanges of all later panels together, at the end.

#include <vector>

#include "kernels/getrf/distributed_panels.cuh"
#include "kernels/getrf/recursive_lu.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// A factored panel on one GPU.
template <class T>
struct FactoredPanel {
  T* a;  ///< rows x columns, leading dimension `ld`; L below the diagonal
  std::int64_t ld;
  int rows, columns;
  int* pivots;  ///< from 1, relative to the panel's first row
  int* info;    ///< the panel's first column with a zero pivot, from 1; 0: none
  /// The panel's row order: for each row, its index before the panel's exchanges. Rows are counted from 0 at
  /// the panel's first row.
  int* source_rows;

  /// `memory` has panel_bytes (workspaces.hpp): the elements, pivots, info and row order, one after another.
  FactoredPanel(void* memory, std::int64_t row_count, std::int64_t column_count)
      : a(static_cast<T*>(memory)),
        ld(leading_dimension(row_count)),
        rows(static_cast<int>(row_count)),
        columns(static_cast<int>(column_count)),
        pivots(reinterpret_cast<int*>(a + ld * columns)),
        info(pivots + columns),
        source_rows(info + 1) {}
};

/// Converts a panel's pivots and info to row indices of the matrix and stores them in the arrays of the
/// matrix. Pivots are then counted from 0. @param first the panel's first row in the matrix
template <class T>
__global__ void collect_pivots(FactoredPanel<T> panel, int first, int* pivots, int* info) {
  for (int i = static_cast<int>(threadIdx.x); i < panel.columns; i += static_cast<int>(blockDim.x))
    pivots[first + i] = first + panel.pivots[i] - 1;
  if (threadIdx.x == 0 && *info == 0 && *panel.info > 0) *info = first + *panel.info;
}

/// Combines the exchanges of a panel with those of all later panels. Panels are processed from the last one
/// to the first, because block columns further left need the exchanges of more panels.
/// @param source_rows the panel's row order (FactoredPanel)
/// @param first the panel's first row in the matrix; the panel has `rows` rows
/// @param source in: for each row, its index before the exchanges of all later panels; out: its index before
/// this panel's exchanges as well
template <class Index>
__global__ void prepend_exchanges(const Index* source_rows, Index first, Index rows, Index* source) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < rows) source[first + i] = first + source_rows[source[first + i] - first];
}
/// Sets `source` to the identity permutation.
template <class Index>
__global__ void start_exchanges(Index* source, Index rows) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < rows) source[i] = i;
}

/// One factorisation P A = L U of the distributed matrix, in place.
template <class T>
class DistributedLu {
 public:
  /// @param parts per GPU: its block columns of A, and a workspace of multi_gpu_bytes (workspaces.hpp)
  /// @param pivots LAPACK's pivots, but from 0, on the first GPU
  /// @param info on the first GPU; must be 0; set to the index (from 1) of the first zero pivot, if any
  DistributedLu(Context& context, const ColumnBlocks& blocks, std::vector<OperandPart<T>>& parts, int* pivots,
                int* info)
      : panels_(context, blocks, parts, panel_bytes(blocks.n, blocks.width, sizeof(T))),
        blocks_(blocks),
        workspace_bytes_(in_place_bytes(blocks.n, sizeof(T))),
        pivots_(pivots),
        info_(info) {
    for (OperandPart<T>& part : parts) {
      workspaces_.push_back(
          part.workspace.template take<std::byte>(static_cast<std::int64_t>(workspace_bytes_)));
      exchanges_.push_back(part.workspace.template take<int>((blocks.count() + 1) * blocks.n));
      buffers_.push_back(part.workspace.template take<T>(column_buffers * blocks.n));
    }
  }

  /// Factors the matrix. If `b` (right-hand sides on the first GPU) is given, applies the row exchanges and
  /// L^-1 to `b`. The columns of L then do not get the row exchanges of later panels, because no step reads L
  /// afterwards. Asynchronous on the first GPU's stream.
  void factor(MatrixView<T> b = {}) {
    panels_.run(
        blocks_.count(),
        [this](Context& context, std::int64_t block) { return factor_panel(context, block); },
        [this](Device& device, std::int64_t block) { copy_back(device, block); },
        [this](int gpu, std::int64_t block, std::int64_t first, std::int64_t last, const Streams& streams) {
          update(gpu, block, first, last, streams);
        },
        [&](std::int64_t block) { finish(block, b); });
    if (b.cols == 0) exchange_left();
  }

 private:
  using Streams = typename DistributedPanels<T>::Streams;
  /// The minimum number of columns per stream: narrower products do not occupy a whole GPU.
  static constexpr std::int64_t min_columns = 2048;

  /// Returns the panel of a block column in the memory of a GPU.
  FactoredPanel<T> panel(int gpu, std::int64_t block) {
    return {panels_.panel(gpu, block), blocks_.n - blocks_.begin(block), blocks_.columns(block)};
  }
  static constexpr std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }

  /// Copies a block column to its panel on the owner and factors the panel. Returns the panel's bytes, which
  /// include its pivots, info and row order.
  std::size_t factor_panel(Context& context, std::int64_t block) {
    const int owner = blocks_.gpu_of(block);
    const FactoredPanel<T> factored = panel(owner, block);
    Device& device = context.device;
    device.copy_2d(factored.a, bytes_of(factored.ld), panels_.column(block, blocks_.begin(block)),
                   bytes_of(panels_.ld(owner)), bytes_of(factored.rows),
                   static_cast<std::size_t>(factored.columns));
    device.fill(factored.info, 0, sizeof(int));
    Workspace workspace(workspaces_[static_cast<std::size_t>(owner)], workspace_bytes_);
    RecursiveLu<T> factors(context, factored.a, factored.ld, factored.rows, factored.pivots, factored.info,
                           workspace, /*copied=*/false);
    factors.factor_columns(factored.columns);
    device.copy(factored.source_rows, factors.row_order(factored.columns),
                static_cast<std::size_t>(factored.rows) * sizeof(int));
    return panel_bytes(factored.rows, factored.columns, sizeof(T));
  }

  /// Copies a factored panel back to its block column.
  void copy_back(Device& device, std::int64_t block) {
    const int owner = blocks_.gpu_of(block);
    const FactoredPanel<T> factored = panel(owner, block);
    device.copy_2d(panels_.column(block, blocks_.begin(block)), bytes_of(panels_.ld(owner)), factored.a,
                   bytes_of(factored.ld), bytes_of(factored.rows),
                   static_cast<std::size_t>(factored.columns));
  }

  /// Updates a GPU's columns in the blocks [first, last) with panel `block`. Each stream updates a part of
  /// the columns, so that the row exchanges of one part overlap the products of another.
  void update(int gpu, std::int64_t block, std::int64_t first, std::int64_t last, const Streams& streams) {
    const std::int64_t begin = blocks_.columns_before(first, gpu);
    const std::int64_t columns = blocks_.columns_before(last, gpu) - begin;
    const std::int64_t parts =
        std::max<std::int64_t>(1, std::min<std::int64_t>(streams.count(), columns / min_columns));
    const std::int64_t width = (columns / parts + 31) / 32 * 32;  // of all parts but the last
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t from = part * width, to = part + 1 < parts ? from + width : columns;
      apply(streams.context(part), panel(gpu, block),
            panels_.local_column(gpu, begin + from, blocks_.begin(block)), panels_.ld(gpu), to - from);
    }
  }

  /// Applies a panel to `count` columns right of it: row exchanges, the solve with the panel's unit triangle,
  /// and the product with the rest of L. `c` points to the first of these columns in the panel's first row.
  void apply(Context& context, const FactoredPanel<T>& l, T* c, std::int64_t ld, std::int64_t count) {
    const int columns = static_cast<int>(count);
    if (columns == 0) return;
    exchange(context, l, c, ld, columns);
    const auto subtract = [&](int row, int rows, int before, int k) {
      if (rows == 0) return;
      vendor_gemm(context, vendor::Op::none, vendor::Op::none, rows, columns, k, T(-1),
                  l.a + row + before * l.ld, l.ld, c + before, ld, T(1), c + row, ld);
    };
    const auto solve_block = [&](int row, int rows) {
      solve_in_one_launch(context, l.a + row + row * l.ld, l.ld, rows, c + row, ld, columns);
    };
    solve_by_blocks(/*first=*/0, l.columns, solve_block, subtract);
    subtract(/*row=*/l.columns, l.rows - l.columns, /*before=*/0, l.columns);
  }

  /// Queues the remaining work with a panel on background streams (distributed_panels.cuh). Applies the panel
  /// to b. Saves the row order, pivots and info, because a later panel will overwrite this memory.
  void finish(std::int64_t block, const MatrixView<T>& b) {
    DeviceGroup& group = panels_.group();
    const std::int64_t row = blocks_.begin(block);
    if (b.cols > 0)
      apply(group.use_background(/*gpu=*/0, /*stream=*/0), panel(/*gpu=*/0, block), b.data + row, b.ld,
            b.cols);
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      const FactoredPanel<T> factored = panel(gpu, block);
      group.background(gpu, /*stream=*/1)
          .copy(exchanges_of(gpu, block), factored.source_rows,
                static_cast<std::size_t>(factored.rows) * sizeof(int));
    }
    simt::launch(group.use_background(/*gpu=*/0, /*stream=*/1), collect_pivots<T>, dim3(1), dim3(256), 0,
                 panel(/*gpu=*/0, block), static_cast<int>(row), pivots_, info_);
  }

  /// Applies to every block column the row exchanges of all later panels.
  void exchange_left() {
    DeviceGroup& group = panels_.group();
    group.stage(blocks_.gpus, "exchange_left");
    group.fork(blocks_.gpus);
    const auto blocks_for = [](std::int64_t rows) { return dim3(static_cast<unsigned>((rows + 255) / 256)); };
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      Context& context = group.use(gpu);
      int* const source = exchanges_of(gpu, blocks_.count());
      simt::launch(context, start_exchanges<int>, blocks_for(blocks_.n), dim3(256), 0, source,
                   static_cast<int>(blocks_.n));
      for (std::int64_t block = blocks_.count() - 1; block > 0; --block) {
        const std::int64_t first = blocks_.begin(block), rows = blocks_.n - first;
        simt::launch(context, prepend_exchanges<int>, blocks_for(rows), dim3(256), 0,
                     exchanges_of(gpu, block), static_cast<int>(first), static_cast<int>(rows), source);
        if (blocks_.gpu_of(block - 1) != gpu) continue;
        const auto columns = static_cast<int>(blocks_.columns(block - 1));
        simt::launch(context, exchange_rows_by_column_buffer<T>,
                     dim3(static_cast<unsigned>(std::min(columns, column_buffers))), dim3(1024), 0,
                     panels_.column(block - 1, 0), panels_.ld(gpu), static_cast<int>(first),
                     static_cast<int>(rows), columns, /*pivots=*/nullptr, source, /*previous=*/nullptr,
                     /*previous_count=*/0, buffers_[static_cast<std::size_t>(gpu)]);
      }
    }
    group.join(blocks_.gpus);
  }
  /// Returns the memory for the row order of a panel. If `block` is count(), returns the memory for the
  /// combined row order in exchange_left.
  int* exchanges_of(int gpu, std::int64_t block) {
    return exchanges_[static_cast<std::size_t>(gpu)] + block * blocks_.n;
  }

  /// Applies a panel's row exchanges to `columns` columns at `c`, which points to the panel's first row. The
  /// panel has its own permutation, so that no previous one is reset.
  static void exchange(Context& context, const FactoredPanel<T>& l, T* c, std::int64_t ld, int columns) {
    constexpr int columns_per_block = 4;
    const auto grid = static_cast<unsigned>((columns + columns_per_block - 1) / columns_per_block);
    const auto threads = static_cast<unsigned>((l.columns + 31) / 32 * 32);
    simt::launch(context, exchange_rows_by_element<T, columns_per_block>, dim3(grid), dim3(threads), 0, c, ld,
                 /*first=*/0, l.columns, columns, l.pivots, l.source_rows, /*previous=*/nullptr,
                 /*previous_count=*/0);
  }

  DistributedPanels<T> panels_;
  ColumnBlocks blocks_;
  std::size_t workspace_bytes_;
  std::vector<void*> workspaces_;
  std::vector<int*> exchanges_;  ///< per GPU: the row orders of all panels
  std::vector<T*> buffers_;      ///< per GPU: the buffers of exchange_rows_by_column_buffer
  int* pivots_;
  int* info_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
