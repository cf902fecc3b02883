#pragma once
/// A matrix whose block columns are distributed over the devices of a group.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/device_group.hpp"
#include "kernels/device/gapped_layout.hpp"
#include "kernels/registry/column_blocks.hpp"
#include "kernels/staging/guard.hpp"

namespace gaussweep {

/// Returns the memory layout of a GPU's part of a DistributedMatrix.
/// @param element_bytes bytes per element
GappedLayout part_layout(const ColumnBlocks& blocks, int gpu, std::size_t element_bytes);

/// An n x n matrix in the memory of several devices, with the leading dimension
/// ColumnBlocks::leading_dimension(). A *part* is one device's block columns, stored next to each other. The
/// rows that pad the columns are not part of the matrix. After a DeviceError, any device may be the current
/// one.
template <class T>
class DistributedMatrix {
 public:
  /// Allocates the parts. @throws OutOfMemory, DeviceError
  DistributedMatrix(DeviceGroup& group, const ColumnBlocks& blocks);

  /// Returns the part of a device; it may have no columns.
  MatrixView<T> part(int device) const;
  /// Copies a column-major n x n matrix with leading dimension n. upload() copies from the host to the
  /// devices, download() from the devices to the host.
  void upload(const T* from);
  void download(T* to) const;
  /// Copies a matrix with the same distribution and group. Waits for the copies.
  void copy_from(const DistributedMatrix& other);
  /// Like guard_operand, digest_elements and count_overwritten (guard.hpp), but for a distributed matrix.
  /// They wait for all devices. The digest also depends on the width of the blocks.
  void guard(const OperandGuard& guard);
  std::uint64_t digest(Region counted, Region negated) const;
  std::int64_t count_overwritten(Region hidden) const;
  /// Returns GappedLayout::overrun of the first part with a changed gap; empty if there is none.
  std::string overrun() const;

 private:
  /// Calls visit(context, first, extent, above, block) twice per block column: for the rows above the
  /// diagonal block (`above` is true), and for the other rows. `first` points to the first of these elements.
  template <class Visit>
  void for_blocks(Visit&& visit) const;
  /// Calls copy(device, piece, stride in bytes, first column, columns, packed) for groups of columns within a
  /// block column, on all devices at the same time. `piece`: address of the first column. `packed`: device
  /// memory for a copy of the columns without padding; null if the columns have no padding.
  template <class Copy>
  void for_pieces(const Copy& copy) const;
  /// Returns the first element of a block column, on its device.
  T* at(std::int64_t block) const;

  DeviceGroup* group_;
  ColumnBlocks blocks_;
  std::int64_t ld_;
  std::vector<GappedLayout> layouts_;  // per part
  std::vector<Buffer> parts_;
};

}  // namespace gaussweep
