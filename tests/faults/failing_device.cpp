// Devices that fail as GAUSSWEEP_FAULT_DEVICE requests (faults.hpp).
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

#include "kernels/core/errors.hpp"
#include "tests/faults/faults.hpp"
#include "tests/kernels/short_of_memory.hpp"

namespace gaussweep::faults {
namespace {

/// The fields of GAUSSWEEP_FAULT_DEVICE: RANK FETCHES HOW FILE.
struct Fault {
  int rank = -1, fetches = 0;
  std::string how, file;
};

/// A device that works until the fault.
class FailingDevice final : public testing_help::ForwardingDevice {
 public:
  FailingDevice(std::unique_ptr<Device> real, Fault fault)
      : ForwardingDevice(std::move(real)), fault_(std::move(fault)) {}
  void* allocate(std::size_t bytes) override {
    if (fault_.how == "full" && failed()) throw OutOfMemory("another process holds all memory of the device");
    return ForwardingDevice::allocate(bytes);
  }
  void to_host(void* destination, const void* source, std::size_t bytes) override {
    if (++fetches_ > fault_.fetches) std::ofstream(fault_.file) << fault_.how;
    ForwardingDevice::to_host(destination, source, bytes);
    spoil(destination, bytes);
  }
  void to_host_2d(void* destination, std::size_t destination_stride, const void* source,
                  std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    ForwardingDevice::to_host_2d(destination, destination_stride, source, source_stride, width_bytes, rows);
    spoil(destination, width_bytes);
  }

 private:
  bool failed() const { return ::access(fault_.file.c_str(), F_OK) == 0; }
  void may_fail() override {
    if ((fault_.how == "dies" || fault_.how == "refuses") && failed())
      throw DeviceError("the device is gone", "faultDeviceGone", fault_.how == "dies");
  }
  void spoil(void* data, std::size_t bytes) const {
    if (fault_.how == "lies" && bytes >= 8 && failed()) static_cast<unsigned char*>(data)[7] ^= 0x10;
  }
  Fault fault_;
  int fetches_ = 0;
};

/// Applies a fault that hits a worker before it has a device.
void fail_before_device_exists(const Fault& fault) {
  if (::access(fault.file.c_str(), F_OK) != 0) return;
  if (fault.how == "aborts") {
    std::fputs("the driver gives up\n", stderr);
    std::abort();
  }
  while (fault.how == "hangs") ::pause();
}

/// Returns the rank of the supervisor that started this worker, from the environment of the parent process. A
/// worker's own environment lacks the launcher's variables.
int rank_of_parent() {
  std::ifstream file("/proc/" + std::to_string(::getppid()) + "/environ", std::ios::binary);
  const std::string name = "OMPI_COMM_WORLD_RANK=";
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.rfind(name, 0) == 0) return std::stoi(entry.substr(name.size()));
  }
  return 0;
}

}  // namespace

std::unique_ptr<Device> make_failing_device(Backend backend) {
  std::unique_ptr<Device> device = driver::make_worker_device(backend);
  const char* text = std::getenv("GAUSSWEEP_FAULT_DEVICE");
  if (text == nullptr) return device;
  Fault fault;
  std::istringstream(text) >> fault.rank >> fault.fetches >> fault.how >> fault.file;
  if (fault.rank < 0) fault.file += std::to_string(rank_of_parent());
  if (fault.rank >= 0 && fault.rank != rank_of_parent()) return device;
  fail_before_device_exists(fault);
  return std::make_unique<FailingDevice>(std::move(device), fault);
}

}  // namespace gaussweep::faults
