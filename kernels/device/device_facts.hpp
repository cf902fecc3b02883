#pragma once
/// Queries of GPU properties.

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Returns the properties of GPU `index` of those visible to this process; `free_bytes` stays 0. The query
/// creates no CUDA context, so that it also works for a GPU that is full or in exclusive use.
/// @throws DeviceError if there is no such GPU, or if this build has no CUDA
DeviceInfo cuda_device_info(int index);

/// Returns the bytes of a GPU's L2 cache. @throws DeviceError
std::size_t cuda_cache_bytes(Device& device);

}  // namespace gaussweep
