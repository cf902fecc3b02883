#pragma once
/// Copies between a GPU and ordinary host memory through two pinned buffers, which several threads fill or
/// empty while the other is on its way. The driver's own copies of such memory use one thread, and pinning a
/// matrix takes longer than copying it. Compiled only where CUDA is.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/core/parallel_rows.hpp"
#include "kernels/core/usable_cpus.hpp"
#include "kernels/simt/cuda_check.hpp"

namespace gaussweep {

/// The buffers of one device. Without memory to pin, or for what is small, the driver copies as ever.
class PinnedCopies {
 public:
  PinnedCopies() = default;
  ~PinnedCopies() {
    for (Piece& piece : pieces_) {
      if (piece.free != nullptr) cudaEventDestroy(piece.free);
      if (piece.memory != nullptr) cudaFreeHost(piece.memory);
    }
  }
  PinnedCopies(const PinnedCopies&) = delete;
  PinnedCopies& operator=(const PinnedCopies&) = delete;

  /// Both return when the copy is complete, which comes after all that the stream was given before.
  void to_device(void* destination, const void* source, std::size_t bytes, cudaStream_t stream) {
    if (!serves(bytes)) return plainly(destination, source, bytes, cudaMemcpyHostToDevice, stream);
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    for (std::size_t begin = 0, turn = 0; begin < bytes; begin += piece_bytes, turn ^= 1) {
      Piece& piece = pieces_[turn];
      const std::size_t count = std::min(piece_bytes, bytes - begin);
      GAUSSWEEP_CUDA_CHECK(cudaEventSynchronize(piece.free));
      copy(piece.memory, from + begin, count);
      GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(to + begin, piece.memory, count, cudaMemcpyHostToDevice, stream));
      GAUSSWEEP_CUDA_CHECK(cudaEventRecord(piece.free, stream));
    }
    GAUSSWEEP_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  void to_host(void* destination, const void* source, std::size_t bytes, cudaStream_t stream) {
    if (!serves(bytes)) return plainly(destination, source, bytes, cudaMemcpyDeviceToHost, stream);
    auto* to = static_cast<char*>(destination);
    const auto* from = static_cast<const char*>(source);
    const auto fetch = [&](std::size_t begin, Piece& piece) {
      const std::size_t count = std::min(piece_bytes, bytes - begin);
      GAUSSWEEP_CUDA_CHECK(
          cudaMemcpyAsync(piece.memory, from + begin, count, cudaMemcpyDeviceToHost, stream));
      GAUSSWEEP_CUDA_CHECK(cudaEventRecord(piece.free, stream));
    };
    fetch(0, pieces_[0]);
    for (std::size_t begin = 0, turn = 0; begin < bytes; begin += piece_bytes, turn ^= 1) {
      if (begin + piece_bytes < bytes) fetch(begin + piece_bytes, pieces_[turn ^ 1]);
      GAUSSWEEP_CUDA_CHECK(cudaEventSynchronize(pieces_[turn].free));
      copy(to + begin, pieces_[turn].memory, std::min(piece_bytes, bytes - begin));
    }
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{32} << 20;
  static constexpr std::size_t least_bytes = std::size_t{4} << 20;
  struct Piece {
    char* memory = nullptr;
    cudaEvent_t free = nullptr;
  };

  bool serves(std::size_t bytes) {
    if (bytes < least_bytes || without_) return false;
    for (Piece& piece : pieces_) {
      if (piece.memory == nullptr && cudaMallocHost(&piece.memory, piece_bytes) != cudaSuccess) {
        cudaGetLastError();  // the driver's own way remains
        piece.memory = nullptr;
        without_ = true;
        return false;
      }
      if (piece.free == nullptr) {
        GAUSSWEEP_CUDA_CHECK(cudaEventCreateWithFlags(&piece.free, cudaEventDisableTiming));
      }
    }
    return true;
  }
  static void plainly(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                      cudaStream_t stream) {
    if (bytes > 0) GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(destination, source, bytes, kind, stream));
    GAUSSWEEP_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  static void copy(char* to, const char* from, std::size_t bytes) {
    constexpr std::size_t block = std::size_t{64} << 10;
    constexpr int most_threads = 6;
    const int threads = std::min(usable_cpus(), most_threads);
    const auto blocks = static_cast<std::int64_t>((bytes + block - 1) / block);
    for_row_ranges(blocks, threads, 0, [&](std::int64_t begin, std::int64_t end) {
      const std::size_t first = static_cast<std::size_t>(begin) * block;
      std::memcpy(to + first, from + first, std::min(bytes, static_cast<std::size_t>(end) * block) - first);
    });
  }

  Piece pieces_[2];
  bool without_ = false;
};

}  // namespace gaussweep
