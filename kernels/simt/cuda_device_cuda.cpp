/// Implements Device (device.hpp) for GPUs.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/device/callers_stream.hpp"
#include "kernels/device/device_facts.hpp"
#include "kernels/simt/cuda_check.hpp"
#include "kernels/simt/pinned_copies.hpp"

namespace gaussweep {

namespace {

/// Makes a device current for the calling host thread.
void set_device(int device) {
  GAUSSWEEP_CUDA_CHECK(cudaSetDevice(device));
}

class CudaEvent final : public Event {
 public:
  CudaEvent(int device, cudaStream_t stream) : device_(device), stream_(stream) {
    GAUSSWEEP_CUDA_CHECK(cudaEventCreate(&event_));
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  void record() override {
    set_device(device_);
    GAUSSWEEP_CUDA_CHECK(cudaEventRecord(event_, stream_));
  }
  double seconds_since(const Event& start) const override {
    const auto& from = dynamic_cast<const CudaEvent&>(start);
    float milliseconds = 0;
    GAUSSWEEP_CUDA_CHECK(cudaEventSynchronize(from.event_));
    GAUSSWEEP_CUDA_CHECK(cudaEventSynchronize(event_));
    GAUSSWEEP_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, from.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  int device_;
  cudaStream_t stream_;
  cudaEvent_t event_ = nullptr;
};

/// Returns a GPU's UUID in the format of nvidia-smi.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += digits;
  }
  return text;
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  GAUSSWEEP_CUDA_CHECK(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

/// Returns the properties that do not change while the process runs.
DeviceInfo describe(int device) {
  cudaDeviceProp properties{};
  GAUSSWEEP_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  DeviceInfo info;
  info.name = properties.name;
  info.uuid = uuid_text(properties.uuid);
  info.capability = properties.major * 10 + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.max_threads_per_block = properties.maxThreadsPerBlock;
  info.shared_bytes_per_block = properties.sharedMemPerBlockOptin;  // simt::launch opts in
  info.total_bytes = properties.totalGlobalMem;
  // CUDA 13 has no clock rates in cudaDeviceProp.
  info.sm_clock_khz = attribute(cudaDevAttrClockRate, device);
  info.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, device);
  info.ecc = properties.ECCEnabled != 0;
  GAUSSWEEP_CUDA_CHECK(cudaDriverGetVersion(&info.driver_version));
  GAUSSWEEP_CUDA_CHECK(cudaRuntimeGetVersion(&info.runtime_version));
  return info;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, void* stream)
      : index_(index), stream_(static_cast<cudaStream_t>(stream)), owns_stream_(false) {
    set_device(index_);
    info_ = describe(index_);
  }
  CudaDevice(int index, Priority priority) : index_(index) {
    set_device(index_);
    info_ = describe(index_);
    int least = 0, greatest = 0;
    GAUSSWEEP_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    GAUSSWEEP_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                                      priority == Priority::high ? greatest : least));
  }
  ~CudaDevice() override {
    if (work_done_ != nullptr) cudaEventDestroy(work_done_);
    if (owns_stream_) cudaStreamDestroy(stream_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  Backend backend() const override { return Backend::cuda; }

  DeviceInfo info() const override {
    set_device(index_);
    DeviceInfo info = info_;
    std::size_t total = 0;
    GAUSSWEEP_CUDA_CHECK(cudaMemGetInfo(&info.free_bytes, &total));
    return info;
  }

  void* allocate(std::size_t bytes) override {
    set_device(index_);
    void* pointer = nullptr;
    const cudaError_t error = cudaMalloc(&pointer, bytes == 0 ? 1 : bytes);
    if (error != cudaSuccess) {
      const std::string call = "cudaMalloc of " + std::to_string(bytes) + " bytes";
      cuda::throw_cuda_error(error, call.c_str(), __FILE__, __LINE__);
    }
    return pointer;
  }
  // Errors are ignored: cudaFree fails only after a sticky error of earlier work, which later calls report.
  void release(void* pointer) noexcept override { cudaFree(pointer); }
  void* allocate_host(std::size_t bytes) override {
    set_device(index_);
    void* pointer = nullptr;
    if (const cudaError_t error = cudaMallocHost(&pointer, bytes == 0 ? 1 : bytes); error != cudaSuccess) {
      const std::string call = "cudaMallocHost of " + std::to_string(bytes) + " bytes";
      try {
        cuda::throw_cuda_error(error, call.c_str(), __FILE__, __LINE__);
      } catch (const OutOfMemory& out) {
        throw NoPinnedMemory(out.what());
      }
    }
    return pointer;
  }
  void release_host(void* pointer) noexcept override { cudaFreeHost(pointer); }

  void to_device(void* destination, const void* source, std::size_t bytes) override {
    set_device(index_);
    ++waits_;
    copies_.to_device(destination, source, bytes, stream_);
  }
  void to_host(void* destination, const void* source, std::size_t bytes) override {
    set_device(index_);
    ++waits_;
    copies_.to_host(destination, source, bytes, stream_);
  }
  void copy(void* destination, const void* source, std::size_t bytes) override {
    set_device(index_);
    if (bytes > 0)
      GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream_));
  }
  void to_device_2d(void* destination, std::size_t destination_stride, const void* source,
                    std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    move_2d(destination, destination_stride, source, source_stride, width_bytes, rows,
            cudaMemcpyHostToDevice);
  }
  void to_host_2d(void* destination, std::size_t destination_stride, const void* source,
                  std::size_t source_stride, std::size_t width_bytes, std::size_t rows) override {
    move_2d(destination, destination_stride, source, source_stride, width_bytes, rows,
            cudaMemcpyDeviceToHost);
  }
  void fill(void* destination, int byte, std::size_t bytes) override {
    set_device(index_);
    if (bytes > 0) GAUSSWEEP_CUDA_CHECK(cudaMemsetAsync(destination, byte, bytes, stream_));
  }
  void copy_2d(void* destination, std::size_t destination_stride, const void* source,
               std::size_t source_stride, std::size_t column_bytes, std::size_t columns) override {
    set_device(index_);
    if (column_bytes > 0 && columns > 0) {
      GAUSSWEEP_CUDA_CHECK(cudaMemcpy2DAsync(destination, destination_stride, source, source_stride,
                                             column_bytes, columns, cudaMemcpyDefault, stream_));
    }
  }
  void wait_for(Device& other) override {
    auto& awaited = dynamic_cast<CudaDevice&>(other);
    set_device(awaited.index_);
    if (awaited.work_done_ == nullptr)
      GAUSSWEEP_CUDA_CHECK(cudaEventCreateWithFlags(&awaited.work_done_, cudaEventDisableTiming));
    GAUSSWEEP_CUDA_CHECK(cudaEventRecord(awaited.work_done_, awaited.stream_));
    set_device(index_);
    GAUSSWEEP_CUDA_CHECK(cudaStreamWaitEvent(stream_, awaited.work_done_, /*flags=*/0));
  }
  std::string enable_peer_access(Device& peer) override {
    const auto* const other = dynamic_cast<CudaDevice*>(&peer);
    if (other == nullptr) return "the peer is no GPU";
    if (other->index_ == index_) return "";
    int possible = 0;
    GAUSSWEEP_CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, index_, other->index_));
    if (possible == 0) return info_.uuid + " cannot access the memory of " + other->info_.uuid;
    set_device(index_);
    const cudaError_t error = cudaDeviceEnablePeerAccess(other->index_, /*flags=*/0);
    cudaGetLastError();  // resets the last error, which a later check would report
    if (error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled) return "";
    return info_.uuid + " cannot access the memory of " + other->info_.uuid + ": " + cudaGetErrorName(error);
  }
  void make_current() override { set_device(index_); }
  void synchronize() override {
    set_device(index_);
    ++waits_;
    GAUSSWEEP_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  std::int64_t waits() const override { return waits_; }
  std::unique_ptr<Event> make_event() override {
    set_device(index_);
    return std::make_unique<CudaEvent>(index_, stream_);
  }
  void* stream() const override { return stream_; }

 private:
  /// Copies rows between host and device and waits for the copy.
  void move_2d(void* destination, std::size_t destination_stride, const void* source,
               std::size_t source_stride, std::size_t width_bytes, std::size_t rows, cudaMemcpyKind kind) {
    set_device(index_);
    if (width_bytes > 0 && rows > 0) {
      GAUSSWEEP_CUDA_CHECK(cudaMemcpy2DAsync(destination, destination_stride, source, source_stride,
                                             width_bytes, rows, kind, stream_));
    }
    synchronize();
  }

  int index_;
  DeviceInfo info_;
  cudaStream_t stream_ = nullptr;
  bool owns_stream_ = true;
  cudaEvent_t work_done_ = nullptr;  ///< the event for which other devices wait (wait_for)
  std::int64_t waits_ = 0;
  PinnedCopies copies_;
};

