#include "driver/worker/held_answer.hpp"

#include <utility>
#include <vector>

#include "kernels/check/device_reductions.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/staging/convert_layout.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::int64_t max_host_elements = 1 << 14;  // elements up to which the host compares as fast

template <class T>
void add_copy(std::vector<DeviceCopy<T>>& copies, const HeldAnswer<T>& held) {
  if (!held.is_on_device()) return;
  copies.push_back({&held.answer.x, {static_cast<const T*>(held.x.data()), 1, held.answer.x.rows}});
}

/// Calls `work` with reductions on the device if `on_device`, the device holds an answer, and memory
/// suffices, otherwise on the host.
template <class T, class Work>
auto with_reductions(Context& context, std::vector<HeldAnswer<T>*> answers, bool on_device, Work&& work) {
  std::vector<DeviceCopy<T>> copies;
  for (const HeldAnswer<T>* answer : answers) {
    if (on_device) add_copy(copies, *answer);
  }
  if (!copies.empty()) {
    try {
      return work(*small_on_host(device_reductions<T>(context, std::move(copies))));
    } catch (const OutOfMemory&) {
    }
  }
  for (HeldAnswer<T>* answer : answers) bring_to_host(context.device, *answer);
  HostReductions<T> on_host;
  return work(on_host);
}

}  // namespace

template <class T>
void bring_to_host(Device& device, HeldAnswer<T>& held) {
  HostMatrix<T>& x = held.answer.x;
  if (!x.empty() || !held.is_on_device()) return;
  x = HostMatrix<T>::uninitialized(x.rows, x.cols);
  device.to_host(x.data.data(), held.x.data(), held.x.bytes());
}

template <class T>
Buffer copy_on_device(Context& context, const Strided<T>& from, const Extent& size) {
  if (size.rows * size.cols <= max_host_elements) return {};
  try {
    Buffer copy(context.device, static_cast<std::size_t>(size.rows * size.cols) * sizeof(T));
    convert_layout(context, from, size.rows, size.cols, {static_cast<T*>(copy.data()), 1, size.rows});
    return copy;
  } catch (const OutOfMemory&) {
    return {};
  }
}

template <class T>
void leave_host(HeldAnswer<T>& held) {
  if (held.is_on_device()) held.answer.x.data = {};
}

template <class T>
double norm_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& held) {
  return with_reductions<T>(
      context, {&held}, !has_triangles_of_batch(problem, shape),
      [&](Reductions<T>& reductions) { return norm_of_answer(problem, shape, held.answer, reductions); });
}

template <class T>
Difference difference_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& own,
                         HeldAnswer<T>& reference, double reference_norm) {
  return with_reductions<T>(
      context, {&own, &reference}, !has_triangles_of_batch(problem, shape), [&](Reductions<T>& reductions) {
        return difference(problem, shape, own.answer, reference.answer, reference_norm, reductions);
      });
}

#define GAUSSWEEP_HELD_ANSWER(T)                                              \
  template Buffer copy_on_device(Context&, const Strided<T>&, const Extent&); \
  template void leave_host(HeldAnswer<T>&);                                   \
  template void bring_to_host(Device&, HeldAnswer<T>&);                       \
  template double norm_of(Context&, Problem, const Shape&, HeldAnswer<T>&);   \
  template Difference difference_of(Context&, Problem, const Shape&, HeldAnswer<T>&, HeldAnswer<T>&, double);
GAUSSWEEP_HELD_ANSWER(float)
GAUSSWEEP_HELD_ANSWER(double)
#undef GAUSSWEEP_HELD_ANSWER

}  // namespace gaussweep::driver
