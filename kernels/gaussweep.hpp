#pragma once
/// The header for programs that use an installed gaussweep as a library (docs/library.md):
/// `#include <gaussweep/gaussweep.hpp>`.

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/staging/method_run.hpp"

namespace gaussweep {

/// Returns the device on which a method runs: the first GPU if the method has code for it, else the CPU. On
/// the CPU, CUDA kernels run in the backend `emulated`.
/// @param clock returns seconds, for times on the CPU; without it MethodRun::timed_run throws there
/// @throws std::invalid_argument if the method needs a GPU, or a newer one
inline std::unique_ptr<Device> device_for(const Method& method, HostClock clock = nullptr) {
  std::unique_ptr<Device> gpu;
  if (method.runs_on(Backend::cuda) && cuda_device_count() > 0) gpu = make_cuda_device(0);
  const Backend backend = usable_backend(method, std::nullopt, gpu ? gpu->info().capability : 0);
  return backend == Backend::cuda ? std::move(gpu) : make_host_device(backend, clock);
}

/// Runs a method once and returns the answer. An iterative method may end before it converges. Then
/// `Answer::info` may be 0 and `Answer::report.convergence` is `diverged`, `stagnated` or `max_iterations`.
/// @param problem, variant the method, e.g. "gesv" and "recursive"
/// @param changes parameters that differ from the defaults: {{"block", 64}}
/// @throws std::invalid_argument if there is no such method or parameter, if the method does not take the
/// shapes or the precision, or needs another GPU; OutOfMemory, DeviceError
template <class T>
Answer<T> run_once(const std::string& problem, const std::string& variant, const Inputs<T>& inputs,
                   const std::map<std::string, ParameterValue>& changes = {}) {
  const Registry registry = builtin_registry();
  const Method* method = registry.find(Problem::named(problem), variant);
  if (method == nullptr) {
    std::string names;
    for (const Method& each : registry.all()) {
      if (each.problem == Problem::named(problem)) names += (names.empty() ? "" : ", ") + each.variant;
    }
    throw std::invalid_argument(problem + "/" + variant + ": no such method; allowed: " + names);
  }
  if (!method->has(precision_of<T>)) {
    throw std::invalid_argument(method->id() + " has no " + std::string(to_string(precision_of<T>)) +
                                " version");
  }
  const Parameters parameters = parameters_with(method->parameters, changes);
  const std::unique_ptr<Device> device = device_for(*method);
  Context context(*device);
  MethodRun<T> run(context, *method, device->backend(), parameters, inputs.shape);
  run.upload(inputs);
  run.warm_up();
  return run.download();
}

}  // namespace gaussweep
