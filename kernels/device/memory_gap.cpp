/// Implements memory_gap.hpp: fills gaps with a pattern that no run may change, and checks them.

#include "kernels/device/memory_gap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gaussweep {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint32_t);

/// Returns the 32-bit word of the pattern at `offset`: a signalling NaN in float, or half of a signalling NaN
/// in double.
std::uint32_t gap_word(std::size_t offset, std::size_t element_bytes) {
  const std::size_t index = offset / word_bytes;  // its low 16 bits make the words differ
  const bool is_upper_half = element_bytes == 8 && index % 2 == 1;
  return (is_upper_half ? 0x7FF50000U : 0x7FA50000U) | static_cast<std::uint32_t>(index & 0xFFFF);
}

/// Returns e.g. "elements 1 to 3" for the bytes at distances `nearest` to `farthest` from the operand of
/// `side`.
std::string elements_text(std::size_t nearest, std::size_t farthest, const GapSide& side) {
  const std::size_t first = nearest / side.element_bytes + 1, last = farthest / side.element_bytes + 1;
  const std::string noun = side.element_bytes == 1 ? "byte" : "element";
  if (first == last) return noun + " " + std::to_string(first);
  return noun + "s " + std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

void MemoryGap::write(void* to, std::size_t to_stride, std::size_t first, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t byte = 0; byte < bytes; byte += word_bytes) {
      const std::uint32_t word = gap_word(offset + (first + i) * stride + byte, element_bytes);
      std::memcpy(static_cast<std::byte*>(to) + i * to_stride + byte, &word,
                  std::min(word_bytes, bytes - byte));
    }
  }
}

std::string MemoryGap::change(const void* from, std::size_t from_stride) const {
  std::vector<std::byte> expected(bytes);
  for (std::size_t i = 0; i < lines; ++i) {
    write(expected.data(), bytes, /*first=*/i, /*count=*/1);
    const auto* const begin = static_cast<const std::byte*>(from) + i * from_stride;
    if (std::memcmp(begin, expected.data(), bytes) == 0) continue;
    std::size_t first = 0, last = bytes - 1;
    while (begin[first] == expected[first]) ++first;
    while (begin[last] == expected[last]) --last;
    // The message names the nearer of the two operands.
    const std::size_t distance = bytes - 1 - last;  // from the operand `following`
    if (preceding.operand.empty() || (!following.operand.empty() && distance < first))
      return elements_text(distance, bytes - 1 - first, following) + " before " + following.operand;
    const std::string of_line = line.empty() ? "" : line + " " + std::to_string(i + 1) + " of ";
    return elements_text(first, last, preceding) + " behind " + of_line + preceding.operand;
  }
  return {};
}

}  // namespace gaussweep
