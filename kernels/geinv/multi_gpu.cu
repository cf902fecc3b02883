/// geinv/multi_gpu: the inverse of one matrix on several GPUs, by LU with partial pivoting and a solve with
/// U. L^-1 is computed during the factorisation.
///
/// The GPU that owns a block column copies it to a contiguous panel and factors the panel, as in
/// getrf/multi_gpu. Every GPU receives the panel and applies it to its other columns. Columns right of the
/// panel become U and the trailing matrix. Columns left of the panel become L^-1. Their number grows while
/// that of the trailing columns falls, so that every update has products with about n columns. The next panel
/// is factored during this update (look-ahead). distributed_upper_solve.cuh then solves U X = L^-1. At the
/// end the columns of X are permuted by the row exchanges of LU, across GPUs. On one GPU the method is
/// geinv/recursive.
///
/// Layout: column-major, in place, block columns distributed cyclically. Cost: 2 n^3 operations in all; each
/// GPU receives n^2 elements of panels, and at the end at most n^2 / gpus elements of columns. Workspace per
/// GPU: two panels of n x `block`, `block` n elements for U's diagonal blocks, and the workspace of a panel's
/// factorisation. The parameter `block` is 256 to 1024 by default. A pivot that is exactly 0 gives info > 0,
/// and the answer is then not finite. n <= 65536. Needs compute capability 9.0 and peer access between the
/// GPUs.
///
/// Error: |A X - I| is of the order n u |L| |U| |X| (u: unit roundoff), as for geinv/recursive (J. Du Croz,
/// N. Higham, Stability of methods for matrix inversion, IMA J. Numer. Anal. 12, 1992).

#include "kernels/geinv/distributed_upper_solve.cuh"
#include "kernels/getrf/distributed_lu.cuh"
#include "kernels/getrf/peer_columns.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void geinv_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

namespace inverse {

/// Appends a panel's row exchanges to a row order. Element i of a row order is the index in A of the row that
/// is now row i; both are counted from 0. (distributed_lu.cuh combines exchanges in the opposite direction.)
/// @param from the row order before the exchanges
/// @param source_rows the exchanges: for each row from the panel's first row on, its index before the
/// exchanges, counted from that first row
/// @param first the panel's first row
/// @param to receives the row order after the exchanges
template <class Index>
__global__ void append_exchanges(const Index* from, const Index* source_rows, Index first, Index n,
                                 Index* to) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = from[i < first ? i : first + source_rows[i - first]];
}

/// Copies `rows` rows of a GPU's columns to their new positions, also on other GPUs. One thread block per
/// column.
/// @param from the first of these rows in the GPU's first column
/// @param own converts indices of the GPU's columns to indices in the matrix
/// @param new_index the new index of every column of the matrix
/// @param to receives the rows; its row 0 is the first of these rows
template <class T>
__global__ void __launch_bounds__(threads)
    send_columns(const T* from, std::int64_t ld, int rows, LocalColumns own, const int* new_index,
                 PeerColumns<T> to) {
  const int local = static_cast<int>(blockIdx.x);
  const T* const source = from + local * ld;
  T* const target = to.column(new_index[own.global(local)]);
  for (int begin = static_cast<int>(threadIdx.x); begin < rows; begin += elements_per_thread * threads) {
    T value[elements_per_thread];
    GAUSSWEEP_UNROLL
    for (int e = 0; e < elements_per_thread; ++e) {
      if (begin + e * threads < rows) value[e] = source[begin + e * threads];
    }
    GAUSSWEEP_UNROLL
    for (int e = 0; e < elements_per_thread; ++e) {
      if (begin + e * threads < rows) target[begin + e * threads] = value[e];
    }
  }
}

/// The inversion of one distributed matrix, in place.
template <class T>
class DistributedInverse {
 public:
  /// @param parts each GPU's block columns of A, and its workspace of geinv_bytes
  /// @param info memory of the first GPU; must be 0 at the start
  DistributedInverse(Context& context, const ColumnBlocks& blocks, std::vector<OperandPart<T>>& parts,
                     int* info)
      : panels_(context, blocks, parts, lu::panel_bytes(blocks.n, blocks.width, sizeof(T))),
        blocks_(blocks),
        solve_(panels_, parts),
        panel_elements_(lu::leading_dimension(blocks.n) * blocks.width),
        workspace_bytes_(lu::in_place_bytes(blocks.n, sizeof(T))),  // for RecursiveLu on a panel
        info_(info) {
    for (OperandPart<T>& part : parts) {
      workspaces_.push_back(
          part.workspace.template take<std::byte>(static_cast<std::int64_t>(workspace_bytes_)));
      pivots_.push_back(part.workspace.template take<int>(blocks.n));
      for (auto& order : row_orders_) order.push_back(part.workspace.template take<int>(blocks.n));
    }
  }

