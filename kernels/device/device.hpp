#pragma once
/// The interface of a device (a GPU or the CPU): memory, copies and events.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/core/enums.hpp"

namespace gaussweep {

class WatchedMemory;  // kernels/device/watched_memory.hpp

/// A point in the order of work on the device's stream, with a time (a CUDA event on a GPU).
class Event {
 public:
  virtual ~Event() = default;
  /// Marks this point in the stream (asynchronous on a GPU).
  virtual void record() = 0;
  /// Waits for both events and returns the seconds from `start` to this event. @pre `start` was recorded
  /// earlier, on the same device
  virtual double seconds_since(const Event& start) const = 0;
};

/// Properties of a device; 0 or empty if unknown or not applicable.
struct DeviceInfo {
  std::string name;    ///< "NVIDIA H200", or the CPU's model name
  std::string uuid;    ///< "GPU-…"; empty on the CPU
  int capability = 0;  ///< compute capability, 90 for 9.0; 0 on the CPU
  int multiprocessors = 0;
  int max_threads_per_block = 0;
  std::size_t shared_bytes_per_block = 0;
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;
  int sm_clock_khz = 0;
  int memory_clock_khz = 0;
  int driver_version = 0;  ///< CUDA's numbers, 13000 for 13.0
  int runtime_version = 0;
  bool ecc = false;
};

/// One device with one stream. All copies and fills are ordered on that stream. `to_device`, `to_host` and
/// their `_2d` versions are synchronous; `copy` and `fill` are asynchronous. Every function can throw
/// DeviceError, `allocate` also OutOfMemory, `allocate_host` also NoPinnedMemory.
class Device {
 public:
  virtual ~Device() = default;
  virtual Backend backend() const = 0;
  virtual DeviceInfo info() const = 0;
  /// Returns uninitialised memory, aligned to 256 bytes; a valid pointer even if `bytes` is 0.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* pointer) noexcept = 0;
  /// Returns host memory that `copy` can access directly: pinned memory for a GPU.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void* pointer) noexcept = 0;
  virtual void to_device(void* destination, const void* source, std::size_t bytes) = 0;
  virtual void to_host(void* destination, const void* source, std::size_t bytes) = 0;
  /// Copies between memory of `allocate` or `allocate_host`, in any direction. Asynchronous.
  virtual void copy(void* destination, const void* source, std::size_t bytes) = 0;
  /// Copy `rows` rows of `width_bytes` from host to device, and back. All strides are in bytes.
  virtual void to_device_2d(void* destination, std::size_t destination_stride, const void* source,
                            std::size_t source_stride, std::size_t width_bytes, std::size_t rows) = 0;
  virtual void to_host_2d(void* destination, std::size_t destination_stride, const void* source,
                          std::size_t source_stride, std::size_t width_bytes, std::size_t rows) = 0;
  /// Copies `columns` columns of `column_bytes` between device memory of this device or of its peers. Strides
  /// are in bytes. Asynchronous.
  virtual void copy_2d(void* destination, std::size_t destination_stride, const void* source,
                       std::size_t source_stride, std::size_t column_bytes, std::size_t columns) = 0;
  virtual void fill(void* destination, int byte, std::size_t bytes) = 0;
  /// Makes later work on this stream wait for the work queued so far on `other`, a device of the same
  /// backend. Asynchronous.
  virtual void wait_for(Device& other) = 0;
  /// Lets this device access the memory of `peer`. @return the reason if that is impossible, otherwise ""
  virtual std::string enable_peer_access(Device& peer) = 0;
  /// Makes a GPU the calling thread's current one, which kernel launches need. Does nothing on the CPU.
  virtual void make_current() = 0;
  /// Waits for all work on the stream; throws its errors.
  virtual void synchronize() = 0;
  /// Returns the number of calls that have made the host wait for the stream: synchronous copies and
  /// `synchronize`.
  virtual std::int64_t waits() const = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  /// Returns the cudaStream_t of a GPU, nullptr for other devices.
  virtual void* stream() const { return nullptr; }
  /// Returns the memory of an emulated device, nullptr for other devices.
  virtual WatchedMemory* watched_memory() { return nullptr; }
};

/// Owned memory of a device, released on destruction.
template <auto allocate, auto release>
class OwnedMemory {
 public:
  OwnedMemory() = default;
  OwnedMemory(Device& device, std::size_t bytes)
      : device_(&device), data_((device.*allocate)(bytes)), bytes_(bytes) {}
  ~OwnedMemory() { reset(); }
  OwnedMemory(OwnedMemory&& other) noexcept { swap(other); }
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    OwnedMemory moved(std::move(other));
    swap(moved);
    return *this;
  }
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  void reset() noexcept {
    if (data_ != nullptr) (device_->*release)(data_);
    data_ = nullptr;
    bytes_ = 0;
  }

 private:
  void swap(OwnedMemory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};
using Buffer = OwnedMemory<&Device::allocate, &Device::release>;  ///< device memory
using HostBuffer = OwnedMemory<&Device::allocate_host, &Device::release_host>;

/// Returns the time of a monotonic clock in seconds. Callers pass it in, because `kernels/` must not read
/// clocks.
using HostClock = double (*)();

/// Creates a device for the CPU, for the backends `emulated` and `host`. `info().name` is `model_name`.
std::unique_ptr<Device> make_host_device(Backend backend, HostClock clock, std::string model_name = {});
/// The priority of a device's stream: blocks of kernels on a stream with high priority start first.
enum class Priority { high, low };
/// Creates a device for GPU `index` of those visible to this process. Throws DeviceError if there is none or
/// if this build has no CUDA.
std::unique_ptr<Device> make_cuda_device(int index, Priority priority = Priority::high);
/// Loads cuBLAS and cuSOLVER, so that no timed run loads them. Throws DeviceError if one is missing. Does
/// nothing in a build without CUDA.
void load_vendor_libraries();
/// Returns the number of GPUs that this process can see. If it is 0, `why` receives the reason, e.g. no
/// driver.
int cuda_device_count(std::string* why = nullptr);

}  // namespace gaussweep
