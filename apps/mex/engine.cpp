/// Runs one method once. Its operands and its answer are in the caller's memory.

#include "apps/mex/engine.hpp"

#include "kernels/core/errors.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::mex {

/// A device and the context with its library handles.
struct Engine::OpenDevice {
  explicit OpenDevice(std::unique_ptr<Device> d) : device(std::move(d)), context(*device) {}
  std::unique_ptr<Device> device;
  Context context;  // destroyed before its device
};

Engine::Engine() = default;
Engine::~Engine() = default;

std::unique_ptr<Engine::OpenDevice>& Engine::opened(Backend backend) {
  return devices_[static_cast<std::size_t>(backend)];
}

Context& Engine::context(Backend backend) {
  auto& device_context = opened(backend);
  if (!device_context) {
    // The host device needs no clock, because no method reads the time.
    device_context = std::make_unique<OpenDevice>(
        backend == Backend::cuda ? make_cuda_device(0) : make_host_device(backend, nullptr));
  }
  return device_context->context;
}

const Gpu& Engine::gpu() {
  if (!gpu_) {
    Gpu found;
    found.exists = cuda_device_count(&found.reason) > 0;
    if (found.exists) found.capability = context(Backend::cuda).device.info().capability;
    gpu_ = std::make_unique<Gpu>(std::move(found));
  }
  return *gpu_;
}

template <class T>
Outcome Engine::run(const Task<T>& task) {
  Context& device_context = context(task.backend);
  const std::size_t needed = staging_bytes(task.method, task.shape, task.parameters, sizeof(T), 0);
  const std::size_t available = device_context.device.info().free_bytes;
  // Checked here, because Linux grants more memory than it has, and later kills a process that uses it.
  if (needed > available) {
    throw OutOfMemory(task.method.id() + " needs " + std::to_string(needed) + " bytes, " +
                      std::to_string(available) + " are free");
  }
  try {
    MethodRun<T> run(device_context, task.method, task.backend, task.parameters, task.shape, 1,
                     Pristine::on_host);
    run.upload(task.inputs);
    run.run();
    device_context.device.synchronize();
    return {run.download_to(task.answer), run.report().convergence, run.report().iterations};
  } catch (const DeviceError&) {
    opened(task.backend).reset();
    throw;
  }
}

template Outcome Engine::run<float>(const Task<float>&);
template Outcome Engine::run<double>(const Task<double>&);

}  // namespace gaussweep::mex
