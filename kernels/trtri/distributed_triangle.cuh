#pragma once
/// Inverts a triangular matrix in place by substitution; its block columns are distributed over several GPUs.
/// A panel consists of adjacent block columns of the triangle. To apply a panel means to perform the steps of
/// the substitution that use it. Every panel is copied to all GPUs while they still apply the previous panel.
/// Each GPU applies the panels to its own block columns of the inverse, which do not depend on other GPUs'
/// columns.
///
/// A lower triangle is split into L = M D, because apply_lower (travelling_panels.cuh) takes a unit lower
/// triangle. M is unit lower triangular and D is the diagonal of L. The inverse is D^-1 M^-1.

#include <vector>

#include "kernels/geinv/distributed_workspace.hpp"
#include "kernels/trtri/travelling_panels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

using namespace gaussweep::inverse;

/// Copies columns of L and turns them into columns of M: divides the elements below the diagonal by the
/// diagonal element of their column. Copies the diagonal, D, unchanged. One thread block per column.
/// @param rows number of rows from the first diagonal element down
template <class T>
__global__ void __launch_bounds__(threads)
    make_unit(const T* from, std::int64_t ld_from, int rows, T* to, std::int64_t ld_to) {
  const int k = static_cast<int>(blockIdx.x);
  const T* const source = from + k * ld_from;
  T* const target = to + k * ld_to;
  const T divisor = source[k];
  for (int i = k + static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x))
    target[i] = i > k ? source[i] / divisor : divisor;
}

/// Divides row i of X (rows x columns) by element i of the panel's diagonal, for all i.
template <class T>
__global__ void __launch_bounds__(threads)
    divide_rows(const T* panel, std::int64_t ld, int rows, int columns, T* x, std::int64_t ldx) {
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x)) {
    const T divisor = panel[i * (ld + 1)];
    for (int j = static_cast<int>(blockIdx.x); j < columns; j += static_cast<int>(gridDim.x))
      x[i + j * ldx] /= divisor;
  }
}

/// Sets *info to the matrix index, from 1, of the first 0 on a panel's diagonal, unless *info already has a
/// smaller index. The launch has one warp.
/// @param first column of the matrix in which the panel begins
template <class T>
__global__ void __launch_bounds__(32)
    check_diagonal(const T* diagonal, std::int64_t ld, int columns, int first, int* info) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int begin = 0; begin < columns; begin += 32) {
    const int k = begin + lane;
    const bool is_zero = k < columns && diagonal[k * (ld + 1)] == 0;
    const unsigned lanes_with_zero = __ballot_sync(0xffffffffu, is_zero ? 1 : 0);
    if (lanes_with_zero == 0) continue;
    const bool is_first = is_zero && (lanes_with_zero & ((1u << lane) - 1)) == 0;
    if (is_first && (*info == 0 || *info > first + k + 1)) *info = first + k + 1;
    return;
  }
}

/// Copies the elements above or below the diagonal in a GPU's columns of a square on the matrix's diagonal.
/// One thread block per column.
/// @param rows order of the square
/// @param own own.global(i) is the matrix column of the GPU's column i
/// @param local the first copied column, counted among the GPU's columns
/// @param first column of the matrix in which the square begins
/// @param above true: copies the elements above the diagonal; false: those below
template <class T>
__global__ void __launch_bounds__(threads)
    copy_triangle_columns(const T* from, std::int64_t ld_from, int rows, LocalColumns own, int local,
                          int first, bool above, T* to, std::int64_t ld_to) {
  const int column = static_cast<int>(blockIdx.x), diagonal = own.global(local + column) - first;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x)) {
    if (above ? i < diagonal : i > diagonal) to[i + column * ld_to] = from[i + column * ld_from];
  }
}

/// The inversion of one distributed triangular matrix. A panel consists of adjacent block columns, because
/// products with wide panels are faster. Its *square* is its diagonal block, width x width. Block columns are
/// narrow, so that all GPUs have about equal work.
template <class T>
class DistributedTriangle {
 public:
  /// @param width columns per panel, a multiple of the columns per block
  /// @param parts each GPU's block columns of A, and its workspace of distributed_triangle_bytes
  /// @param keeps_other_triangle true: the other triangle does not change; false: its elements in the panels'
  /// diagonal blocks (width x width) are overwritten
  DistributedTriangle(Context& context, const ColumnBlocks& blocks, std::int64_t width,
                      std::vector<OperandPart<T>>& parts, Uplo uplo, bool keeps_other_triangle)
      : panels_(context, blocks, parts, lu::panel_bytes(blocks.n, width, sizeof(T))),
        blocks_(blocks),
        width_(width),
        is_lower_(uplo == Uplo::lower),
        keeps_other_triangle_(keeps_other_triangle) {
    for (OperandPart<T>& part : parts) {
      saved_.push_back(part.workspace.template take<T>(width * width));
      reversed_.push_back(part.workspace.template take<T>(width * lu::max_solve_rows_per_launch));
      reciprocals_.push_back(part.workspace.template take<T>(width));
    }
  }

