#pragma once
/// Right-hand sides that a substitution copies from GPU to GPU, to the owner of the next block column.

#include <vector>

#include "kernels/device/device_group.hpp"
#include "kernels/registry/column_blocks.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Columns that are valid on one GPU of a group at a time, at the start on the first GPU.
template <class T>
class TravellingColumns {
 public:
  /// @param b on the first GPU @param parts workspace of each GPU for a copy of `b` with ld = rows
  TravellingColumns(DeviceGroup& group, const MatrixView<T>& b, std::vector<OperandPart<T>>& parts)
      : group_(group), views_{b} {
    for (std::size_t gpu = 1; gpu < parts.size(); ++gpu)
      views_.push_back({parts[gpu].workspace.template take<T>(b.rows * b.cols), b.rows, b.cols, b.rows});
  }
  /// Copies the columns to a GPU, after the work that is queued on the GPU that has them now.
  const MatrixView<T>& bring_to(int gpu) {
    const MatrixView<T>& to = views_[static_cast<std::size_t>(gpu)];
    if (gpu == holder_) return to;
    const MatrixView<T>& from = views_[static_cast<std::size_t>(holder_)];
    Device& device = group_.device(gpu);
    device.wait_for(group_.device(holder_));
    device.copy_2d(to.data, bytes_of(to.ld), from.data, bytes_of(from.ld), bytes_of(to.rows),
                   static_cast<std::size_t>(to.cols));
    holder_ = gpu;
    return to;
  }

 private:
  static std::size_t bytes_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  DeviceGroup& group_;
  std::vector<MatrixView<T>> views_;
  int holder_ = 0;
};

/// Returns a block column of a distributed matrix.
template <class T>
MatrixView<T> block_column(const ColumnBlocks& blocks, const std::vector<OperandPart<T>>& parts,
                           std::int64_t block) {
  const MatrixView<T>& a = parts[static_cast<std::size_t>(blocks.gpu_of(block))].a;
  return {a.data + blocks.local_begin(block) * a.ld, a.rows, blocks.columns(block), a.ld};
}

/// Returns the bytes of workspace per GPU for travelling columns.
inline std::size_t travelling_bytes(const Shape& shape, std::size_t element) {
  return workspace_piece(shape.n * shape.nrhs, element);
}

}  // namespace gaussweep
