#pragma once
/// Gaps: the bytes of an allocation that belong to no operand. They hold a pattern that no run may change.
///
/// The words of the pattern are signalling NaN. A method that reads them gets a wrong answer, and arithmetic
/// never returns them: a CPU makes them quiet, a GPU replaces them. All words of 256 KiB differ, so that a
/// copy that is too long changes the gap behind its destination.

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// An operand next to a gap.
struct GapSide {
  std::string operand;  ///< empty if there is none
  std::size_t element = 1;
};

/// A gap, or the padding of all rows or columns of a matrix.
struct MemoryGap {
  GapSide behind, before;   ///< the operands that the gap is behind and before
  std::size_t offset = 0;   ///< in the allocation
  std::size_t bytes = 0;    ///< per line
  std::size_t element = 8;  ///< bytes of a floating-point number of the pattern
  std::string line;         ///< "row" or "column"; empty if this is no padding
  std::size_t lines = 1, stride = 0;

  std::size_t end() const { return offset + (lines - 1) * stride + bytes; }
  /// Writes the pattern of `count` lines, from `first` on, to `to`, where lines are `to_stride` bytes apart.
  void write(void* to, std::size_t to_stride, std::size_t first, std::size_t count) const;
  /// Describes the first changed line, e.g. "element 1 behind A"; empty if none has changed.
  /// @param from the bytes of the gap, in which lines are `from_stride` bytes apart
  std::string change(const void* from, std::size_t from_stride) const;
};

/// The operands of an allocation, with gaps of at least 1 KiB before the first one and behind each.
class GappedLayout {
 public:
  static constexpr std::size_t min_gap = 1024;
  static constexpr std::size_t first_offset = min_gap;  ///< of the first operand
  explicit GappedLayout(std::size_t element = 8) : element_(element) {}
  /// Append an operand. @return its offset, a multiple of 256
  /// @param element the bytes of its elements
  std::size_t append(const std::string& operand, std::size_t bytes, std::size_t element);
  /// @param line the name of its lines, e.g. "row". Each begins `stride` bytes after the one before, which
  /// has `line_bytes` bytes and padding
  std::size_t append(const std::string& operand, const char* line, std::size_t lines, std::size_t line_bytes,
                     std::size_t stride);
  /// Returns the size of the allocation; 0 without operands.
  std::size_t bytes() const { return bytes_; }
  /// Returns the padding of the operand that has one; nullptr if none has.
  const MemoryGap* padding() const;
  /// Fills the gaps that lie in `memory`, from an offset on, without padding. Emulated devices watch them.
  void fill(Device& device, const Buffer& memory, std::size_t from = 0) const;
  void fill_padding(Device& device, const Buffer& memory) const;
  /// Returns MemoryGap::change of the first gap that has changed; empty if none has.
  std::string overrun(Device& device, const void* memory) const;

 private:
  MemoryGap& append_gap(std::size_t offset, std::size_t bytes);
  std::size_t element_, bytes_ = 0;
  std::vector<MemoryGap> gaps_;  ///< sorted by their ends
};

}  // namespace gaussweep
