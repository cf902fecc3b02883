#pragma once
/// How long a step on a device takes, by the host's clock.

#include <utility>

#include "driver/system/clock.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep::driver {

/// Seconds of `work`, from when the device has done all that it was given before to when it has done this
/// too.
template <class Work>
double timed(Device& device, Work&& work) {
  device.synchronize();
  const double start = now_seconds();
  std::forward<Work>(work)();
  device.synchronize();
  return now_seconds() - start;
}

}  // namespace gaussweep::driver
