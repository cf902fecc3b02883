#pragma once
/// Answers in device memory or host memory, and their comparison on the device that holds them.

#include "kernels/check/check.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep::driver {

/// An answer whose elements are on the host, on the worker's device, or on both.
template <class T>
struct HeldAnswer {
  Answer<T> answer;  ///< x always has its size; its elements may be missing on the host
  Buffer x;          ///< x on the device, column-major; empty if x is small or device memory did not suffice

  bool is_on_device() const { return x.data() != nullptr; }
};

/// Returns a copy of an answer's x on the context's device. Empty if x is so small that the host compares it
/// as fast, or if device memory does not suffice.
/// @throws DeviceError
template <class T>
Buffer copy_on_device(Context& context, const Strided<T>& from, const Extent& size);

/// Frees the elements on the host if they are on the device.
template <class T>
void leave_host(HeldAnswer<T>& held);
/// Copies the elements to the host if they are only on the device. @throws DeviceError
template <class T>
void bring_to_host(Device& device, HeldAnswer<T>& held);

/// Returns `norm_of_answer` (check.hpp), computed on the worker's device if it holds the answer and has
/// enough memory, otherwise on the host. @throws DeviceError
template <class T>
double norm_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& held);
/// Returns `difference` (check.hpp), computed on the device or the host as in `norm_of`. @throws DeviceError
template <class T>
Difference difference_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& own,
                         HeldAnswer<T>& reference, double reference_norm);

}  // namespace gaussweep::driver
