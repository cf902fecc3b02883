#include "driver/worker/held.hpp"

#include <utility>

#include "kernels/check/device_reductions.hpp"

namespace gaussweep::driver {
namespace {

/// Names A on the device. All problems on the whole stored matrix share it; a triangle of it is shared only
/// by trials with equal inputs.
template <class T>
const std::string& name_of_a(const Prepared<T>& inputs) {
  return inputs.digest.empty() ? inputs.identity : inputs.digest;
}

}  // namespace

template <class T>
Resident<T> Held<T>::take_resident(Context& context) {
  Resident<T> resident = std::exchange(resident_, {});
  if (!resident.has_a() || a_name_ != name_of_a(*prepared)) return {};
  if (device_digest(context, resident.memory.data(), resident.memory.bytes()) != digest_) return {};
  if (inputs_identity_ != prepared->identity) resident.b = {};
  return resident;
}

template <class T>
void Held<T>::keep_resident(Staging<T>& staging, std::uint64_t digest, double upload_seconds) {
  resident_ = staging.release_inputs();
  a_name_ = name_of_a(*prepared);
  inputs_identity_ = prepared->identity;
  digest_ = digest;
  upload_seconds_ = upload_seconds;
}

template <class T>
void Held<T>::free_residents_except(const std::string& digest) {
  if (a_name_ != digest) free_resident();
}

template <class T>
void Held<T>::free_device_memory() {
  free_resident();
  if (reference.answer.is_on_device()) reference = {};
}

template class Held<float>;
template class Held<double>;

}  // namespace gaussweep::driver
