/// Keeps data between trials with the same inputs: the inputs and the reference. The reference is the answer
/// of the vendor's method, with which other methods' answers are compared.

#include "driver/worker/cached_inputs.hpp"

#include <utility>
#include <vector>

#include "kernels/check/device_reductions.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/staging/convert_layout.hpp"

namespace gaussweep::driver {
namespace {

// Up to this many elements, a comparison on the host is as fast as one on the device.
constexpr std::int64_t max_host_elements = 1 << 14;

/// Calls `work` with an object that computes reductions (norms and differences). The reductions run on the
/// device if `may_use_device` is true, the device holds an answer, and memory suffices; otherwise on the
/// host.
template <class T, class Work>
auto with_reductions(Context& context, std::vector<HeldAnswer<T>*> answers, bool may_use_device,
                     Work&& work) {
  std::vector<DeviceCopy<T>> copies;
  for (const HeldAnswer<T>* answer : answers) {
    if (may_use_device && answer->is_on_device())
      copies.push_back({&answer->answer.x, {answer->device_x(), 1, answer->answer.x.rows}});
  }
  if (!copies.empty()) {
    try {
      return work(*small_on_host(device_reductions<T>(context, std::move(copies))));
    } catch (const OutOfMemory&) {
    }
  }
  for (HeldAnswer<T>* answer : answers) answer->bring_to_host(context.device);
  HostReductions<T> on_host;
  return work(on_host);
}

/// Returns a text that identifies A on the device: the digest (hash) of the whole matrix, which all problems
/// with this matrix share. Returns the identity of the inputs if A is only a triangle of the matrix.
template <class T>
const std::string& name_of_a(const Prepared<T>& inputs) {
  return inputs.digest.empty() ? inputs.identity : inputs.digest;
}

}  // namespace

template <class T>
void HeldAnswer<T>::bring_to_host(Device& device) {
  HostMatrix<T>& on_host = answer.x;
  if (!on_host.empty() || !is_on_device()) return;
  on_host = HostMatrix<T>::uninitialized(on_host.rows, on_host.cols);
  device.to_host(on_host.data.data(), x.data(), x.bytes());
}

template <class T>
Buffer copy_on_device(Context& context, const StridedView<T>& from, const Extent& size) {
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
double norm_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& held) {
  return with_reductions<T>(
      context, {&held}, /*may_use_device=*/!has_triangles_of_batch(problem, shape),
      [&](Reductions<T>& reductions) { return norm_of_answer(problem, shape, held.answer, reductions); });
}

template <class T>
Difference difference_of(Context& context, Problem problem, const Shape& shape, HeldAnswer<T>& answer,
                         HeldAnswer<T>& reference, double reference_norm) {
  return with_reductions<T>(
      context, {&answer, &reference},
      /*may_use_device=*/!has_triangles_of_batch(problem, shape), [&](Reductions<T>& reductions) {
        return difference(problem, shape, answer.answer, reference.answer, reference_norm, reductions);
      });
}

template <class T>
ResidentInputs<T> CachedInputs<T>::take_resident(Context& context) {
  ResidentInputs<T> resident = std::exchange(resident_, {});
  if (!resident.has_a() || a_name_ != name_of_a(*prepared)) return {};
  if (device_digest(context, resident.memory.data(), resident.memory.bytes()) != digest_) return {};
  if (inputs_identity_ != prepared->identity) resident.b = {};
  return resident;
}

template <class T>
void CachedInputs<T>::keep_resident(Staging<T>& staging, std::uint64_t digest, double upload_seconds) {
  resident_ = staging.release_inputs();
  a_name_ = name_of_a(*prepared);
  inputs_identity_ = prepared->identity;
  digest_ = digest;
  upload_seconds_ = upload_seconds;
}

template <class T>
void CachedInputs<T>::free_resident_unless(const std::string& digest) {
  if (a_name_ != digest) free_resident();
}

template <class T>
void CachedInputs<T>::free_device_memory() {
  free_resident();
  if (reference.is_on_device()) reference = {};
}

#define GAUSSWEEP_HELD(T)                                                         \
  template struct HeldAnswer<T>;                                                  \
  template class CachedInputs<T>;                                                 \
  template Buffer copy_on_device(Context&, const StridedView<T>&, const Extent&); \
  template double norm_of(Context&, Problem, const Shape&, HeldAnswer<T>&);       \
  template Difference difference_of(Context&, Problem, const Shape&, HeldAnswer<T>&, HeldAnswer<T>&, double);
GAUSSWEEP_HELD(float)
GAUSSWEEP_HELD(double)
#undef GAUSSWEEP_HELD

}  // namespace gaussweep::driver
