#pragma once
/// The header for programs that use an installed gaussweep as a library (docs/library.md):
/// `#include <gaussweep/gaussweep.hpp>`.

#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/staging/method_run.hpp"

namespace gaussweep {

/// Runs a method once with its default parameters and returns the answer. It runs on the first GPU, or on the
/// CPU with backend `emulated` if there is no GPU.
/// @param problem, variant the method, e.g. "gesv" and "recursive"
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
