#pragma once
/// The inputs that a trial leaves on the device for the next trial with the same matrix.

#include <cstdint>
#include <limits>
#include <string>

#include "driver/worker/inputs.hpp"
#include "kernels/device/context.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// The last trial's inputs on the device, unmodified ("pristine") as they were uploaded.
template <class T>
class Residence {
 public:
  /// Moves the held inputs to the caller if they match `inputs`, or A alone if only A matches. Returns
  /// nothing if the bits on the device have changed since the upload.
  /// @throws DeviceError
  Resident<T> take(Context& context, const Prepared<T>& inputs);
  /// Keeps the pristine inputs of a finished run.
  /// @param digest of the inputs when they were uploaded
  /// @param upload_seconds time of the upload
  void keep(Staging<T>& staging, const Prepared<T>& inputs, std::uint64_t digest, double upload_seconds);
  /// Frees the held inputs unless they belong to the stored matrix `digest`.
  void keep_only(const std::string& digest);
  void clear();

  /// Returns the digest and the upload time of the inputs that were kept last.
  std::uint64_t digest() const { return digest_; }
  double upload_seconds() const { return upload_seconds_; }

 private:
  Resident<T> resident_;
  std::string a_name_, inputs_identity_;  ///< names of the held A and of all held inputs
  std::uint64_t digest_ = 0;
  double upload_seconds_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace gaussweep::driver
