#pragma once
/// Right-hand sides of a substitution on several GPUs: they are copied from GPU to GPU, always to the owner
/// of the next block column of the triangle.

#include <vector>

#include "kernels/device/device_group.hpp"
#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Right-hand sides with a copy per GPU. Only one copy is up to date: at first the copy on the first GPU.
template <class T>
class MigratingColumns {
 public:
  /// @param b the right-hand sides on the first GPU
  /// @param parts provide each other GPU's workspace for a copy of `b` with ld = rows
  MigratingColumns(DeviceGroup& group, const MatrixView<T>& b, std::vector<OperandPart<T>>& parts)
      : group_(group), views_{b} {
    for (std::size_t gpu = 1; gpu < parts.size(); ++gpu)
      views_.push_back({parts[gpu].workspace.template take<T>(b.rows * b.cols), b.rows, b.cols, b.rows});
  }
  /// Returns the columns on `gpu`. Copies the current values to this GPU if another GPU has them; the copy
  /// then waits for all work queued on that GPU.
  const MatrixView<T>& bring_to(int gpu) {
    const MatrixView<T>& to = views_[static_cast<std::size_t>(gpu)];
    if (gpu == current_gpu_) return to;
    const MatrixView<T>& from = views_[static_cast<std::size_t>(current_gpu_)];
    Device& device = group_.device(gpu);
    device.wait_for(group_.device(current_gpu_));
    device.copy_2d(to.data, bytes_of(to.ld), from.data, bytes_of(from.ld), bytes_of(to.rows),
                   static_cast<std::size_t>(to.cols));
    current_gpu_ = gpu;
    return to;
  }

 private:
  static std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  DeviceGroup& group_;
  std::vector<MatrixView<T>> views_;
  int current_gpu_ = 0;  ///< the GPU whose copy is up to date
};

/// Returns a block column of a distributed matrix.
template <class T>
MatrixView<T> block_column(const ColumnBlocks& blocks, const std::vector<OperandPart<T>>& parts,
                           std::int64_t block) {
  const MatrixView<T>& a = parts[static_cast<std::size_t>(blocks.gpu_of(block))].a;
  return {a.data + blocks.local_begin(block) * a.ld, a.rows, blocks.columns(block), a.ld};
}

/// Returns the bytes of workspace per GPU for MigratingColumns.
inline std::size_t travelling_bytes(const Shape& shape, std::size_t element) {
  return aligned_workspace_bytes(shape.n * shape.nrhs, element);
}

}  // namespace gaussweep
