#include "kernels/device/watched_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "kernels/core/errors.hpp"
#include "kernels/core/sanitized.hpp"

#ifdef GAUSSWEEP_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace gaussweep {
namespace {

#ifdef GAUSSWEEP_ASAN
constexpr std::size_t outer_zone = 0;  // the sanitizer adds its own red zones
#else
constexpr std::size_t outer_zone = WatchedMemory::red_zone;
#endif

/// Returns the byte for `address` in a red zone. The pattern is a quiet NaN in both precisions. Arithmetic
/// does not produce this NaN.
unsigned char canary(std::uintptr_t address) {
  constexpr unsigned char bytes[] = {0xA5, 0xA5, 0xFD, 0xFF};
  return bytes[address % sizeof(bytes)];
}

void write_canary(unsigned char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) from[i] = canary(reinterpret_cast<std::uintptr_t>(from + i));
}

/// Returns the index of the first byte of a red zone that differs from its canary; `bytes` if none does.
std::size_t first_written(const unsigned char* zone, std::size_t bytes) {
  static const auto* const pattern = [] {
    alignas(4) static unsigned char all[WatchedMemory::red_zone + 4];
    write_canary(all, sizeof(all));
    return all;
  }();
  const unsigned char* const expected = pattern + reinterpret_cast<std::uintptr_t>(zone) % 4;
  for (std::size_t begin = 0; begin < bytes; begin += WatchedMemory::red_zone) {
    const std::size_t count = std::min(WatchedMemory::red_zone, bytes - begin);
    if (std::memcmp(zone + begin, expected, count) == 0) continue;
    return begin + static_cast<std::size_t>(
                       std::mismatch(zone + begin, zone + begin + count, expected).first - (zone + begin));
  }
  return bytes;
}

}  // namespace

/// Calls visit(zone, data, bytes) for every red zone, with its allocation's first byte and size.
template <class Visit>
void WatchedMemory::for_zones(Visit&& visit) const {
  for (const auto& [data, allocation] : allocations_) {
    if (outer_zone > 0) {
      visit(Zone{data - outer_zone, outer_zone}, data, allocation.bytes);
      visit(Zone{data + allocation.bytes, outer_zone}, data, allocation.bytes);
    }
    for (const Zone& zone : allocation.inner) visit(zone, data, allocation.bytes);
  }
}

void* WatchedMemory::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const std::size_t padded = bytes + 2 * outer_zone;
  if (padded < bytes || posix_memalign(&memory, 256, std::max<std::size_t>(padded, 1)) != 0) return nullptr;
  auto* const data = static_cast<unsigned char*>(memory) + outer_zone;
  write_canary(data - outer_zone, outer_zone);
  write_canary(data + bytes, outer_zone);
  allocations_.emplace(data, Allocation{bytes, {}});
  return data;
}

void WatchedMemory::release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  auto* const data = static_cast<unsigned char*>(pointer);
  allocations_.erase(data);
  std::free(data - outer_zone);
}

void WatchedMemory::add_red_zone(void* from, std::size_t bytes) {
  auto* const first = static_cast<unsigned char*>(from);
  write_canary(first, bytes);
  std::prev(allocations_.upper_bound(first))->second.inner.push_back({first, bytes});
}

void WatchedMemory::check() {
  std::string where;
  for_zones([&](const Zone& zone, const unsigned char* data, std::size_t bytes) {
    const std::size_t written = first_written(zone.from, zone.bytes);
    if (written == zone.bytes) return;
    if (where.empty()) {
      where = "a kernel wrote outside of an operand: byte " + std::to_string(zone.from + written - data) +
              " of an allocation of " + std::to_string(bytes) + " bytes";
      if (zone.from >= data && zone.from < data + bytes)
        where += ", which is byte " + std::to_string(written) + " behind one of its operands";
    }
    write_canary(zone.from, zone.bytes);
  });
  if (!where.empty()) throw DeviceError("outOfBounds: " + where, "outOfBounds", false);
}

void WatchedMemory::save(Image& image) const {
  image.clear();
  for (const auto& [data, allocation] : allocations_)
    image.insert(image.end(), data, data + allocation.bytes);
}

void WatchedMemory::restore(const Image& image) {
  const unsigned char* from = image.data();
  for (const auto& [data, allocation] : allocations_) {
    if (allocation.bytes > 0) std::memcpy(data, from, allocation.bytes);
    from += allocation.bytes;
  }
}

std::string WatchedMemory::difference(const Image& image) const {
  const unsigned char* expected = image.data();
  for (const auto& [data, allocation] : allocations_) {
    const unsigned char* const end = data + allocation.bytes;
    if (allocation.bytes > 0 && std::memcmp(data, expected, allocation.bytes) != 0) {
      return "byte " +
             std::to_string(std::mismatch(static_cast<const unsigned char*>(data), end, expected).first -
                            data) +
             " of an allocation of " + std::to_string(allocation.bytes) + " bytes";
    }
    expected += allocation.bytes;
  }
  return {};
}

WatchedMemory::RedZoneScope::RedZoneScope(const WatchedMemory* memory) : memory_(memory) {
#ifdef GAUSSWEEP_ASAN
  if (memory_ == nullptr) return;
  memory_->for_zones([](const Zone& zone, const unsigned char*, std::size_t) {
    __asan_poison_memory_region(zone.from, zone.bytes);
  });
#endif
}

WatchedMemory::RedZoneScope::~RedZoneScope() {
#ifdef GAUSSWEEP_ASAN
  if (memory_ == nullptr) return;
  memory_->for_zones([](const Zone& zone, const unsigned char*, std::size_t) {
    __asan_unpoison_memory_region(zone.from, zone.bytes);
  });
#endif
}

}  // namespace gaussweep
