#pragma once
/// Chooses the device of a command that starts no worker.

#include <memory>
#include <string>

#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Returns the backend for the option `word`; `auto` means cuda if there is a GPU, otherwise emulated. Sets
/// `gpu` if the backend is cuda. @throws UsageError
Backend choose_backend(const std::string& word, std::unique_ptr<Device>& gpu);

}  // namespace gaussweep::driver
