#pragma once
/// Measures the time of a step on a device with the host's clock.

#include <utility>

#include "driver/system/clock.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep::driver {

/// Returns the seconds of `work`, including a device synchronization before the end. Earlier work on the
/// device is completed first; its time is not included.
template <class Work>
double timed(Device& device, Work&& work) {
  device.synchronize();
  const double start = now_seconds();
  std::forward<Work>(work)();
  device.synchronize();
  return now_seconds() - start;
}

}  // namespace gaussweep::driver
