#pragma once
/// What a worker holds from trial to trial, as long as they share it.

#include <limits>
#include <memory>
#include <string>

#include "driver/worker/inputs.hpp"
#include "driver/worker/placed.hpp"
#include "driver/worker/residence.hpp"

namespace gaussweep::driver {

/// The vendor's answer that trials are compared with.
template <class T>
struct Reference {
  std::string identity;  ///< of the run that it comes from: `comparison_identity`
  Placed<T> placed;
  double norm = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double backward_error = std::numeric_limits<double>::quiet_NaN();
  double good_until = 0;  ///< by the clock: what drifts has drifted then
};

template <class T>
struct Held {
  std::shared_ptr<Prepared<T>> prepared;
  Residence<T> residence;
  Reference<T> reference;

  /// Frees what lies on the device.
  void leave_device() {
    residence.clear();
    if (reference.placed.x.data() != nullptr) reference = {};
  }
};

}  // namespace gaussweep::driver
