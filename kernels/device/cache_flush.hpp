#pragma once
/// Cold caches: before a run, its operands are driven out of the last cache before memory.

#include <cstddef>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Bytes of the last cache before memory: a GPU's L2, a CPU's L3; 64 MiB where the CPU does not tell.
/// @throws DeviceError
std::size_t last_cache_bytes(Device& device);

/// Owns twice as much memory as the last cache holds.
class CacheFlush {
 public:
  /// @throws OutOfMemory, DeviceError
  explicit CacheFlush(Device& device);
  /// Writes all of it, on the device's stream: what the cache held before is gone.
  void operator()();

 private:
  Device& device_;
  Buffer memory_;
};

}  // namespace gaussweep
