#pragma once
/// Cholesky factorisation of a matrix whose block columns are distributed over several GPUs. A panel is a
/// block column from its diagonal block down. One launch factors a panel (recursive_cholesky.cuh).
/// DistributedPanels (getrf/distributed_panels.cuh) sends panels to the GPUs and schedules updates.
///
/// The first GPU may factor the last few thousand rows and columns (the *rest*) alone in one launch.
/// Distributed panels would take longer for few rows.

#include <vector>

#include "kernels/getrf/distributed_panels.cuh"
#include "kernels/potrf/recursive_cholesky.cuh"
#include "kernels/vendor/vendor_gemm.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Sets *info of the matrix from a panel's info, unless an earlier panel has set it. A positive info is a
/// column of the panel, from 1; a negative one reports a time-out.
/// @param first the column of the matrix, from 0, in which the panel begins
template <class Index>
__global__ void collect_info(const Index* panel_info, Index first, Index* info) {
  if (*info == 0 && *panel_info != 0) *info = *panel_info > 0 ? first + *panel_info : *panel_info;
}

/// Copies the elements above the diagonal of a square block, with one thread block per column.
template <class T>
__global__ void __launch_bounds__(256)
    copy_above(const T* from, std::int64_t ld_from, T* to, std::int64_t ld_to) {
  const auto column = static_cast<std::int64_t>(blockIdx.x);
  for (int row = static_cast<int>(threadIdx.x); row < column; row += static_cast<int>(blockDim.x))
    to[row + column * ld_to] = from[row + column * ld_from];
}

/// One factorisation A = L L^T in place of the lower triangle of the distributed matrix.
template <class T>
class DistributedCholesky {
 public:
  /// @param parts each GPU's block columns of A, and its workspace of multi_gpu_bytes
  /// @param info memory of the first GPU; must be 0 at the start
  /// @param rest the maximum number of rows of the rest; 0: all block columns are factored as panels
  DistributedCholesky(Context& context, const ColumnBlocks& blocks, std::vector<OperandPart<T>>& parts,
                      int* info, std::int64_t rest = 0)
      : panels_(context, blocks, parts, panel_bytes(blocks.n, blocks.width, sizeof(T))),
        blocks_(blocks),
        panel_count_(distributed_panel_count(blocks, rest)),
        workspace_bytes_(in_place_bytes(blocks.n, sizeof(T))),
        info_(info) {
    for (OperandPart<T>& part : parts) {
      workspaces_.push_back(
          part.workspace.template take<std::byte>(static_cast<std::int64_t>(workspace_bytes_)));
      saved_.push_back(part.workspace.template take<T>(saved_columns(blocks) * blocks.width));
    }
    if (panel_count_ == blocks.count()) return;
    const std::int64_t order = rest_order(blocks, rest);
    rest_ = parts.front().workspace.template take<T>(order * order);
    rest_info_ = parts.front().workspace.template take<int>(1);
  }

  /// Factors the matrix, and applies L^-1 to the columns of `b` on the first GPU. Asynchronous on the first
  /// GPU's stream.
  void factor(MatrixView<T> b = {}) {
    DeviceGroup& group = panels_.group();
    // Saves the elements above the diagonal of each diagonal block, because the factorisation overwrites
    // them.
    group.fork(blocks_.gpus);
    for (std::int64_t block = 0; block < blocks_.count(); ++block)
      copy_diagonal(block, diagonal(block), panels_.ld(blocks_.gpu_of(block)), saved(block), blocks_.width);
    group.join(blocks_.gpus);
    panels_.run(
        panel_count_,
        /*factor=*/[this](Context& context, std::int64_t block) { return factor_panel(context, block); },
        /*copy_back=*/[this](Device& device, std::int64_t block) { copy_back(device, block); },
        /*update=*/
        [this](int gpu, std::int64_t block, std::int64_t first, std::int64_t last, const Streams& streams) {
          std::int64_t products = 0;
          for (std::int64_t other = first; other < last; ++other) {
            if (blocks_.gpu_of(other) == gpu) update(gpu, block, other, streams, products);
          }
        },
        /*finish=*/
        [&](std::int64_t block) {
          if (b.cols > 0) {
            solve(panels_.group().use_background(/*gpu=*/0, /*stream=*/0), panel(/*gpu=*/0, block),
                  panel_ld(block), blocks_.begin(block), blocks_.begin(block + 1), b);
          }
          collect(panels_.group().use_background(/*gpu=*/0, /*stream=*/1), info_of(/*gpu=*/0, block),
                  blocks_.begin(block));
        });
    if (panel_count_ < blocks_.count()) factor_rest(b);
    group.fork(blocks_.gpus);
    for (std::int64_t block = 0; block < blocks_.count(); ++block)
      copy_diagonal(block, saved(block), blocks_.width, diagonal(block), panels_.ld(blocks_.gpu_of(block)));
    group.join(blocks_.gpus);
  }

