#pragma once
/// Where a command computes that starts no worker.

#include <memory>
#include <string>

#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Where it will compute: what was asked for, `auto` being a GPU where there is one. The device, too, if a
/// GPU. @throws UsageError
Backend choose_backend(const std::string& word, std::unique_ptr<Device>& gpu);

}  // namespace gaussweep::driver
