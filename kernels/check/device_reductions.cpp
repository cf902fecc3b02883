#include "kernels/check/device_reductions.hpp"

#include <utility>

namespace gaussweep {

template <class T>
std::vector<DeviceCopy<T>> device_copies(Staging<T>& staging, const Inputs<T>& inputs,
                                         const Answer<T>& answer, int copy) {
  std::vector<DeviceCopy<T>> copies{{&inputs.a, staging.pristine_a()}, {&answer.x, staging.answer(copy)}};
  if (!inputs.b.empty()) copies.push_back({&inputs.b, staging.pristine_b()});
  return copies;
}

template <class T>
std::unique_ptr<Reductions<T>> device_reductions(Context& context, std::vector<DeviceCopy<T>> copies,
                                                 std::size_t workspace) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::device_reductions<T>(context, std::move(copies), workspace);
#endif
  return emulated::device_reductions<T>(context, std::move(copies), workspace);
}

std::uint64_t device_digest(Context& context, const void* data, std::size_t bytes) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::device_digest(context, data, bytes);
#endif
  return emulated::device_digest(context, data, bytes);
}

template std::unique_ptr<Reductions<float>> device_reductions(Context&, std::vector<DeviceCopy<float>>,
                                                              std::size_t);
template std::unique_ptr<Reductions<double>> device_reductions(Context&, std::vector<DeviceCopy<double>>,
                                                               std::size_t);
template std::vector<DeviceCopy<float>> device_copies(Staging<float>&, const Inputs<float>&,
                                                      const Answer<float>&, int);
template std::vector<DeviceCopy<double>> device_copies(Staging<double>&, const Inputs<double>&,
                                                       const Answer<double>&, int);

}  // namespace gaussweep