 private:
  using Streams = typename DistributedPanels<T>::Streams;
  static constexpr std::int64_t product_columns = 512;  ///< maximum number of columns of a product

  static constexpr std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  /// Returns the number of rows of a panel: of a block column from its diagonal block down.
  std::int64_t rows(std::int64_t block) const { return blocks_.n - blocks_.begin(block); }
  /// Returns the leading dimension of a panel, which has whole tiles.
  std::int64_t panel_ld(std::int64_t block) const { return round_up_to_tiles(rows(block)); }
  T* panel(int gpu, std::int64_t block) { return static_cast<T*>(panels_.panel(gpu, block)); }
  /// Returns a panel's info, which follows the panel's elements in memory.
  int* info_of(int gpu, std::int64_t block) {
    return reinterpret_cast<int*>(panel(gpu, block) +
                                  panel_ld(block) * round_up_to_tiles(blocks_.columns(block)));
  }
  /// Returns the first element of a diagonal block.
  T* diagonal(std::int64_t block) { return panels_.column(block, blocks_.begin(block)); }
  /// Returns the memory in which the elements above a block's diagonal are saved.
  T* saved(std::int64_t block) {
    return saved_[static_cast<std::size_t>(blocks_.gpu_of(block))] +
           blocks_.local_begin(block) * blocks_.width;
  }

  /// Copies the elements above a block's diagonal, to save or to restore them.
  void copy_diagonal(std::int64_t block, const T* from, std::int64_t ld_from, T* to, std::int64_t ld_to) {
    simt::launch(panels_.group().use(blocks_.gpu_of(block)), copy_above<T>,
                 dim3(static_cast<unsigned>(blocks_.columns(block))), dim3(256), 0, from, ld_from, to, ld_to);
  }

  /// Copies a block column to its panel and factors the panel. Returns the panel's bytes.
  std::size_t factor_panel(Context& context, std::int64_t block) {
    const int owner = blocks_.gpu_of(block);
    const std::int64_t ld = panel_ld(block), columns = blocks_.columns(block);
    T* const own_panel = panel(owner, block);
    // An identity extends the last panel to whole tiles.
    lu::copy_matrix<T>(context, {diagonal(block), panels_.ld(owner), static_cast<int>(rows(block))},
                       own_panel, ld, static_cast<int>(ld), static_cast<int>(round_up_to_tiles(columns)));
    context.device.fill(info_of(owner, block), 0, sizeof(int));
    Workspace workspace(workspaces_[static_cast<std::size_t>(owner)], workspace_bytes_);
    const Shape shape{ld, ld, ld};
    RecursiveCholesky<T>(context, shape, own_panel, ld, info_of(owner, block), workspace)
        .factor_columns(static_cast<int>(round_up_to_tiles(columns)));
    return panel_bytes(rows(block), columns, sizeof(T));
  }

  /// Copies a factored panel to the matrix.
  void copy_back(Device& device, std::int64_t block) {
    const int owner = blocks_.gpu_of(block);
    device.copy_2d(diagonal(block), bytes_of(panels_.ld(owner)), panel(owner, block),
                   bytes_of(panel_ld(block)), bytes_of(rows(block)),
                   static_cast<std::size_t>(blocks_.columns(block)));
  }

