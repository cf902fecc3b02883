#pragma once
/// The data that a worker keeps between trials with the same inputs.

#include <limits>
#include <memory>
#include <string>

#include "driver/worker/inputs.hpp"
#include "driver/worker/placed.hpp"
#include "driver/worker/residence.hpp"

namespace gaussweep::driver {

/// The vendor's answer that other methods' answers are compared with.
template <class T>
struct Reference {
  std::string identity;  ///< `comparison_identity` of the vendor's run
  Placed<T> placed;
  double norm = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double backward_error = std::numeric_limits<double>::quiet_NaN();
  double good_until = 0;  ///< after this time the vendor runs again, because clock rates drift
};

/// Inputs, device copies and reference that consecutive trials share.
template <class T>
struct Held {
  std::shared_ptr<Prepared<T>> prepared;
  Residence<T> residence;
  Reference<T> reference;

  /// Frees the memory on the device.
  void free_device_memory() {
    residence.clear();
    if (reference.placed.x.data() != nullptr) reference = {};
  }
};

}  // namespace gaussweep::driver
