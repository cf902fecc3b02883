/// Makes a worker's device and checks that it works: before the worker reports that it is ready (message
/// `Hello`), and after a trial that failed.

#include "driver/worker/probe.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/process.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {
namespace {

/// Compares matrices that were generated on the device with matrices generated on the host. Generators give
/// the same bits on all working devices.
template <class T>
void probe_typed(Context& context) {
  MatrixSpec spec;
  spec.kind = MatrixKind::uniform;
  spec.rows = 61;  // more than a warp, and not a multiple of a thread block's size
  spec.cols = 67;
  spec.seed = 20260729;  // arbitrary
  const HostMatrix<T> expected = generate<T>(spec, /*threads=*/1);
  const std::size_t bytes = expected.data.size() * sizeof(T);
  const HostMatrix<T> generated = generate_on<T>(context, spec);

  Device& device = context.device;
  const Buffer first(device, bytes), second(device, bytes);
  device.to_device(first.data(), generated.data.data(), bytes);
  device.copy(second.data(), first.data(), bytes);
  HostMatrix<T> back = HostMatrix<T>::uninitialized(spec.rows, spec.cols);
  device.to_host(back.data.data(), second.data(), bytes);
  device.synchronize();
  const bool generated_correctly = std::memcmp(generated.data.data(), expected.data.data(), bytes) == 0;
  if (generated_correctly && std::memcmp(back.data.data(), expected.data.data(), bytes) == 0) return;
  throw DeviceError("the probe gave a wrong result on this device", "probeFailed", /*is_sticky=*/true);
}

}  // namespace

std::unique_ptr<Device> make_worker_device(Backend backend) {
  if (backend != Backend::cuda) return make_host_device(backend, now_seconds, cpu_model());
  std::unique_ptr<Device> gpu = make_cuda_device(0);
  load_vendor_libraries();
  return gpu;
}

DeviceInfo worker_device_info(const Device& device) {
  DeviceInfo info = device.info();
  if (device.backend() != Backend::cuda) return info;
  const std::vector<std::string> mig_devices = visible_mig_devices(environment_value("CUDA_VISIBLE_DEVICES"));
  if (!mig_devices.empty()) info.uuid = mig_devices.front();
  return info;
}

void probe(Context& context) {
  context.device.make_current();  // a method for several GPUs may have stopped while another was current
  probe_typed<float>(context);
  probe_typed<double>(context);
}

}  // namespace gaussweep::driver
