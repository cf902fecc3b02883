#pragma once
/// The solve U X = L^-1 of geinv/multi_gpu, by block rows from the last one up. Every GPU gets a copy of the
/// block row of U, and then computes the block row of X in its own columns. X overwrites U and L^-1. No GPU
/// needs columns of X from other GPUs, because the columns of X are independent of each other.

#include <cstddef>
#include <vector>

#include "kernels/geinv/distributed_workspace.hpp"
#include "kernels/trtri/travelling_panels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

using namespace gaussweep::inverse;

/// Copies `width` rows of a GPU's columns to a packed block row, in which each block of width x width
/// elements is contiguous. Sets the originals to 0: L^-1, which X replaces, is 0 above the diagonal blocks.
/// One thread block per column.
/// @param step distance in `to`, in elements, between consecutive blocks of this GPU; the blocks of the other
/// GPUs are between them
template <class T>
__global__ void __launch_bounds__(threads)
    pack_rows(T* from, std::int64_t ld, int width, T* to, std::int64_t step) {
  const int column = static_cast<int>(blockIdx.x);
  T* const source = from + column * ld;
  T* const target = to + column / width * step + column % width * width;
  for (int i = static_cast<int>(threadIdx.x); i < width; i += static_cast<int>(blockDim.x)) {
    target[i] = source[i];
    source[i] = 0;
  }
}

/// The solve for one distributed matrix, in place. X = U^-1 L^-1 replaces L^-1, which is in and below the
/// diagonal blocks, and U, which is above them.
template <class T>
class DistributedUpperSolve {
 public:
  /// Takes upper_solve_bytes (distributed_workspace.hpp) from each GPU's workspace. Copies block rows of U to
  /// the two panel buffers of `panels` in turn.
  DistributedUpperSolve(DistributedPanels<T>& panels, std::vector<OperandPart<T>>& parts)
      : panels_(panels), blocks_(panels.blocks()) {
    for (OperandPart<T>& part : parts) {
      diagonals_.push_back(part.workspace.template take<T>(blocks_.count() * blocks_.width * blocks_.width));
      reversed_.push_back(part.workspace.template take<T>(blocks_.width * lu::max_solve_rows_per_launch));
      reciprocals_.push_back(part.workspace.template take<T>(blocks_.width));
    }
  }

  /// Returns a GPU's memory for a diagonal block of U, with leading dimension ColumnBlocks::width. The caller
  /// must store the block's upper triangle in it before `solve`.
  T* diagonal(int gpu, std::int64_t block) {
    return diagonals_[static_cast<std::size_t>(gpu)] + block * blocks_.width * blocks_.width;
  }

  /// Solves for all block rows. Asynchronous on the first GPU's stream.
  void solve() {
    DeviceGroup& group = panels_.group();
    group.fork(blocks_.gpus);
    for (std::int64_t block = blocks_.count() - 1; block >= 0; --block) {
      // Each GPU has a stream for computations (group.device) and a stream for copies (group.copy_stream).
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) group.device(gpu).wait_for(group.copy_stream(gpu));
      if (block > 0) send(block - 1);
      group.stage(blocks_.gpus, "solve");
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) solve(gpu, block);
    }
    group.join(blocks_.gpus);
  }

 private:
  /// Returns a GPU's copy of the block of U in block row `block` and block column `block_column`. Only blocks
  /// right of the diagonal are copied, so that `block_column` is at least 1.
  T* row_block(int gpu, std::int64_t block, std::int64_t block_column) {
    return static_cast<T*>(panels_.panel(gpu, block)) + (block_column - 1) * blocks_.width * blocks_.width;
  }
  /// Returns the index in the matrix of the GPU's first block column right of block column `block`.
  std::int64_t first_right(int gpu, std::int64_t block) const {
    return block + 1 + (gpu - blocks_.gpu_of(block + 1) + blocks_.gpus) % blocks_.gpus;
  }

  /// Copies a block row of U, without its diagonal block, to every GPU.
  void send(std::int64_t block) {
    DeviceGroup& group = panels_.group();
    // Block columns are distributed cyclically, so the blocks of one GPU are `gpus` blocks apart.
    const std::int64_t step = blocks_.gpus * blocks_.width * blocks_.width;
    group.stage(blocks_.gpus, "pack");
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      // Two buffers alternate: this one holds block row `block` + 2 until the other GPUs have copied it.
      group.wait_for_others_copies(gpu, blocks_.gpus);
      const std::int64_t first_column = blocks_.columns_before(block + 1, gpu);
      const std::int64_t columns = blocks_.columns_of(gpu) - first_column;
      if (columns == 0) continue;
      simt::launch(group.use(gpu), pack_rows<T>, dim3(static_cast<unsigned>(columns)), dim3(threads), 0,
                   panels_.local_column(gpu, first_column, blocks_.begin(block)), panels_.ld(gpu),
                   static_cast<int>(blocks_.width), row_block(gpu, block, first_right(gpu, block)), step);
    }
    group.stage(blocks_.gpus, "transfer");
    const std::size_t stride = static_cast<std::size_t>(step) * sizeof(T);
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      Device& copy_stream = group.copy_stream(gpu);
      // The GPU's computations may still read block row `block` + 2, which the copies overwrite.
      copy_stream.wait_for(group.device(gpu));
      // One strided copy per other GPU: a row of the copy is a block, and rows are `stride` bytes apart.
      for (int other = 0; other < blocks_.gpus; ++other) {
        const std::int64_t first_block = first_right(other, block);
        if (other == gpu || first_block >= blocks_.count()) continue;
        copy_stream.wait_for(group.device(other));
        copy_stream.copy_2d(
            row_block(gpu, block, first_block), stride, row_block(other, block, first_block), stride,
            /*bytes per block*/ stride / static_cast<std::size_t>(blocks_.gpus),
            static_cast<std::size_t>((blocks_.count() - first_block + blocks_.gpus - 1) / blocks_.gpus));
      }
    }
  }

  /// Computes a block row of X in a GPU's columns. First subtracts the product of the copied block row of U
  /// and the finished rows of X, then solves with the diagonal block.
  void solve(int gpu, std::int64_t block) {
    const std::int64_t columns = blocks_.columns_of(gpu);
    if (columns == 0) return;
    Context& context = panels_.group().use(gpu);
    const std::int64_t rows = blocks_.columns(block), next = blocks_.begin(block + 1), ld = panels_.ld(gpu);
    T* const x = panels_.local_column(gpu, 0, blocks_.begin(block));
    if (next < blocks_.n) {
      vendor_gemm(context, vendor::Op::none, vendor::Op::none, rows, columns, blocks_.n - next, T(-1),
                  row_block(gpu, block, block + 1), rows, panels_.local_column(gpu, 0, next), ld, T(1), x,
                  ld);
    }
    const auto index = static_cast<std::size_t>(gpu);
    UpperSolve<T, lu::NoProducts>{
        context, diagonal(gpu, block),      blocks_.width,    static_cast<int>(rows), x,
        ld,      static_cast<int>(columns), reversed_[index], reciprocals_[index],    /*products=*/nullptr}
        .solve();
  }

  DistributedPanels<T>& panels_;
  ColumnBlocks blocks_;
  std::vector<T*> diagonals_;               ///< per GPU: the diagonal blocks of U
  std::vector<T*> reversed_, reciprocals_;  ///< per GPU: the workspace of UpperSolve
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
