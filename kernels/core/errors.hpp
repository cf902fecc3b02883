#pragma once
/// The exceptions of `kernels/`. Numeric failure (a zero pivot, divergence) is a result, never an exception.

#include <stdexcept>
#include <string>

namespace gaussweep {

/// Device or host memory ran out. The status of the trial (one method on one input) becomes `oom`.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Pinned host memory could not be allocated.
struct NoPinnedMemory : OutOfMemory {
  using OutOfMemory::OutOfMemory;
};

/// A vendor library lacks a feature that the method needs on this device. The trial's status becomes
/// `skipped`.
struct NotOffered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A CUDA, cuBLAS, cuSOLVER or emulated-kernel error. After a `sticky` error, all CUDA calls of the process
/// fail, so that it has to be replaced. `name` is the library's name of the error, e.g.
/// "cudaErrorIllegalAddress".
struct DeviceError : std::runtime_error {
  DeviceError(const std::string& message, std::string error_name, bool is_sticky)
      : std::runtime_error(message), name(std::move(error_name)), sticky(is_sticky) {}
  std::string name;
  bool sticky;
};

}  // namespace gaussweep