/// Checks that this process sees GPU `index`. @throws DeviceError with the reason if it does not
void require_visible(int index) {
  std::string why;
  const int count = cuda_device_count(&why);
  if (index < 0 || index >= count) {
    const std::string message = "there is no GPU " + std::to_string(index) + ": " +
                                (count == 0 ? why : "this process sees " + std::to_string(count));
    throw DeviceError(message, cudaGetErrorName(count == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice),
                      /*is_sticky=*/false);
  }
}

/// Returns the text of a CUDA version number, "13.0" for 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Returns the reason why no GPU is available. CUDA reports a missing driver as an insufficient driver.
std::string unavailable_reason(cudaError_t error) {
  const std::string name = std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
  int driver = 0, runtime = 0;
  if (error != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess) {
    return name;
  }
  if (driver == 0) return "no NVIDIA driver is loaded: " + name;
  return "the NVIDIA driver supports CUDA " + version_text(driver) + ", this build needs " +
         version_text(runtime) + ": " + name;
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int index, Priority priority) {
  require_visible(index);
  return std::make_unique<CudaDevice>(index, priority);
}

std::unique_ptr<Device> make_cuda_device_on(int index, void* stream) {
  require_visible(index);
  return std::make_unique<CudaDevice>(index, stream);
}

CurrentGpuScope::CurrentGpuScope(int index) {
  int current = -1;
  // Errors are ignored here: the functions that create a device report an invalid index.
  if (index >= 0 && cudaGetDevice(&current) == cudaSuccess && current != index &&
      cudaSetDevice(index) == cudaSuccess)
    previous_ = current;
}
CurrentGpuScope::~CurrentGpuScope() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

DeviceInfo cuda_device_info(int index) {
  require_visible(index);
  return describe(index);
}

int cuda_device_count(std::string* why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    count = 0;
    if (why != nullptr) *why = unavailable_reason(error);
  } else if (count == 0 && why != nullptr) {
    *why = "no GPU is visible to this process";
  }
  return count;
}

}  // namespace gaussweep
