#pragma once
/// Properties of a GPU that are available before any work runs on it.

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Returns the properties of GPU `index` of those visible to this process. The query takes no GPU memory and
/// creates no CUDA context, so it also works for a GPU that is full or in exclusive use. `free_bytes` stays
/// 0.
/// @throws DeviceError if there is no such GPU, or if this build has no CUDA
DeviceInfo cuda_device_info(int index);

/// Returns the bytes of a GPU's L2 cache. @throws DeviceError
std::size_t cuda_cache_bytes(Device& device);

}  // namespace gaussweep
