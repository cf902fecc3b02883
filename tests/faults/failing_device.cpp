#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

#include "kernels/core/errors.hpp"
#include "tests/faults/faults.hpp"

namespace gaussweep::faults {
namespace {

struct Fault {
  int rank = -1, fetches = 0;
  std::string how, file;
};

/// Hands everything on to a device that works, until the fault.
class FailingDevice final : public Device {
 public:
  FailingDevice(std::unique_ptr<Device> real, Fault fault)
      : real_(std::move(real)), fault_(std::move(fault)) {}
  Backend backend() const override { return real_->backend(); }
  DeviceInfo info() const override { return real_->info(); }
  void* allocate(std::size_t bytes) override {
    refuse();
    if (fault_.how == "full" && failed()) throw OutOfMemory("another process holds all memory of the device");
    return real_->allocate(bytes);
  }
  void release(void* pointer) noexcept override { real_->release(pointer); }
  void* allocate_host(std::size_t bytes) override {
    refuse();
    return real_->allocate_host(bytes);
  }
  void release_host(void* pointer) noexcept override { real_->release_host(pointer); }
  void to_device(void* destination, const void* source, std::size_t bytes) override {
    refuse();
    real_->to_device(destination, source, bytes);
  }
  void to_host(void* destination, const void* source, std::size_t bytes) override {
    if (++fetches_ > fault_.fetches) std::ofstream(fault_.file) << fault_.how;
    refuse();
    real_->to_host(destination, source, bytes);
    spoil(destination, bytes);
  }
  void copy(void* destination, const void* source, std::size_t bytes) override {
    refuse();
    real_->copy(destination, source, bytes);
  }
  void to_device_2d(void* destination, std::size_t destination_stride, const void* source,
                    std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    refuse();
    real_->to_device_2d(destination, destination_stride, source, source_stride, width_bytes, rows);
  }
  void to_host_2d(void* destination, std::size_t destination_stride, const void* source,
                  std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    refuse();
    real_->to_host_2d(destination, destination_stride, source, source_stride, width_bytes, rows);
    spoil(destination, width_bytes);
  }
  void fill(void* destination, int byte, std::size_t bytes) override {
    refuse();
    real_->fill(destination, byte, bytes);
  }
  void synchronize() override { refuse(); }
  std::int64_t waits() const override { return real_->waits(); }
  std::unique_ptr<Event> make_event() override { return real_->make_event(); }

 private:
  bool failed() const { return ::access(fault_.file.c_str(), F_OK) == 0; }
  void refuse() const {
    if ((fault_.how == "dies" || fault_.how == "refuses") && failed())
      throw DeviceError("the device is gone", "faultDeviceGone", fault_.how == "dies");
  }
  void spoil(void* data, std::size_t bytes) const {
    if (fault_.how == "lies" && bytes >= 8 && failed()) static_cast<unsigned char*>(data)[7] ^= 0x10;
  }
  std::unique_ptr<Device> real_;
  Fault fault_;
  int fetches_ = 0;
};

/// What befalls a worker before it has a device.
void fail_in_the_making(const Fault& fault) {
  if (::access(fault.file.c_str(), F_OK) != 0) return;
  if (fault.how == "aborts") {
    std::fputs("the driver gives up\n", stderr);
    std::abort();
  }
  while (fault.how == "hangs") ::pause();
}

/// Of the supervisor that started this worker: the launcher's variables are taken from a worker's
/// environment, its parent still has them.
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
  const char* words = std::getenv("GAUSSWEEP_FAULT_DEVICE");
  if (words == nullptr) return device;
  Fault fault;
  std::istringstream(words) >> fault.rank >> fault.fetches >> fault.how >> fault.file;
  if (fault.rank < 0) fault.file += std::to_string(rank_of_parent());
  if (fault.rank >= 0 && fault.rank != rank_of_parent()) return device;
  fail_in_the_making(fault);
  return std::make_unique<FailingDevice>(std::move(device), fault);
}

}  // namespace gaussweep::faults
