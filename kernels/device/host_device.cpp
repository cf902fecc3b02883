/// Implements Device (device.hpp) for the CPU: the backends `emulated` and `host`.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/core/errors.hpp"
#include "kernels/core/parallel_rows.hpp"
#include "kernels/device/delayed_copies.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/watched_memory.hpp"

namespace gaussweep {

namespace {

/// Returns the bytes of a sysconf value that counts pages; 0 if unknown.
std::size_t pages_as_bytes(int name) {
  const long count = sysconf(name), bytes = sysconf(_SC_PAGESIZE);
  return count > 0 && bytes > 0 ? static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes) : 0;
}

/// Returns the bytes that are available without swapping: Linux's estimate, which includes caches that it can
/// drop.
std::size_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word == "MemAvailable:") {
      std::size_t kilobytes = 0;
      if (file >> kilobytes) return kilobytes * 1024;
      break;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return pages_as_bytes(_SC_AVPHYS_PAGES);
}

/// An event on the CPU: the time at which record() was called, because all earlier work is then complete.
class HostEvent final : public Event {
 public:
  explicit HostEvent(HostClock clock) : clock_(clock) {}
  void record() override { seconds_ = clock_(); }
  double seconds_since(const Event& start) const override {
    return seconds_ - dynamic_cast<const HostEvent&>(start).seconds_;
  }

 private:
  HostClock clock_;
  double seconds_ = 0;
};

class HostDevice final : public Device {
 public:
  HostDevice(Backend backend, HostClock clock, std::string model_name)
      : backend_(backend),
        clock_(clock),
        model_name_(std::move(model_name)),
        total_bytes_(pages_as_bytes(_SC_PHYS_PAGES)) {}

  Backend backend() const override { return backend_; }

  DeviceInfo info() const override {
    DeviceInfo info;
    info.name = model_name_;
    if (backend_ == Backend::emulated) {  // the values of kernels/simt/emulated.hpp
      info.multiprocessors = 4;
      info.max_threads_per_block = 1024;
      info.shared_bytes_per_block = 48 * 1024;
    }
    info.total_bytes = total_bytes_;
    info.free_bytes = available_bytes();
    return info;
  }

  /// Allocates exactly `bytes`, separately for each call, so that the address sanitizer detects every
  /// overrun.
  void* allocate(std::size_t bytes) override {
    void* pointer = nullptr;
    // Linux overcommits memory and kills the process later. Therefore requests larger than the machine's
    // memory fail here.
    const bool possible = total_bytes_ == 0 || bytes <= total_bytes_;
    if (possible && is_emulated()) {
      pointer = memory_.allocate(bytes);
    } else if (!possible || posix_memalign(&pointer, 256, bytes == 0 ? 1 : bytes) != 0) {
      pointer = nullptr;
    }
    if (pointer == nullptr) {
      throw OutOfMemory("no " + std::to_string(bytes) + " bytes of host memory (the machine has " +
                        std::to_string(total_bytes_) + ")");
    }
    return pointer;
  }
  void release(void* pointer) noexcept override {
    is_emulated() ? memory_.release(pointer) : std::free(pointer);
  }
  WatchedMemory* watched_memory() override { return is_emulated() ? &memory_ : nullptr; }
  void* allocate_host(std::size_t bytes) override {
    try {
      return allocate(bytes);
    } catch (const OutOfMemory& error) {
      throw NoPinnedMemory(error.what());
    }
  }
  void release_host(void* pointer) noexcept override { release(pointer); }

  void to_device(void* destination, const void* source, std::size_t bytes) override {
    ++waits_;  // counts like a synchronous copy on a GPU
    copy(destination, source, bytes);
  }
  void to_host(void* destination, const void* source, std::size_t bytes) override {
    ++waits_;
    copy(destination, source, bytes);
  }
  void copy(void* destination, const void* source, std::size_t bytes) override {
    if (bytes > 0) copy_blocked(destination, source, bytes);  // for 0 bytes the pointers may be null
  }
  void to_device_2d(void* destination, std::size_t destination_stride, const void* source,
                    std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    ++waits_;
    copy_2d(destination, destination_stride, source, source_stride, width_bytes, rows);
  }
  void to_host_2d(void* destination, std::size_t destination_stride, const void* source,
                  std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    to_device_2d(destination, destination_stride, source, source_stride, width_bytes, rows);
  }
  void fill(void* destination, int byte, std::size_t bytes) override {
    if (bytes > 0) std::memset(destination, byte, bytes);
  }
  void copy_2d(void* destination, std::size_t destination_stride, const void* source,
               std::size_t source_stride, std::size_t column_bytes, std::size_t columns) override {
    for (std::size_t column = 0; column < columns; ++column) {
      copy(static_cast<char*>(destination) + column * destination_stride,
           static_cast<const char*>(source) + column * source_stride, column_bytes);
    }
  }
  void wait_for(Device& other) override {  // on the CPU only queued copies (DelayedCopies) can be incomplete
    if (auto* const delayed = dynamic_cast<DelayedCopies*>(&other)) delayed->finish();
  }
  std::string enable_peer_access(Device& peer) override {
    return peer.backend() == backend_ ? "" : "the peer is not a device of the same backend";
  }
  void make_current() override {}
  void synchronize() override { ++waits_; }  // all work is already complete
  std::int64_t waits() const override { return waits_; }

  std::unique_ptr<Event> make_event() override {
    if (clock_ == nullptr)
      throw std::logic_error("this host device was made without a clock: it has no events");
    return std::make_unique<HostEvent>(clock_);
  }

 private:
  bool is_emulated() const { return backend_ == Backend::emulated; }

  Backend backend_;
  WatchedMemory memory_;
  HostClock clock_;
  std::string model_name_;
  std::size_t total_bytes_;
  std::int64_t waits_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_host_device(Backend backend, HostClock clock, std::string model_name) {
  if (backend == Backend::cuda) throw std::invalid_argument("make_host_device: the backend cuda needs a GPU");
  return std::make_unique<HostDevice>(backend, clock, std::move(model_name));
}

}  // namespace gaussweep
