#pragma once
/// An emulated device's stream for copies (DeviceGroup::copy_stream). It delays its copies until a device
/// waits for them, because a GPU may delay copies, too. In tests, methods that overwrite a source too early
/// or do not wait therefore get wrong answers.

#include <functional>
#include <vector>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Queues copies and fills, and forwards all other functions to the device.
class DelayedCopies final : public Device {
 public:
  explicit DelayedCopies(Device& device) : device_(device) {}
  Backend backend() const override { return device_.backend(); }
  DeviceInfo info() const override { return device_.info(); }
  void* allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void release(void* pointer) noexcept override { device_.release(pointer); }
  void* allocate_host(std::size_t bytes) override { return device_.allocate_host(bytes); }
  void release_host(void* pointer) noexcept override { device_.release_host(pointer); }
  void to_device(void* to, const void* from, std::size_t bytes) override {
    finish();
    device_.to_device(to, from, bytes);
  }
  void to_host(void* to, const void* from, std::size_t bytes) override {
    finish();
    device_.to_host(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    queue_.push_back([=] { device_.copy(to, from, bytes); });
  }
  void to_device_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                    std::size_t width, std::size_t rows) override {
    finish();
    device_.to_device_2d(to, to_stride, from, from_stride, width, rows);
  }
  void to_host_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                  std::size_t width, std::size_t rows) override {
    finish();
    device_.to_host_2d(to, to_stride, from, from_stride, width, rows);
  }
  void copy_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t bytes,
               std::size_t columns) override {
    queue_.push_back([=] { device_.copy_2d(to, to_stride, from, from_stride, bytes, columns); });
  }
  void fill(void* to, int byte, std::size_t bytes) override {
    queue_.push_back([=] { device_.fill(to, byte, bytes); });
  }
  /// Makes later copies run after the copies that `other` has queued so far. All other work is already
  /// complete, because emulated devices work synchronously.
  void wait_for(Device& other) override {
    auto* const delayed = dynamic_cast<DelayedCopies*>(&other);
    if (delayed != nullptr && delayed != this) queue_.push_back([delayed] { delayed->finish(); });
  }
  std::string enable_peer_access(Device& peer) override { return device_.enable_peer_access(peer); }
  void make_current() override {}
  void synchronize() override {
    finish();
    device_.synchronize();
  }
  std::int64_t waits() const override { return device_.waits(); }
  std::unique_ptr<Event> make_event() override { return device_.make_event(); }
  /// Runs the queued copies.
  void finish() {
    // The queue is emptied before its operations run, because an operation of wait_for may call `finish` of
    // an object that waits for this one.
    const std::vector<std::function<void()>> queued = std::move(queue_);
    queue_.clear();
    for (const auto& operation : queued) operation();
  }

  /// Removes the queued copies after a failed run, because their memory may be freed.
  void drop_queue() { queue_.clear(); }

 private:
  Device& device_;
  std::vector<std::function<void()>> queue_;
};

}  // namespace gaussweep
