#pragma once
/// The memory of an emulated device. It detects writes outside of operands, and its contents can be saved and
/// compared.
///
/// Every allocation lies between two red zones, and `add_red_zones` adds red zones within an allocation. A
/// red zone is a guard region filled with NaN, so that a read from it makes the answer NaN. With the address
/// sanitizer, such a read is an error, too.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/device/memory_gap.hpp"

namespace gaussweep {

/// The allocations of an emulated device and their red zones. Not thread-safe.
class WatchedMemory {
 public:
  using Image = std::vector<unsigned char>;  ///< the contents of all allocations, one after another
  /// The bytes of a red zone. Writes up to this distance from an operand are detected.
  static constexpr std::size_t red_zone = min_gap;

  /// Returns memory aligned to 256 bytes; null if memory ran out.
  void* allocate(std::size_t bytes);
  void release(void* pointer) noexcept;
  /// Fills `gaps` of an allocation, and makes them its inner red zones until it is released.
  void add_red_zones(void* allocation, const std::vector<MemoryGap>& gaps);
  /// Checks all red zones and restores their contents. @throws DeviceError "outOfBounds" if one was written
  void check();

  /// Copy the contents of all allocations to an image, and back.
  void save(Image& image) const;
  void restore(const Image& image);
  /// Describes the first difference between the contents and an image of the same allocations; empty if
  /// equal.
  std::string difference(const Image& image) const;

  /// While an object of this class lives, the address sanitizer reports every access to a red zone within an
  /// allocation. Such an object exists only while a kernel runs, because copies by the host span the red
  /// zones between operands.
  class RedZoneScope {
   public:
    explicit RedZoneScope(const WatchedMemory* memory);
    ~RedZoneScope();
    RedZoneScope(const RedZoneScope&) = delete;
    RedZoneScope& operator=(const RedZoneScope&) = delete;

   private:
    const WatchedMemory* memory_;
  };

 private:
  struct RedZone {
    MemoryGap gap;
    std::vector<unsigned char> pattern;
  };
  struct Allocation {
    std::size_t bytes;
    std::vector<RedZone> inner;  ///< red zones within the allocation
  };
  /// Calls visit(red zone, its first byte) for all red zones within allocations.
  template <class Visit>
  void for_inner_zones(Visit&& visit) const;
  std::map<unsigned char*, Allocation> allocations_;
};

}  // namespace gaussweep
