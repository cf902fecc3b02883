#pragma once
/// The data that a worker keeps between trials with the same inputs.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "driver/worker/held_answer.hpp"
#include "driver/worker/inputs.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// The vendor's answer that other methods' answers are compared with.
template <class T>
struct Reference {
  std::string identity;  ///< `comparison_identity` of the vendor's run
  HeldAnswer<T> answer;
  double norm = std::numeric_limits<double>::quiet_NaN();
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double backward_error = std::numeric_limits<double>::quiet_NaN();
  double good_until = 0;  ///< after this time the vendor runs again, because clock rates drift
};

/// The last trial's inputs on the host and, unmodified ("pristine") as they were uploaded, on the device, and
/// the reference for these inputs.
template <class T>
class Held {
 public:
  std::shared_ptr<Prepared<T>> prepared;
  Reference<T> reference;

  /// Moves the inputs on the device to the caller if they match `prepared`, or A alone if only A matches.
  /// Returns nothing if the bits on the device have changed since the upload.
  /// @throws DeviceError
  Resident<T> take_resident(Context& context);
  /// Keeps the pristine inputs of a finished run.
  /// @param digest of the inputs when they were uploaded
  /// @param upload_seconds time of the upload
  void keep_resident(Staging<T>& staging, std::uint64_t digest, double upload_seconds);
  /// Frees the inputs on the device.
  void free_resident() { resident_ = {}; }
  /// Frees the inputs on the device unless they belong to the stored matrix `digest`.
  void free_residents_except(const std::string& digest);
  /// Frees all memory on the device.
  void free_device_memory();

  /// Returns the digest and the upload time of the inputs that were kept last.
  std::uint64_t digest() const { return digest_; }
  double upload_seconds() const { return upload_seconds_; }

 private:
  Resident<T> resident_;
  std::string a_name_, inputs_identity_;  ///< names of A and of all inputs on the device
  std::uint64_t digest_ = 0;
  double upload_seconds_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace gaussweep::driver