  /// Inverts the triangle. Asynchronous on the first GPU's stream.
  /// @param info null, or memory of the first GPU: receives the index, from 1, of the first 0 on the diagonal
  void invert(int* info) {
    send_and_apply(is_lower_,
                   [&](int gpu, const PanelStep& step) { apply(gpu, step, gpu == 0 ? info : nullptr); });
  }
  /// Replaces the upper triangular inverse P by the upper triangle of P P^T.
  /// @pre `keeps_other_triangle` is false
  void square() {
    send_and_apply(/*ascending=*/true, [this](int gpu, const PanelStep& step) { add_products(gpu, step); });
  }

 private:
  /// A step of the loop over panels: the index of its panel, which has the block columns [first, last).
  struct PanelStep {
    std::int64_t index, first, last;
  };
  PanelStep step(std::int64_t index) const {
    const std::int64_t count = width_ / blocks_.width;
    return {index, index * count, std::min((index + 1) * count, blocks_.count())};
  }
  static constexpr std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  /// Returns a GPU's copy of the step's panel.
  TrianglePanel<T> panel(int gpu, const PanelStep& step) {
    const std::int64_t begin = blocks_.begin(step.first), end = blocks_.begin(step.last);
    const std::int64_t rows = is_lower_ ? blocks_.n - begin : end;
    return {static_cast<T*>(panels_.panel(gpu, step.index)), lu::leading_dimension(rows),
            static_cast<int>(rows), static_cast<int>(end - begin)};
  }
  /// Returns the first of the step's block columns that the GPU owns; step.last or more if it owns none.
  std::int64_t first_block(int gpu, const PanelStep& step) const {
    return step.first + (gpu - blocks_.gpu_of(step.first) + blocks_.gpus) % blocks_.gpus;
  }

