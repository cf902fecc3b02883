#pragma once
/// Records work on a GPU's stream as a CUDA graph. A replayed graph runs without the host's launch overhead
/// per kernel.

#include <cstddef>
#include <functional>
#include <memory>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// A CUDA graph, ready to be launched. Each replay uses the memory addresses of the recording.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Launches the graph asynchronously. @throws DeviceError
  virtual void replay() = 0;
  /// Returns the number of kernels in the graph, including those of libraries.
  virtual std::size_t kernels() const = 0;
};

/// Records the work that `queue` puts on the device's stream, without executing it. Returns nullptr if the
/// device is no GPU. Also returns nullptr if `queue` waits for the device, allocates memory or reads results,
/// which a CUDA graph cannot contain.
/// @param leaves_work set to true if `queue` forks work to another stream and the device's stream never waits
/// for that work; may be null
/// @throws DeviceError if the GPU has failed. Other exceptions of `queue` are rethrown
std::unique_ptr<Recording> record_work(Device& device, const std::function<void()>& queue,
                                       bool* leaves_work = nullptr);

}  // namespace gaussweep
