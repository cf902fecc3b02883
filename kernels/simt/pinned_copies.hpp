#pragma once
/// Copies between a GPU and pageable host memory through two pinned buffers: several threads fill or empty
/// one buffer while the other is transferred. The driver's copies of pageable memory use only one thread, and
/// pinning a matrix takes longer than copying it. Compiled only with CUDA.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/core/parallel_rows.hpp"
#include "kernels/core/usable_cpus.hpp"
#include "kernels/simt/cuda_check.hpp"

namespace gaussweep {

/// The pinned buffers of one device. Copies of less than 4 MiB, and all copies if no memory can be pinned,
/// use the driver's copy instead.
class PinnedCopies {
 public:
  PinnedCopies() = default;
  ~PinnedCopies() {
    for (PinnedBuffer& buffer : buffers_) {
      if (buffer.transferred != nullptr) cudaEventDestroy(buffer.transferred);
      if (buffer.memory != nullptr) cudaFreeHost(buffer.memory);
    }
  }
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  /// Copy in one direction. The copy starts after all earlier work of the stream; the functions return when
  /// it is complete.
  void to_device(void* destination, const void* source, std::size_t bytes, cudaStream_t stream) {
    if (!can_stage(bytes)) return copy_directly(destination, source, bytes, cudaMemcpyHostToDevice, stream);
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    for (std::size_t begin = 0, index = 0; begin < bytes; begin += buffer_bytes, index ^= 1) {
      PinnedBuffer& buffer = buffers_[index];
      const std::size_t count = std::min(buffer_bytes, bytes - begin);
      GAUSSWEEP_CUDA_CHECK(cudaEventSynchronize(buffer.transferred));
      copy(buffer.memory, from + begin, count);
      GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(to + begin, buffer.memory, count, cudaMemcpyHostToDevice, stream));
      GAUSSWEEP_CUDA_CHECK(cudaEventRecord(buffer.transferred, stream));
    }
    GAUSSWEEP_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  void to_host(void* destination, const void* source, std::size_t bytes, cudaStream_t stream) {
    if (!can_stage(bytes)) return copy_directly(destination, source, bytes, cudaMemcpyDeviceToHost, stream);
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    const auto start_transfer = [&](std::size_t begin, PinnedBuffer& buffer) {
      const std::size_t count = std::min(buffer_bytes, bytes - begin);
      GAUSSWEEP_CUDA_CHECK(
          cudaMemcpyAsync(buffer.memory, from + begin, count, cudaMemcpyDeviceToHost, stream));
      GAUSSWEEP_CUDA_CHECK(cudaEventRecord(buffer.transferred, stream));
    };
    start_transfer(0, buffers_[0]);
    for (std::size_t begin = 0, index = 0; begin < bytes; begin += buffer_bytes, index ^= 1) {
      if (begin + buffer_bytes < bytes) start_transfer(begin + buffer_bytes, buffers_[index ^ 1]);
      GAUSSWEEP_CUDA_CHECK(cudaEventSynchronize(buffers_[index].transferred));
      copy(to + begin, buffers_[index].memory, std::min(buffer_bytes, bytes - begin));
    }
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{32} << 20;
  static constexpr std::size_t min_bytes = std::size_t{4} << 20;  ///< the smallest copy that is staged
  struct PinnedBuffer {
    char* memory = nullptr;
    cudaEvent_t transferred = nullptr;  ///< the end of the last transfer from or to `memory`
  };

  /// Returns true if a copy of `bytes` uses the pinned buffers; allocates them on first use.
  bool can_stage(std::size_t bytes) {
    if (bytes < min_bytes || unavailable_) return false;
    for (PinnedBuffer& buffer : buffers_) {
      if (buffer.memory == nullptr && cudaMallocHost(&buffer.memory, buffer_bytes) != cudaSuccess) {
        cudaGetLastError();  // clears the error; the driver's copy is used instead
        buffer.memory = nullptr;
        unavailable_ = true;
        return false;
      }
      if (buffer.transferred == nullptr) {
        GAUSSWEEP_CUDA_CHECK(cudaEventCreateWithFlags(&buffer.transferred, cudaEventDisableTiming));
      }
    }
    return true;
  }
  static void copy_directly(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (bytes > 0) GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(destination, source, bytes, kind, stream));
    GAUSSWEEP_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  static void copy(char* to, const char* from, std::size_t bytes) {
    constexpr std::size_t block = std::size_t{64} << 10;
    constexpr int max_threads = 6;
    const int threads = std::min(usable_cpus(), max_threads);
    const auto blocks = static_cast<std::int64_t>((bytes + block - 1) / block);
    for_row_ranges(blocks, threads, /*cost=*/0, [&](std::int64_t begin, std::int64_t end) {
      const std::size_t first = static_cast<std::size_t>(begin) * block;
      std::memcpy(to + first, from + first, std::min(bytes, static_cast<std::size_t>(end) * block) - first);
    });
  }

  PinnedBuffer buffers_[2];
  bool unavailable_ = false;
};

}  // namespace gaussweep
