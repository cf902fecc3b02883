/// Implements watched_memory.hpp: the memory of an emulated device, which detects writes outside of operands.

#include "kernels/device/watched_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/core/errors.hpp"
#include "kernels/core/sanitized.hpp"

#ifdef GAUSSWEEP_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace gaussweep {
namespace {

#ifdef GAUSSWEEP_ASAN
constexpr std::size_t outer_zone = 0;  // bytes; the sanitizer adds its own red zones
#else
constexpr std::size_t outer_zone = WatchedMemory::red_zone;  // bytes before and behind an allocation
#endif

/// Returns the byte that `address` holds in an outer red zone. The pattern is a quiet NaN in both precisions
/// that arithmetic does not produce.
unsigned char canary(std::uintptr_t address) {
  constexpr unsigned char bytes[] = {0xA5, 0xA5, 0xFD, 0xFF};
  return bytes[address % sizeof(bytes)];
}

/// Fills part of an outer red zone.
void write_canary(unsigned char* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) from[i] = canary(reinterpret_cast<std::uintptr_t>(from + i));
}

/// Returns the index of the first byte of an outer zone that differs from its canary; `outer_zone` if none
/// does.
std::size_t first_written(const unsigned char* zone) {
  // The canary repeats every four bytes. Four bytes more than a zone allow for every alignment.
  static const auto* const pattern = [] {
    alignas(4) static unsigned char all[outer_zone + 4];
    write_canary(all, sizeof(all));
    return all;
  }();
  const unsigned char* const expected = pattern + reinterpret_cast<std::uintptr_t>(zone) % 4;
  if (std::memcmp(zone, expected, outer_zone) == 0) return outer_zone;
  return static_cast<std::size_t>(std::mismatch(zone, zone + outer_zone, expected).first - zone);
}

}  // namespace

template <class Visit>
void WatchedMemory::for_inner_zones(Visit&& visit) const {
  for (const auto& [data, allocation] : allocations_) {
    for (const RedZone& zone : allocation.inner) visit(zone, data + zone.gap.offset);
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

void WatchedMemory::add_red_zones(void* allocation, const std::vector<MemoryGap>& gaps) {
  auto* const data = static_cast<unsigned char*>(allocation);
  std::vector<RedZone>& inner = allocations_.at(data).inner;
  inner.clear();
  for (const MemoryGap& gap : gaps) {
    RedZone zone{gap, std::vector<unsigned char>(gap.bytes)};
    gap.write(zone.pattern.data(), gap.bytes, /*first=*/0, /*count=*/1);
    std::memcpy(data + gap.offset, zone.pattern.data(), gap.bytes);
    inner.push_back(std::move(zone));
  }
}

void WatchedMemory::check() {
  std::string location;
  for (const auto& [data, allocation] : allocations_) {
    for (unsigned char* const zone : {data - outer_zone, data + allocation.bytes}) {
      const std::size_t written = first_written(zone);
      if (written == outer_zone) continue;
      if (location.empty()) {
        location = "byte " + std::to_string(zone + written - data) + " of an allocation of " +
                   std::to_string(allocation.bytes) + " bytes";
      }
      write_canary(zone, outer_zone);
    }
  }
  for_inner_zones([&](const RedZone& zone, unsigned char* data) {
    if (std::memcmp(data, zone.pattern.data(), zone.gap.bytes) == 0) return;
    if (location.empty()) location = zone.gap.change(data, zone.gap.bytes);
    std::memcpy(data, zone.pattern.data(), zone.gap.bytes);
  });
  if (!location.empty())
    throw DeviceError("outOfBounds: a kernel wrote outside of its operands: " + location, "outOfBounds",
                      /*is_sticky=*/false);
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
  memory_->for_inner_zones([](const RedZone& zone, const unsigned char* data) {
    __asan_poison_memory_region(data, zone.gap.bytes);
  });
#endif
}

WatchedMemory::RedZoneScope::~RedZoneScope() {
#ifdef GAUSSWEEP_ASAN
  if (memory_ == nullptr) return;
  memory_->for_inner_zones([](const RedZone& zone, const unsigned char* data) {
    __asan_unpoison_memory_region(data, zone.gap.bytes);
  });
#endif
}

}  // namespace gaussweep
