#pragma once
/// Computes the offsets of operands in one allocation, with gaps between them that reveal writes out of
/// bounds.

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/memory_gap.hpp"

namespace gaussweep {

/// The layout of one allocation: operands, and a gap of at least `min_gap` bytes before the first operand and
/// behind each operand.
class GappedLayout {
 public:
  static constexpr std::size_t first_offset = min_gap;  ///< offset of the first operand in the allocation
  /// @param element_bytes bytes of a number in the pattern that fills the gaps (memory_gap.hpp), 4 or 8
  explicit GappedLayout(std::size_t element_bytes = 8) : pattern_bytes_(element_bytes) {}
  /// Appends an operand and a gap. Returns the operand's offset, a multiple of 256.
  /// @param element_bytes bytes of an element of the operand
  std::size_t append(const std::string& operand, std::size_t bytes, std::size_t element_bytes);
  /// Appends a matrix with padding behind each of its rows or columns, and a gap. Returns the matrix's
  /// offset.
  /// @param line "row" or "column", for messages
  /// @param lines number of rows or columns
  /// @param line_bytes bytes of a row or column without its padding
  /// @param stride bytes of a row or column with its padding
  std::size_t append(const std::string& operand, const char* line, std::size_t lines, std::size_t line_bytes,
                     std::size_t stride);
  /// Returns the size of the allocation; 0 without operands.
  std::size_t bytes() const { return bytes_; }
  /// Returns the padding of the first operand that has padding; nullptr if no operand has any.
  const MemoryGap* padding() const;
  /// Writes the patterns of the gaps, but not of padding. Skips gaps that begin before offset `from` or end
  /// beyond `memory`. On an emulated device, all gaps within `memory` become red zones instead
  /// (WatchedMemory).
  void fill(Device& device, const Buffer& memory, std::size_t from = 0) const;
  /// Writes the pattern of padding().
  void fill_padding(Device& device, const Buffer& memory) const;
  /// Compares all gaps and the padding with their patterns. Returns a description of the first change
  /// (MemoryGap::change); empty if nothing has changed.
  std::string overrun(Device& device, const void* memory) const;

 private:
  MemoryGap& append_gap(std::size_t offset, std::size_t bytes);
  std::size_t pattern_bytes_, bytes_ = 0;
  std::vector<MemoryGap> gaps_;  ///< sorted by their ends, because overrun() reads adjacent gaps together
};

}  // namespace gaussweep
