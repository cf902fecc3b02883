#pragma once
/// The data that a worker keeps between trials with the same inputs: the inputs and the reference. The
/// reference is the answer of the vendor's method, with which other methods' answers are compared.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "driver/worker/inputs.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// An answer x (the matrix or vectors that a method computes), with elements on the host, on the worker's
/// device, or on both.
template <class T>
struct HeldAnswer {
  Answer<T> answer;  ///< the sizes of x are always set; the elements of x may be missing on the host
  Buffer x;          ///< x on the device, column-major; empty if x is small or device memory did not suffice
  /// If this answer is the reference: the `comparison_identity` of the vendor's run, which is equal for all
  /// trials that are compared with this run. Otherwise empty, and the next members are not used.
  std::string identity;
  double norm = std::numeric_limits<double>::quiet_NaN();     ///< the norm of x (`norm_of`)
  double seconds = std::numeric_limits<double>::quiet_NaN();  ///< median of the samples
  double backward_error = std::numeric_limits<double>::quiet_NaN();
  double valid_until = 0;  ///< after this time the vendor runs again, because clock rates drift

  bool is_on_device() const { return x.data() != nullptr; }
  /// Returns the elements on the device, or null.
  const T* device_x() const { return static_cast<const T*>(x.data()); }
  /// Frees the elements on the host if they are on the device.
  void free_host_copy() {
    if (is_on_device()) answer.x.data = {};
  }
  /// Copies the elements to the host if they are only on the device. @throws DeviceError
  void bring_to_host(Device& device);
};

/// Returns a copy of an answer's x on the context's device. Returns an empty buffer if device memory does not
/// suffice, or if x is so small that a comparison on the host is as fast.
/// @throws DeviceError
template <class T>
Buffer copy_on_device(Context& context, const StridedView<T>& from, const Extent& size);

/// Returns `norm_of_answer` (check.hpp), computed on the worker's device if it holds the answer and has
/// enough memory, otherwise on the host. @throws DeviceError
template <class T>
double norm_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& held);
/// Returns `difference` (check.hpp), computed on the device or the host as in `norm_of`. @throws DeviceError
template <class T>
Difference difference_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& answer,
                         HeldAnswer<T>& reference, double reference_norm);

/// The last trial's inputs on the host, their unmodified ("pristine") copies on the device, and the reference
/// for these inputs. A run of the next trial need not upload inputs that are already on the device.
template <class T>
class CachedInputs {
 public:
  std::shared_ptr<Prepared<T>> prepared;  ///< the inputs on the host: A, and B if the problem has it
  HeldAnswer<T> reference;                ///< the vendor's answer

  /// Moves the device copies to the caller if they are copies of the inputs `prepared`. If only their A is
  /// the trial's A, moves A alone. Returns an empty `ResidentInputs` if A differs, or if the bits on the
  /// device have changed since the upload.
  /// @throws DeviceError
  ResidentInputs<T> take_resident(Context& context);
  /// Keeps the pristine inputs of a finished run on the device.
  /// @param digest hash of the inputs when they were uploaded
  /// @param upload_seconds time of the upload
  void keep_resident(Staging<T>& staging, std::uint64_t digest, double upload_seconds);
  /// Frees the inputs on the device.
  void free_resident() { resident_ = {}; }
  /// Frees the inputs on the device unless A is the matrix with this digest.
  void free_resident_unless(const std::string& digest);
  /// Frees all memory on the device.
  void free_device_memory();

  /// Returns the digest and the upload time of the inputs that were kept last.
  std::uint64_t digest() const { return digest_; }
  double upload_seconds() const { return upload_seconds_; }

 private:
  ResidentInputs<T> resident_;
  std::string a_name_, inputs_identity_;  ///< identify A on the device, and all inputs on the device
  std::uint64_t digest_ = 0;
  double upload_seconds_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace gaussweep::driver
