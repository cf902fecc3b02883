/// Flushes the last-level cache, so that a run starts with its operands in memory.

#include "kernels/device/cache_flush.hpp"

#include <unistd.h>

#include "kernels/device/device_facts.hpp"

namespace gaussweep {

std::size_t last_cache_bytes(Device& device) {
  if (device.backend() == Backend::cuda) return cuda_cache_bytes(device);
  constexpr std::size_t fallback = std::size_t{64} << 20;
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : fallback;
}

CacheFlush::CacheFlush(Device& device) : device_(device), memory_(device, 2 * last_cache_bytes(device)) {}

void CacheFlush::operator()() {
  device_.fill(memory_.data(), /*byte=*/0, memory_.bytes());
}

}  // namespace gaussweep
