#include "driver/worker/residence.hpp"

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
Resident<T> Residence<T>::take(Context& context, const Prepared<T>& inputs) {
  Resident<T> resident = std::exchange(resident_, {});
  if (!resident.has_a() || a_name_ != name_of_a(inputs)) return {};
  if (device_digest(context, resident.memory.data(), resident.memory.bytes()) != digest_) return {};
  if (inputs_identity_ != inputs.identity) resident.b = {};
  return resident;
}

template <class T>
void Residence<T>::keep(Staging<T>& staging, const Prepared<T>& inputs, std::uint64_t digest,
                        double upload_seconds) {
  resident_ = staging.leave();
  a_name_ = name_of_a(inputs);
  inputs_identity_ = inputs.identity;
  digest_ = digest;
  upload_seconds_ = upload_seconds;
}

template <class T>
void Residence<T>::keep_only(const std::string& digest) {
  if (a_name_ != digest) clear();
}

template <class T>
void Residence<T>::clear() {
  resident_ = {};
}

template class Residence<float>;
template class Residence<double>;

}  // namespace gaussweep::driver
