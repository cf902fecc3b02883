#pragma once
/// What can be known of a GPU before anything runs on it.

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Facts of GPU `index` of those visible to this process. To ask takes no memory of it and no turn among
/// processes that share it. So it works for a GPU that is full or in exclusive use. `free_bytes` stays 0.
/// @throws DeviceError where there is no such GPU, or where this build has no CUDA
DeviceInfo cuda_device_info(int index);

/// Bytes of the L2 cache of a device that is a GPU. @throws DeviceError
std::size_t cuda_cache_bytes(Device& device);

}  // namespace gaussweep
