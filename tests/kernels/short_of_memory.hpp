#pragma once
/// A device that has no room for large pieces.

#include <utility>

#include "kernels/core/device.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::testing_help {

class ShortOfMemory final : public Device {
 public:
  /// @param most bytes of a single piece; the limit can be moved later
  ShortOfMemory(std::unique_ptr<Device> device, std::size_t most) : limit(most), device_(std::move(device)) {}
  Backend backend() const override { return device_->backend(); }
  DeviceInfo info() const override { return device_->info(); }
  void* allocate(std::size_t bytes) override {
    if (bytes <= limit) return device_->allocate(bytes);
    ++refused;
    throw OutOfMemory("the test's device has no room");
  }
  void release(void* pointer) noexcept override { device_->release(pointer); }
  void to_device(void* to, const void* from, std::size_t bytes) override {
    device_->to_device(to, from, bytes);
  }
  void to_host(void* to, const void* from, std::size_t bytes) override { device_->to_host(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override { device_->copy(to, from, bytes); }
  void to_device_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                    std::size_t width, std::size_t rows) override {
    device_->to_device_2d(to, to_stride, from, from_stride, width, rows);
  }
  void to_host_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                  std::size_t width, std::size_t rows) override {
    device_->to_host_2d(to, to_stride, from, from_stride, width, rows);
  }
  void fill(void* to, int byte, std::size_t bytes) override { device_->fill(to, byte, bytes); }
  void synchronize() override { device_->synchronize(); }
  std::unique_ptr<Event> make_event() override { return device_->make_event(); }

  std::size_t limit;
  int refused = 0;

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace gaussweep::testing_help
