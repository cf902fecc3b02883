#pragma once
/// Gaps: the bytes of an allocation that belong to no operand. They hold a pattern that no run may change.
///
/// The pattern consists of signalling NaNs, so that a method that reads a gap gets a wrong answer. Arithmetic
/// never returns a signalling NaN: a CPU makes it quiet, and a GPU replaces it. All 32-bit words within 256
/// KiB differ. A copy that is too long therefore changes the gap behind its destination, even if it copies
/// another gap there.

#include <cstddef>
#include <string>

namespace gaussweep {

/// The minimum size of a gap before or behind an operand.
constexpr std::size_t min_gap = 1024;

/// An operand next to a gap.
struct GapSide {
  std::string operand;            ///< its name; empty if there is no operand on this side
  std::size_t element_bytes = 1;  ///< bytes per element
};

/// A gap, or the padding of all rows or columns of a matrix.
struct MemoryGap {
  GapSide preceding, following;       ///< the operands before and behind the gap
  std::size_t offset = 0;             ///< the first byte's offset in the allocation
  std::size_t bytes = 0;              ///< bytes of the gap; for padding: bytes behind each line
  std::size_t element_bytes = 8;      ///< bytes of a floating-point number of the pattern
  std::string line;                   ///< for padding: "row" or "column"; otherwise empty
  std::size_t lines = 1, stride = 0;  ///< for padding: number of lines, and their distance in bytes

  std::size_t end() const { return offset + (lines - 1) * stride + bytes; }
  /// Writes the pattern of `count` lines, from `first` on, to `to`, where lines are `to_stride` bytes apart.
  void write(void* to, std::size_t to_stride, std::size_t first, std::size_t count) const;
  /// Describes the first changed line, e.g. "element 1 behind A"; empty if none has changed.
  /// @param from the bytes of the gap, in which lines are `from_stride` bytes apart
  std::string change(const void* from, std::size_t from_stride) const;
};

}  // namespace gaussweep
