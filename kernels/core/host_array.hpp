#pragma once
/// The storage of a host matrix.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/core/large_blocks.hpp"

namespace gaussweep {

/// A contiguous array that can be left uninitialized, because zeroing gigabytes with one thread takes
/// seconds. It can also take over the memory of a std::vector.
template <class T>
class HostArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  HostArray() = default;
  /// Takes over the vector's memory without a copy.
  HostArray(std::vector<T> elements) {  // NOLINT(google-explicit-constructor): converts like a vector
    auto vector = std::make_shared<std::vector<T>>(std::move(elements));
    data_ = vector->data();
    size_ = vector->size();
    owner_ = std::move(vector);
  }
  HostArray(std::initializer_list<T> elements) : HostArray(std::vector<T>(elements)) {}
  /// Makes `count` zeros.
  explicit HostArray(std::size_t count) : HostArray(uninitialized(count)) { std::fill(begin(), end(), T{}); }
  /// Makes `count` uninitialized elements. @throws std::bad_alloc
  static HostArray uninitialized(std::size_t count) {
    HostArray result;
    if (count == 0) return result;
    if (count > max_bytes / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
    if (bytes >= large_bytes) {
      result.owner_ = LargeBlocks::of_process().take(bytes);
    } else {
      void* const memory = std::malloc(bytes);
      if (memory == nullptr) throw std::bad_alloc();
      result.owner_.reset(memory, std::free);
    }
    result.data_ = static_cast<T*>(result.owner_.get());
    result.size_ = count;
    return result;
  }
  HostArray(const HostArray& other) : HostArray(uninitialized(other.size_)) {
    std::copy(other.begin(), other.end(), begin());
  }
  HostArray(HostArray&& other) noexcept
      : owner_(std::move(other.owner_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  HostArray& operator=(HostArray other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HostArray() = default;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  friend bool operator==(const HostArray& x, const HostArray& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  /// LargeBlocks allocates arrays of at least this size.
  static constexpr std::size_t large_bytes = std::size_t{4} << 20;
  static constexpr std::size_t max_bytes = PTRDIFF_MAX / 2;  ///< larger requests throw std::bad_alloc

  std::shared_ptr<void> owner_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gaussweep
