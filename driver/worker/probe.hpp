#pragma once
/// Whether a device works at all: asked before a worker says hello, and again after a trial that went wrong.

#include <functional>
#include <memory>

#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Makes the device that a worker computes on.
using DeviceMaker = std::function<std::unique_ptr<Device>(Backend)>;

/// The first GPU that this process sees, or the CPU. @throws DeviceError
std::unique_ptr<Device> make_worker_device(Backend backend);

/// What records say of a device: its facts, where it is a part of a GPU (MIG) under the part's name.
DeviceInfo worker_device_info(const Device& device);

/// A small computation whose result is known to the last bit. Matrices are made by a kernel, copied on the
/// device and fetched, and compared with the same matrices made on the host. Milliseconds.
/// @throws DeviceError "probeFailed" where other bytes come back, or what the device throws
void probe(Context& context);

}  // namespace gaussweep::driver