  /// Copies the rest of the matrix to the first GPU, factors it there, and copies it back.
  void factor_rest(const MatrixView<T>& b) {
    DeviceGroup& group = panels_.group();
    Context& context = group.use(0);
    const std::int64_t first = blocks_.begin(panel_count_), order = round_up_to_tiles(blocks_.n - first);
    // The first element of a diagonal block in the copy of the rest.
    const auto at_diagonal = [&](std::int64_t block) {
      return rest_ + (blocks_.begin(block) - first) * (order + 1);
    };
    group.stage(blocks_.gpus, "transfer");
    for (std::int64_t block = panel_count_; block < blocks_.count(); ++block) {
      const std::int64_t columns = blocks_.columns(block), ld = panels_.ld(blocks_.gpu_of(block));
      // An identity extends the matrix to whole tiles.
      lu::copy_matrix<T>(
          context, {diagonal(block), ld, static_cast<int>(rows(block))}, at_diagonal(block), order,
          static_cast<int>(order - (blocks_.begin(block) - first)),
          static_cast<int>(block + 1 < blocks_.count() ? columns : round_up_to_tiles(columns)));
    }
    context.device.fill(rest_info_, 0, sizeof(int));
    group.stage(blocks_.gpus, "panel");
    Workspace workspace(workspaces_.front(), workspace_bytes_);
    RecursiveCholesky<T>(context, Shape{order, order, order}, rest_, order, rest_info_, workspace)
        .factor_columns(static_cast<int>(order));
    collect(context, rest_info_, first);
    if (b.cols > 0) solve(context, rest_, order, first, blocks_.n, b);
    group.stage(blocks_.gpus, "transfer");
    for (std::int64_t block = panel_count_; block < blocks_.count(); ++block) {
      context.device.copy_2d(diagonal(block), bytes_of(panels_.ld(blocks_.gpu_of(block))), at_diagonal(block),
                             bytes_of(order), bytes_of(rows(block)),
                             static_cast<std::size_t>(blocks_.columns(block)));
    }
  }

  /// Sets the matrix's info from that of a panel or of the rest (collect_info).
  void collect(Context& context, const int* info, std::int64_t first) {
    simt::launch(context, collect_info<int>, dim3(1), dim3(1), 0, info, static_cast<int>(first), info_);
  }

  /// Performs the steps of B = L^-1 B with columns [first, last) of L on the first GPU.
  /// @param l the address of element (first, first) of L
  void solve(Context& context, const T* l, std::int64_t ld, std::int64_t first, std::int64_t last,
             const MatrixView<T>& b) {
    T* const top = b.data + first;
    const std::int64_t columns = last - first, below = blocks_.n - last;
    vendor_trsm(context, vendor::Side::left, Uplo::lower, vendor::Op::none, vendor::Diagonal::stored, columns,
                b.cols, T(1), l, ld, top, b.ld);
    if (below == 0) return;
    vendor_gemm(context, vendor::Op::none, vendor::Op::none, below, b.cols, columns, T(-1), l + columns, ld,
                top, b.ld, T(1), top + columns, b.ld);
  }

  /// Subtracts the panel `block` times its transpose from the block column `other`, in products of up to 512
  /// columns from the diagonal down. The products also overwrite triangles above the diagonal, because
  /// rectangular products are faster.
  /// @param products number of products that the update has started; it selects the stream
  void update(int gpu, std::int64_t block, std::int64_t other, const Streams& streams,
              std::int64_t& products) {
    const std::int64_t ld = panels_.ld(gpu), ld_panel = panel_ld(block), columns = blocks_.columns(other);
    for (std::int64_t begin = 0; begin < columns; begin += product_columns) {
      const T* const l = panel(gpu, block) + blocks_.begin(other) - blocks_.begin(block) + begin;
      vendor_gemm(streams.context(products++), vendor::Op::none, vendor::Op::transpose, rows(other) - begin,
                  std::min(product_columns, columns - begin), blocks_.columns(block), T(-1), l, ld_panel, l,
                  ld_panel, T(1), diagonal(other) + begin * (ld + 1), ld);
    }
  }

  DistributedPanels<T> panels_;
  ColumnBlocks blocks_;
  std::int64_t panel_count_;  ///< number of block columns before the rest
  std::size_t workspace_bytes_;
  std::vector<void*> workspaces_;
  std::vector<T*> saved_;  ///< per GPU: memory for its diagonal blocks, side by side (see saved())
  T* rest_ = nullptr;      ///< memory of the first GPU for the rest of the matrix
  int* rest_info_ = nullptr;
  int* info_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
