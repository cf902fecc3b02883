/// Defines the functions that need CUDA for builds without CUDA. Builds with CUDA define them in
/// kernels/simt/ and kernels/vendor/.

#ifndef GAUSSWEEP_HAS_CUDA

#include "kernels/core/errors.hpp"
#include "kernels/device/callers_stream.hpp"
#include "kernels/device/device_facts.hpp"
#include "kernels/device/recording.hpp"

namespace gaussweep {

namespace {

[[noreturn]] void throw_no_cuda() {
  throw DeviceError("this build of gaussweep has no CUDA: the backends are emulated and host", "noCuda",
                    /*is_sticky=*/false);
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int, Priority) {
  throw_no_cuda();
}

std::unique_ptr<Device> make_cuda_device_on(int, void*) {
  throw_no_cuda();
}

CurrentGpuScope::CurrentGpuScope(int) {}
CurrentGpuScope::~CurrentGpuScope() = default;

void load_vendor_libraries() {}

DeviceInfo cuda_device_info(int) {
  throw_no_cuda();
}

std::size_t cuda_cache_bytes(Device&) {
  throw_no_cuda();
}

std::unique_ptr<Recording> record_work(Device&, const std::function<void()>&, bool*) {
  return nullptr;
}

int cuda_device_count(std::string* why) {
  if (why != nullptr) *why = "built without CUDA";
  return 0;
}

}  // namespace gaussweep

#endif
