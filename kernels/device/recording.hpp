#pragma once
/// Work on a GPU's stream, recorded once and replayed as a whole. Its time excludes the host's time to launch
/// the single kernels.

#include <cstddef>
#include <functional>
#include <memory>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// A CUDA graph, ready to be launched. It uses the memory that it was recorded with.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Launches the graph asynchronously. @throws DeviceError
  virtual void replay() = 0;
  /// Returns the number of kernels in the graph, including those of libraries.
  virtual std::size_t kernels() const = 0;
};

/// Records the work that `queue` puts on the device's stream, without executing it. Returns nullptr if the
/// device cannot record (the CPU, a build without CUDA), or if `queue` does something that cannot be
/// recorded: it waits for the device, allocates memory, or decides by results.
/// @throws DeviceError if the device is broken; also any exception of `queue` other than DeviceError and
/// OutOfMemory
std::unique_ptr<Recording> record_work(Device& device, const std::function<void()>& queue);

}  // namespace gaussweep
