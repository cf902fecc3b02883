#pragma once
/// Makes a worker's device and checks that it works: before the worker reports that it is ready (message
/// `Hello`), and after a trial that failed.

#include <functional>
#include <memory>

#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Makes the device on which a worker computes; `make_worker_device` or a replacement in tests.
using DeviceMaker = std::function<std::unique_ptr<Device>(Backend)>;

/// Returns the first GPU that this process sees, or the CPU. @throws DeviceError
std::unique_ptr<Device> make_worker_device(Backend backend);

/// Returns the facts about the device that records contain. The UUID of a MIG device is its name in
/// CUDA_VISIBLE_DEVICES.
DeviceInfo worker_device_info(const Device& device);

/// Runs a small computation whose result is known exactly; takes milliseconds. A kernel generates matrices on
/// the device. They are copied on the device, downloaded, and compared with matrices generated on the host.
/// @throws DeviceError "probeFailed" if the bytes differ, or the device's own error
void probe(Context& context);

}  // namespace gaussweep::driver