  /// Replaces the matrix by its inverse. Asynchronous on the first GPU's stream.
  void invert() {
    factor_and_invert();
    solve_.solve();
    permute_columns();
  }

 private:
  lu::FactoredPanel<T> panel(int gpu, std::int64_t block) {
    return {panels_.panel(gpu, block), blocks_.n - blocks_.begin(block), blocks_.columns(block)};
  }
  /// Returns L of a factored panel; the diagonal of L is 1 and not stored.
  TrianglePanel<T> unit_panel(int gpu, std::int64_t block) {
    const lu::FactoredPanel<T> l = panel(gpu, block);
    return {l.a, l.ld, l.rows, l.columns};
  }
  std::int64_t ld(int gpu) { return panels_.ld(gpu); }
  dim3 thread_per_row() const { return dim3(static_cast<unsigned>((blocks_.n + threads - 1) / threads)); }
  /// Returns the row order (see append_exchanges) after the exchanges of all panels before `block`. Row
  /// orders alternate between two arrays, because append_exchanges cannot work in place.
  int* row_order_before(int gpu, std::int64_t block) {
    return row_orders_[block % 2][static_cast<std::size_t>(gpu)];
  }
  static constexpr std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }

  /// Replaces A by L^-1 and, above the diagonal blocks, by U. Stores the diagonal blocks of U in solve_. Each
  /// GPU has a stream for computations (group.device) and a stream for copies (group.copy_stream).
  void factor_and_invert() {
    DeviceGroup& group = panels_.group();
    const std::int64_t block_count = blocks_.count();
    const auto factor = [this](Context& context, std::int64_t block) { return factor_panel(context, block); };
    group.stage(blocks_.gpus, "start");
    group.fork(blocks_.gpus);
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      simt::launch(group.use(gpu), lu::start_exchanges<int>, thread_per_row(), dim3(threads), 0,
                   row_order_before(gpu, 0), static_cast<int>(blocks_.n));
    }
    panels_.send(0, factor);
    for (std::int64_t block = 0; block < block_count; ++block) {
      // The updates below wait until the panel has arrived.
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) group.device(gpu).wait_for(group.copy_stream(gpu));
      const std::int64_t next = block + 1;
      if (next < block_count) {
        group.stage(blocks_.gpus, "update_ahead");
        update(blocks_.gpu_of(next), block, next, next + 1);
        panels_.send(next, factor);
      }
      group.stage(blocks_.gpus, "update");
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu)
        update(gpu, block, std::min(next + 1, block_count), block_count);  // `next` is already updated
      group.stage(blocks_.gpus, "invert");
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) invert(gpu, block);
    }
    group.join(blocks_.gpus);
  }

  /// Copies a block column to its panel and factors the panel. Returns the panel's bytes, which include the
  /// pivots and the row order.
  std::size_t factor_panel(Context& context, std::int64_t block) {
    const auto owner = static_cast<std::size_t>(blocks_.gpu_of(block));
    const lu::FactoredPanel<T> own_panel = panel(blocks_.gpu_of(block), block);
    Device& device = context.device;
    device.copy_2d(own_panel.a, bytes_of(own_panel.ld), panels_.column(block, blocks_.begin(block)),
                   bytes_of(ld(blocks_.gpu_of(block))), bytes_of(own_panel.rows),
                   static_cast<std::size_t>(own_panel.columns));
    device.fill(own_panel.info, 0, sizeof(int));
    Workspace workspace(workspaces_[owner], workspace_bytes_);
    lu::RecursiveLu<T> factors(context, own_panel.a, own_panel.ld, own_panel.rows, own_panel.pivots,
                               own_panel.info, workspace, /*copied=*/false);  // in place
    factors.factor_columns(own_panel.columns);
    device.copy(own_panel.source_rows, factors.row_order(own_panel.columns),
                static_cast<std::size_t>(own_panel.rows) * sizeof(int));
    return lu::panel_bytes(own_panel.rows, own_panel.columns, sizeof(T));
  }

  /// Applies a panel's row exchanges to `count` columns at `c`, which points to the panel's first row. The
  /// arguments `previous` belong to the recursion of getrf/recursive, which reuses its permutations. Here
  /// each panel has its own permutation, so that none is reset.
  void exchange(int gpu, std::int64_t block, T* c, std::int64_t count) {
    if (count == 0) return;
    const lu::FactoredPanel<T> l = panel(gpu, block);
    constexpr int columns_per_block = 4;
    simt::launch(panels_.group().use(gpu), lu::exchange_rows_by_element<T, columns_per_block>,
                 dim3(static_cast<unsigned>((count + columns_per_block - 1) / columns_per_block)),
                 dim3(static_cast<unsigned>((l.columns + 31) / 32 * 32)), 0, c, ld(gpu), /*first=*/0,
                 l.columns, static_cast<int>(count), l.pivots, l.source_rows, /*previous=*/nullptr,
                 /*previous_count=*/0);
  }

  /// Updates a GPU's columns in the blocks [first, last), which are right of the panel. The argument Corrects
  /// is false here and in `invert`: partial pivoting keeps |L| <= 1, so that no refinement is needed.
  void update(int gpu, std::int64_t block, std::int64_t first, std::int64_t last) {
    const std::int64_t begin = blocks_.columns_before(first, gpu);
    const std::int64_t columns = blocks_.columns_before(last, gpu) - begin;
    T* const c = panels_.local_column(gpu, begin, blocks_.begin(block));
    exchange(gpu, block, c, columns);
    apply_lower</*Corrects=*/false>(panels_.group().use(gpu), unit_panel(gpu, block), c, ld(gpu), columns);
  }

  /// Updates the GPU's columns of L^-1 up to the panel's last column. Stores the panel's diagonal block of U,
  /// and appends the panel's exchanges to the row order.
  void invert(int gpu, std::int64_t block) {
    Context& context = panels_.group().use(gpu);
    const lu::FactoredPanel<T> l = panel(gpu, block);
    const auto first = static_cast<int>(blocks_.begin(block));
    context.device.copy_2d(solve_.diagonal(gpu, block), bytes_of(blocks_.width), l.a, bytes_of(l.ld),
                           bytes_of(l.columns), static_cast<std::size_t>(l.columns));
    simt::launch(context, append_exchanges<int>, thread_per_row(), dim3(threads), 0,
                 row_order_before(gpu, block), l.source_rows, first, static_cast<int>(blocks_.n),
                 row_order_before(gpu, block + 1));
    T* const x = panels_.local_column(gpu, 0, first);
    exchange(gpu, block, x, blocks_.columns_before(block, gpu));
    // L is in the panel's memory, so that the panel's columns of the matrix can start L^-1 as the identity.
    start_blocks(context, panels_, gpu, block, block + 1, first, l.rows);
    apply_lower</*Corrects=*/false>(context, unit_panel(gpu, block), x, ld(gpu),
                                    blocks_.columns_before(block + 1, gpu));
    if (gpu == 0)
      simt::launch(context, lu::collect_pivots<T>, dim3(1), dim3(threads), 0, l, first, pivots_[0], info_);
  }

  /// Permutes the columns of X = U^-1 L^-1, because A^-1 = X P. P moves column i of X to column r(i), where r
  /// is the final row order. Sends a part of the rows at a time, because the buffers are too small for all
  /// rows. Consecutive parts alternate between the memory of the two panels: one part is received while the
  /// previous one is copied back.
  void permute_columns() {
    DeviceGroup& group = panels_.group();
    const auto rows_per_part = static_cast<int>(panel_elements_ / blocks_.columns_of(0) / 32 * 32);
    for (std::int64_t row = 0, part = 0; row < blocks_.n; row += rows_per_part, ++part) {
      const int rows = static_cast<int>(std::min<std::int64_t>(rows_per_part, blocks_.n - row));
      const PeerColumns<T> to(blocks_, rows_per_part,
                              [&](int gpu) { return static_cast<T*>(panels_.panel(gpu, part)); });
      group.stage(blocks_.gpus, "exchange_columns");
      group.fork(blocks_.gpus);
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
        if (blocks_.columns_of(gpu) == 0) continue;
        simt::launch(group.use(gpu), send_columns<T>, dim3(static_cast<unsigned>(blocks_.columns_of(gpu))),
                     dim3(threads), 0, panels_.local_column(gpu, 0, row), ld(gpu), rows,
                     LocalColumns(blocks_, gpu), row_order_before(gpu, blocks_.count()), to);
      }
      group.join(blocks_.gpus);  // all GPUs have received their columns
      group.fork(blocks_.gpus);
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
        if (blocks_.columns_of(gpu) == 0) continue;
        group.device(gpu).copy_2d(panels_.local_column(gpu, 0, row), bytes_of(ld(gpu)), to.parts[gpu],
                                  bytes_of(rows_per_part), bytes_of(rows),
                                  static_cast<std::size_t>(blocks_.columns_of(gpu)));
      }
    }
    group.join(blocks_.gpus);
  }

  DistributedPanels<T> panels_;
  ColumnBlocks blocks_;
  DistributedUpperSolve<T> solve_;
  std::int64_t panel_elements_;
  std::size_t workspace_bytes_;
  std::vector<void*> workspaces_;    ///< per GPU: the workspace of a panel's factorisation
  std::vector<int*> pivots_;         ///< output of lu::collect_pivots on the first GPU; not read
  std::vector<int*> row_orders_[2];  ///< per GPU: the row orders before even [0] and odd [1] block columns
  int* info_;
};

}  // namespace inverse

template <class T>
void geinv_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return geinv_recursive(context, op, parameters);
  const ColumnBlocks blocks{op.shape.n, lu::column_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  inverse::DistributedInverse<T>(context, blocks, op.parts, op.info).invert();
}

GAUSSWEEP_INSTANTIATE(geinv_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
