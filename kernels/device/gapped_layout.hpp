#pragma once
/// Lays out operands in one allocation, with gaps between them that detect writes outside of operands.

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/memory_gap.hpp"

namespace gaussweep {

/// The operands of an allocation, with gaps of at least `min_gap` bytes before the first one and behind each.
class GappedLayout {
 public:
  static constexpr std::size_t first_offset = min_gap;  ///< of the first operand
  /// @param element the bytes of a floating-point number (for the pattern of the gaps)
  explicit GappedLayout(std::size_t element = 8) : element_(element) {}
  /// Appends an operand and returns its offset, a multiple of 256.
  /// @param element the bytes of its elements
  std::size_t append(const std::string& operand, std::size_t bytes, std::size_t element);
  /// Appends a matrix whose lines (rows or columns) have `line_bytes` bytes and then padding up to `stride`.
  /// @param line the name of a line in messages: "row" or "column"
  std::size_t append(const std::string& operand, const char* line, std::size_t lines, std::size_t line_bytes,
                     std::size_t stride);
  /// Returns the size of the allocation; 0 without operands.
  std::size_t bytes() const { return bytes_; }
  /// Returns the padding of the operand whose lines have padding (at most one has); nullptr if none has.
  const MemoryGap* padding() const;
  /// Fills the gaps from offset `from` to the end of `memory`, except for padding. On emulated devices they
  /// become red zones (watched_memory.hpp).
  void fill(Device& device, const Buffer& memory, std::size_t from = 0) const;
  /// Fills the padding.
  void fill_padding(Device& device, const Buffer& memory) const;
  /// Returns MemoryGap::change of the first gap that has changed; empty if none has.
  std::string overrun(Device& device, const void* memory) const;

 private:
  MemoryGap& append_gap(std::size_t offset, std::size_t bytes);
  std::size_t element_, bytes_ = 0;
  std::vector<MemoryGap> gaps_;  ///< sorted by their ends
};

}  // namespace gaussweep
