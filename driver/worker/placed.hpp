#pragma once
/// Answers that are compared in device memory or host memory, depending on where they are.

#include "kernels/check/check.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep::driver {

/// An answer whose elements are on the host, on the worker's device, or on both.
template <class T>
struct Placed {
  Answer<T> answer;  ///< x always has its size; its elements may be missing on the host
  Buffer x;          ///< x on the device, column-major; empty if x is small or the device has no room

  bool is_on_device() const { return x.data() != nullptr; }
};

/// Returns a copy of an answer's x on the context's device. Empty if x is so small that the host compares it
/// as fast, or if the device has no room.
/// @throws DeviceError
template <class T>
Buffer copy_on_device(Context& context, const Strided<T>& from, const Extent& size);

/// Frees the elements on the host if they are on the device.
template <class T>
void leave_host(Placed<T>& placed);
/// Copies the elements to the host if they are only on the device. @throws DeviceError
template <class T>
void bring_to_host(Device& device, Placed<T>& placed);

/// Computes `norm_of_answer` (check.hpp), on the worker's device if an answer is there and memory suffices,
/// otherwise on the host. @throws DeviceError
template <class T>
double norm_of(Context& context, Problem problem, const Shape& shape, Placed<T>& of);
/// Computes `difference` (check.hpp) in the same place as `norm_of`. @throws DeviceError
template <class T>
Difference difference_of(Context& context, Problem problem, const Shape& shape, Placed<T>& own,
                         Placed<T>& reference, double reference_norm);

}  // namespace gaussweep::driver
