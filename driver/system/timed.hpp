#pragma once
/// Measures the time of a step on a device with the host's clock.

#include <utility>

#include "driver/system/clock.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep::driver {

/// Returns the seconds that `work` takes, up to a device synchronization after it. Earlier work on the device
/// is completed before the clock starts.
template <class Work>
double timed(Device& device, Work&& work) {
  device.synchronize();
  const double start = now_seconds();
  std::forward<Work>(work)();
  device.synchronize();
  return now_seconds() - start;
}

}  // namespace gaussweep::driver
