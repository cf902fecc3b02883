#pragma once
/// Work on a GPU's stream, recorded once and queued again as a whole. Its time is what the GPU needs where
/// the host queues no single kernels.

#include <cstddef>
#include <functional>
#include <memory>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// A CUDA graph, ready to be launched. It works on the memory that it was recorded with.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Queues all of it, asynchronously. @throws DeviceError
  virtual void replay() = 0;
  /// How many kernels it launches, those inside libraries too.
  virtual std::size_t kernels() const = 0;
};

/// Records what `queue` puts on the device's stream; none of it is done. nullptr where the device records
/// nothing (the CPU, a build without CUDA). The same where `queue` does what cannot be recorded: it waits for
/// the device, allocates, or decides by results.
/// @throws DeviceError where the device is broken; what `queue` throws and is neither DeviceError nor
/// OutOfMemory
std::unique_ptr<Recording> record_work(Device& device, const std::function<void()>& queue);

}  // namespace gaussweep
