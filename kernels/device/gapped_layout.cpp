/// Implements gapped_layout.hpp: offsets of operands, and gaps that reveal writes out of bounds.

#include "kernels/device/gapped_layout.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/device/watched_memory.hpp"

namespace gaussweep {

/// Appends a gap or padding without names of its operands.
MemoryGap& GappedLayout::append_gap(std::size_t offset, std::size_t bytes) {
  MemoryGap& gap = gaps_.emplace_back();
  gap.offset = offset;
  gap.bytes = bytes;
  gap.element_bytes = pattern_bytes_;
  return gap;
}

std::size_t GappedLayout::append(const std::string& operand, std::size_t bytes, std::size_t element_bytes) {
  constexpr std::size_t alignment = 256;  // the alignment of cudaMalloc and cudaMallocPitch
  if (gaps_.empty()) append_gap(/*offset=*/0, bytes_ = first_offset);
  gaps_.back().following = {operand, element_bytes};
  const std::size_t offset = bytes_, end = offset + bytes;
  bytes_ = (end + alignment - 1) / alignment * alignment + min_gap;
  append_gap(end, bytes_ - end).preceding = {operand, element_bytes};
  return offset;
}

std::size_t GappedLayout::append(const std::string& operand, const char* line, std::size_t lines,
                                 std::size_t line_bytes, std::size_t stride) {
  const std::size_t offset = append(operand, lines * stride, pattern_bytes_);
  if (lines == 0 || stride == line_bytes) return offset;
  MemoryGap& padding = append_gap(offset + line_bytes, stride - line_bytes);
  padding.preceding = {operand, pattern_bytes_};
  padding.line = line;
  padding.lines = lines;
  padding.stride = stride;
  std::iter_swap(gaps_.end() - 1, gaps_.end() - 2);  // the padding ends before the gap behind the operand
  return offset;
}

const MemoryGap* GappedLayout::padding() const {
  const auto found =
      std::find_if(gaps_.begin(), gaps_.end(), [](const MemoryGap& gap) { return !gap.line.empty(); });
  return found == gaps_.end() ? nullptr : &*found;
}

void GappedLayout::fill(Device& device, const Buffer& memory, std::size_t from) const {
  std::vector<MemoryGap> filled;
  std::copy_if(gaps_.begin(), gaps_.end(), std::back_inserter(filled),
               [&](const MemoryGap& gap) { return gap.line.empty() && gap.end() <= memory.bytes(); });
  if (device.watched_memory() != nullptr && !filled.empty())
    return device.watched_memory()->add_red_zones(memory.data(), filled);
  std::vector<std::byte> pattern;
  for (const MemoryGap& gap : filled) {
    if (gap.offset < from) continue;
    pattern.resize(gap.bytes);
    gap.write(pattern.data(), gap.bytes, /*first=*/0, /*count=*/1);
    device.to_device(static_cast<std::byte*>(memory.data()) + gap.offset, pattern.data(), gap.bytes);
  }
}

void GappedLayout::fill_padding(Device& device, const Buffer& memory) const {
  const MemoryGap* const gap = padding();
  if (gap == nullptr) return;
  std::vector<std::byte> pattern(gap->bytes * gap->lines);
  gap->write(pattern.data(), gap->bytes, /*first=*/0, gap->lines);
  // Copies of short lines directly from pageable host memory would be much slower.
  const Buffer packed(device, pattern.size());
  device.to_device(packed.data(), pattern.data(), pattern.size());
  device.copy_2d(static_cast<std::byte*>(memory.data()) + gap->offset, gap->stride, packed.data(), gap->bytes,
                 gap->bytes, gap->lines);
  device.synchronize();
}

std::string GappedLayout::overrun(Device& device, const void* memory) const {
  // One copy downloads all gaps within 64 KiB and the operands between them, faster than one copy per gap.
  constexpr std::size_t max_span = std::size_t{1} << 16;
  std::vector<std::byte> copy;
  for (auto gap = gaps_.begin(); gap != gaps_.end();) {
    const std::size_t from = gap->offset;
    const auto end = std::find_if(std::next(gap), gaps_.end(),
                                  [&](const MemoryGap& next) { return next.end() > from + max_span; });
    const auto* const data = static_cast<const std::byte*>(memory) + from;
    // Padding that spans more than that is downloaded alone, without the elements between its lines.
    const bool is_packed = gap->end() > from + max_span;
    if (is_packed) {
      copy.resize(gap->bytes * gap->lines);
      device.to_host_2d(copy.data(), gap->bytes, data, gap->stride, gap->bytes, gap->lines);
    } else {
      copy.resize(std::prev(end)->end() - from);
      device.to_host(copy.data(), data, copy.size());
    }
    for (; gap != end; ++gap) {
      const std::string change =
          gap->change(copy.data() + (gap->offset - from), is_packed ? gap->bytes : gap->stride);
      if (!change.empty()) return change;
    }
  }
  return {};
}

}  // namespace gaussweep
