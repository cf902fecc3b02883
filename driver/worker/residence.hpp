#pragma once
/// The inputs that a trial leaves on the device for the next one of the same matrix.

#include <cstdint>
#include <limits>
#include <string>

#include "driver/worker/inputs.hpp"
#include "kernels/device/context.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

template <class T>
class Residence {
 public:
  /// Takes out what is there of `inputs`, if anything: nothing whose bits have changed since it was uploaded.
  /// @throws DeviceError
  Resident<T> take(Context& context, const Prepared<T>& inputs);
  /// Keeps the pristine set of a run that is over.
  /// @param digest of it when it was uploaded @param upload_seconds that took
  void keep(Staging<T>& staging, const Prepared<T>& inputs, std::uint64_t digest, double upload_seconds);
  /// Frees what the inputs of a matrix of the store, by its digest, have no use for.
  void keep_only(const std::string& digest);
  void clear();

  /// Of what was kept last.
  std::uint64_t digest() const { return digest_; }
  double upload_seconds() const { return upload_seconds_; }

 private:
  Resident<T> resident_;
  std::string a_, inputs_;  ///< which A, and which inputs
  std::uint64_t digest_ = 0;
  double upload_seconds_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace gaussweep::driver
