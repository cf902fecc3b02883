#pragma once
/// Flushes the last-level cache, so that a run starts with its operands in memory.

#include <cstddef>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Returns the bytes of the last-level cache: a GPU's L2, a CPU's L3; 64 MiB if the CPU does not report it.
/// @throws DeviceError
std::size_t last_cache_bytes(Device& device);

/// Flushes the last-level cache by overwriting a buffer of twice its size.
class CacheFlush {
 public:
  /// Allocates the buffer. @throws OutOfMemory, DeviceError
  explicit CacheFlush(Device& device);
  /// Overwrites the buffer on the device's stream, which evicts the cache's previous contents.
  void operator()();

 private:
  Device& device_;
  Buffer memory_;
};

}  // namespace gaussweep