  /// Sends one panel after the other to all GPUs and applies it there. Sends the next panel while one is
  /// applied.
  /// @param ascending true: from the first panel to the last; false: from the last to the first
  /// @param apply apply(gpu, step): applies a panel to the GPU's columns. It must not change block columns
  /// that are sent later
  template <class Apply>
  void send_and_apply(bool ascending, const Apply& apply) {
    DeviceGroup& group = panels_.group();
    const std::int64_t last = (blocks_.n - 1) / width_;
    const auto step_at = [&](std::int64_t index) { return step(ascending ? index : last - index); };
    group.stage(blocks_.gpus, "start");
    group.fork(blocks_.gpus);
    send(step_at(0));
    for (std::int64_t index = 0; index <= last; ++index) {
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) group.device(gpu).wait_for(group.copy_stream(gpu));
      if (index < last) send(step_at(index + 1));
      group.stage(blocks_.gpus, "apply");
      for (int gpu = 0; gpu < blocks_.gpus; ++gpu) apply(gpu, step_at(index));
    }
    group.join(blocks_.gpus);
  }

  /// Copies the blocks of a panel from their owners to all GPUs.
  void send(const PanelStep& step) {
    DeviceGroup& group = panels_.group();
    group.stage(blocks_.gpus, "panel");
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      // A panel reuses the memory of the panel that was sent two steps before. This memory is free when the
      // other GPUs have copied that earlier panel.
      group.wait_for_others_copies(gpu, blocks_.gpus);
      for (std::int64_t block = first_block(gpu, step); block < step.last; block += blocks_.gpus)
        copy_block(group.use(gpu), step, block);
    }
    group.stage(blocks_.gpus, "transfer");
    for (int gpu = 0; gpu < blocks_.gpus; ++gpu) {
      Device& copies = group.copy_stream(gpu);
      // The GPU's main stream may still apply the panel whose memory is reused.
      copies.wait_for(group.device(gpu));
      for (int other = 0; other < blocks_.gpus; ++other) {
        const std::int64_t first = first_block(other, step);
        if (other == gpu || first >= step.last) continue;
        copies.wait_for(group.device(other));
        for (std::int64_t block = first; block < step.last; block += blocks_.gpus) {
          const std::int64_t ld = panel(gpu, step).ld;
          const std::int64_t offset = (blocks_.begin(block) - blocks_.begin(step.first)) * ld;
          copies.copy(panel(gpu, step).a + offset, panel(other, step).a + offset,
                      bytes_of(ld * blocks_.columns(block)));
        }
      }
    }
  }

  /// Copies a block column into its owner's panel. If the triangle is lower, copies M and D (make_unit). If
  /// it is upper, fills the rows below the diagonal block with zeros.
  void copy_block(Context& context, const PanelStep& step, std::int64_t block) {
    const int owner = blocks_.gpu_of(block), columns = static_cast<int>(blocks_.columns(block));
    const TrianglePanel<T> to = panel(owner, step);
    const std::int64_t begin = blocks_.begin(block), offset = begin - blocks_.begin(step.first);
    if (is_lower_) {
      simt::launch(context, make_unit<T>, dim3(static_cast<unsigned>(columns)), dim3(threads), 0,
                   panels_.column(block, begin), panels_.ld(owner), static_cast<int>(blocks_.n - begin),
                   to.a + offset * (to.ld + 1), to.ld);
    } else {
      lu::copy_matrix<T>(
          context, {panels_.column(block, 0), panels_.ld(owner), static_cast<int>(blocks_.begin(block + 1))},
          to.a + offset * to.ld, to.ld, to.rows, columns);
    }
  }

  /// Applies a panel to the GPU's columns of the inverse. The GPU's columns in the panel itself are no longer
  /// needed in place, because the panel is a copy. They start as the identity here and become columns of the
  /// inverse. Sets *info if the diagonal has a 0.
  void apply(int gpu, const PanelStep& step, int* info) {
    Context& context = panels_.group().use(gpu);
    const TrianglePanel<T> triangle = panel(gpu, step);
    const std::int64_t begin = blocks_.begin(step.first), row = is_lower_ ? begin : 0, ld = panels_.ld(gpu);
    // The GPU's columns [local, local_end) belong to the panel.
    const std::int64_t local = blocks_.columns_before(step.first, gpu);
    const std::int64_t local_end = blocks_.columns_before(step.last, gpu);
    T* const square = panels_.local_column(gpu, local, begin);
    T* const saved = saved_[static_cast<std::size_t>(gpu)];
    // Copies the elements of the other triangle in the panel's square.
    const auto copy_other_triangle = [&](const T* from, std::int64_t ld_from, T* to, std::int64_t ld_to) {
      if (!keeps_other_triangle_ || local == local_end) return;
      simt::launch(context, copy_triangle_columns<T>, dim3(static_cast<unsigned>(local_end - local)),
                   dim3(threads), 0, from, ld_from, triangle.columns, LocalColumns(blocks_, gpu),
                   static_cast<int>(local), static_cast<int>(begin), is_lower_, to, ld_to);
    };
    copy_other_triangle(square, ld, saved, width_);
    start_blocks(context, panels_, gpu, step.first, step.last, row, triangle.rows);
    if (is_lower_) {
      T* const x = panels_.local_column(gpu, 0, row);
      apply_lower</*Corrects=*/true>(context, triangle, x, ld, local_end);
      divide(context, triangle, x, ld, local_end);
    } else {
      const auto index = static_cast<std::size_t>(gpu);
      apply_upper(context, triangle, panels_.local_column(gpu, local, row), ld,
                  blocks_.columns_of(gpu) - local, reversed_[index], reciprocals_[index]);
    }
    copy_other_triangle(saved, width_, square, ld);
    if (info == nullptr) return;
    simt::launch(context, check_diagonal<T>, dim3(1), dim3(32), 0,
                 triangle.a + (is_lower_ ? 0 : triangle.rows - triangle.columns), triangle.ld,
                 triangle.columns, static_cast<int>(begin), info);
  }

  /// Replaces X = M^-1 by D^-1 X in the panel's first m.columns rows. D is the diagonal of `m`.
  void divide(Context& context, const TrianglePanel<T>& m, T* x, std::int64_t ld, std::int64_t columns) {
    if (columns == 0) return;
    simt::launch(context, divide_rows<T>, dim3(static_cast<unsigned>(std::min<std::int64_t>(columns, 1024))),
                 dim3(threads), 0, m.a, m.ld, m.columns, static_cast<int>(columns), x, ld);
  }

  /// Adds the product of a panel of P and its transpose to the GPU's block columns of P P^T.
  void add_products(int gpu, const PanelStep& step) {
    Context& context = panels_.group().use(gpu);
    const TrianglePanel<T> p = panel(gpu, step);
    for (std::int64_t block = gpu; block < step.last; block += blocks_.gpus) {
      vendor_gemm(context, vendor::Op::none, vendor::Op::transpose, blocks_.begin(block + 1),
                  blocks_.columns(block), p.columns, T(1), p.a, p.ld, p.a + blocks_.begin(block), p.ld,
                  // The panel's own block columns start here: beta = 0 overwrites P, of which `p` is a copy.
                  T(block < step.first ? 1 : 0), panels_.column(block, 0), panels_.ld(gpu));
    }
  }

  DistributedPanels<T> panels_;
  ColumnBlocks blocks_;
  std::int64_t width_;
  bool is_lower_, keeps_other_triangle_;
  std::vector<T*> saved_;                   ///< per GPU: the other triangle of a panel's square
  std::vector<T*> reversed_, reciprocals_;  ///< per GPU: the workspace of apply_upper
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
