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
GappedLayout part_layout(const ColumnBlocks& blocks, int gpu, std::size_t element);

/// An n x n matrix in the memory of several devices, with the leading dimension
/// ColumnBlocks::leading_dimension(). The rows that pad the columns are not part of the matrix. Functions
/// that throw DeviceError leave any device current.
template <class T>
class DistributedMatrix {
 public:
  /// Allocates the parts. @throws OutOfMemory, DeviceError
  DistributedMatrix(DeviceGroup& group, const ColumnBlocks& blocks);

  /// Returns the part of a device; it may have no columns.
  MatrixView<T> part(int device) const;
  /// Copies a column-major n x n matrix with leading dimension n from the host, and back.
  void upload(const T* from);
  void download(T* to) const;
  /// Copies the parts of a matrix with the same distribution and group. Waits for the copies.
  void copy_from(const DistributedMatrix& other);
  /// The next three functions do for the distributed matrix what the functions of guard.hpp do for a matrix
  /// on one device, and wait for all devices. Digests of equal matrices differ if the widths of their blocks
  /// differ.
  void guard(const OperandGuard& guard);
  std::uint64_t digest(Region counted, Region negated) const;
  std::int64_t count_overwritten(Region hidden) const;
  /// Returns GappedLayout::overrun of the first part with a changed gap; empty if there is none.
  std::string overrun() const;

 private:
  /// Calls visit(context, first, extent, above, block) for the rows above each diagonal block (`above` is
  /// true), and for the rows from the diagonal block on. `first`: pointer to the first element.
  template <class Visit>
  void for_blocks(Visit&& visit) const;
  /// Calls copy(device, piece, stride in bytes, first column, columns, packed) for pieces of block columns,
  /// on all devices at the same time. `packed`: device memory for the columns without gaps; null if they have
  /// none.
  template <class Copy>
  void for_pieces(const Copy& copy) const;
  T* at(std::int64_t block) const;

  DeviceGroup* group_;
  ColumnBlocks blocks_;
  std::int64_t ld_;
  std::vector<GappedLayout> layouts_;  // per part
  std::vector<Buffer> parts_;
};

}  // namespace gaussweep
