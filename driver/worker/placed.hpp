#pragma once
/// Answers that are compared where they lie.

#include "kernels/check/check.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep::driver {

/// An answer with its elements on the host, on the worker's device, or on both.
template <class T>
struct Placed {
  Answer<T> answer;  ///< x has its size here, whether or not it has its elements
  Buffer x;          ///< column-major; none of a small one, or where the device has no room

  bool is_on_device() const { return x.data() != nullptr; }
};

/// A copy of an answer's x that lies on the context's device. It is empty where x is so small that the host
/// compares it as fast, and where there is no room.
/// @throws DeviceError
template <class T>
Buffer copy_on_device(Context& context, const Strided<T>& from, const Extent& size);

/// Frees the elements on the host where there are those on the device.
template <class T>
void leave_host(Placed<T>& placed);
/// Fetches them where they are on the device alone. @throws DeviceError
template <class T>
void bring_to_host(Device& device, Placed<T>& placed);

/// `norm_of_answer` and `difference` (check.hpp), on the worker's device where something lies there. Where
/// that has no room for what does not, on the host. @throws DeviceError
template <class T>
double norm_of(Context& context, Problem problem, const Shape& shape, Placed<T>& of);
template <class T>
Difference difference_of(Context& context, Problem problem, const Shape& shape, Placed<T>& own,
                         Placed<T>& reference, double reference_norm);

}  // namespace gaussweep::driver
