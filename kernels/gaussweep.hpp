#pragma once
/// All that a foreign program needs: `#include <gaussweep/gaussweep.hpp>` of an installed gaussweep
/// (docs/library.md).

#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/staging/method_run.hpp"

namespace gaussweep {

/// Runs a method on the first GPU or, without one, emulated, and returns its answer.
/// @param problem, variant "gesv", "recursive"; the parameters have their defaults
/// @throws std::invalid_argument if there is no such method; OutOfMemory, DeviceError
template <class T>
Answer<T> run_once(const std::string& problem, const std::string& variant, const Inputs<T>& inputs) {
  const Registry registry = builtin_registry();
  const Method* method = registry.find(Problem::named(problem), variant);
  if (method == nullptr)
    throw std::invalid_argument(problem + "/" + variant + ": no such method; `gaussweep methods` lists them");
  const std::unique_ptr<Device> device =
      cuda_device_count() > 0 ? make_cuda_device(0) : make_host_device(Backend::emulated, nullptr);
  Context context(*device);
  MethodRun<T> run(context, *method, device->backend(), defaults(method->parameters), inputs.shape);
  run.upload(inputs);
  run.warm_up();
  return run.download();
}

}  // namespace gaussweep
