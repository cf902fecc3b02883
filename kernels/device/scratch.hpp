#pragma once
/// A cache of device memory for temporary buffers, which are allocated many times per trial.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/device/context.hpp"

namespace gaussweep {

/// A cache of device buffers. Allocating a buffer takes longer than most kernels that use the buffer.
class Scratch {
 public:
  explicit Scratch(Device& device) : device_(device) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  /// A buffer from a Scratch, returned to it on destruction.
  class PooledBuffer {
   public:
    PooledBuffer(Scratch& scratch, Buffer buffer) : scratch_(&scratch), buffer_(std::move(buffer)) {}
    PooledBuffer(PooledBuffer&&) = default;
    PooledBuffer& operator=(PooledBuffer&&) = delete;
    ~PooledBuffer() {
      if (buffer_.data() != nullptr) scratch_->idle_.push_back(std::move(buffer_));
    }
    template <class U>
    U* as() const {
      return static_cast<U*>(buffer_.data());
    }

   private:
    Scratch* scratch_;
    Buffer buffer_;
  };
  /// Returns the smallest idle buffer with at least `bytes`, or a new one. @throws OutOfMemory
  PooledBuffer take(std::size_t bytes) {
    auto best = idle_.end();
    for (auto idle = idle_.begin(); idle != idle_.end(); ++idle) {
      if (idle->bytes() >= bytes && (best == idle_.end() || idle->bytes() < best->bytes())) best = idle;
    }
    if (best == idle_.end()) return {*this, Buffer(device_, rounded(bytes))};
    Buffer buffer = std::move(*best);
    idle_.erase(best);
    return {*this, std::move(buffer)};
  }
  /// Frees idle buffers of more than 4 MiB, so that other allocations can use their memory.
  void free_large() {
    idle_.erase(std::remove_if(idle_.begin(), idle_.end(),
                               [](const Buffer& b) { return b.bytes() > max_retained_bytes; }),
                idle_.end());
  }
  /// Returns the bytes that are allocated but not in use.
  std::size_t idle_bytes() const {
    std::size_t sum = 0;
    for (const Buffer& buffer : idle_) sum += buffer.bytes();
    return sum;
  }

 private:
  static constexpr std::size_t max_retained_bytes = std::size_t{1}
                                                    << 22;  ///< bytes of a buffer that free_large keeps
  /// Rounds sizes up to a power of two from 4 KiB to 4 MiB, so that idle buffers fit similar sizes. Larger
  /// sizes stay as they are.
  static std::size_t rounded(std::size_t bytes) {
    std::size_t size = 4096;
    while (size < bytes && size < max_retained_bytes) size *= 2;
    return std::max(size, bytes);
  }

  Device& device_;
  std::vector<Buffer> idle_;
};

/// Returns the context's cache of buffers, which is created on first use.
inline Scratch& scratch_of(Context& context) {
  if (!context.scratch) context.scratch = std::make_shared<Scratch>(context.device);
  return *context.scratch;
}

}  // namespace gaussweep
