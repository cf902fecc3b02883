#pragma once
/// Devices that forward all calls to another device, but limit the size of one allocation or of all.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kernels/core/errors.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep::testing_help {

/// Forwards all calls to another device. `waits` counts the calls that made the host wait for it;
/// `watched_memory` returns the allocations of an emulated device with their red zones.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  Backend backend() const override { return device_->backend(); }
  DeviceInfo info() const override { return device_->info(); }
  void* allocate(std::size_t bytes) override { return device_that_may_fail().allocate(bytes); }
  void release(void* pointer) noexcept override { device_->release(pointer); }
  void* allocate_host(std::size_t bytes) override { return device_that_may_fail().allocate_host(bytes); }
  void release_host(void* pointer) noexcept override { device_->release_host(pointer); }
  void to_device(void* to, const void* from, std::size_t bytes) override {
    device_that_may_fail().to_device(to, from, bytes);
  }
  void to_host(void* to, const void* from, std::size_t bytes) override {
    device_that_may_fail().to_host(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    device_that_may_fail().copy(to, from, bytes);
  }
  void to_device_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                    std::size_t width, std::size_t rows) override {
    device_that_may_fail().to_device_2d(to, to_stride, from, from_stride, width, rows);
  }
  void to_host_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                  std::size_t width, std::size_t rows) override {
    device_that_may_fail().to_host_2d(to, to_stride, from, from_stride, width, rows);
  }
  void copy_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride, std::size_t bytes,
               std::size_t columns) override {
    device_that_may_fail().copy_2d(to, to_stride, from, from_stride, bytes, columns);
  }
  void wait_for(Device& other) override { device_->wait_for(other); }
  std::string enable_peer_access(Device& peer) override { return device_->enable_peer_access(peer); }
  void make_current() override { device_->make_current(); }
  void fill(void* to, int byte, std::size_t bytes) override { device_that_may_fail().fill(to, byte, bytes); }
  void synchronize() override { device_that_may_fail().synchronize(); }
  std::int64_t waits() const override { return device_->waits(); }
  std::unique_ptr<Event> make_event() override { return device_->make_event(); }
  WatchedMemory* watched_memory() override { return device_->watched_memory(); }

 protected:
  /// Called before each operation that may fail.
  virtual void may_fail() {}

 private:
  Device& device_that_may_fail() {
    may_fail();
    return *device_;
  }
  std::unique_ptr<Device> device_;
};

/// Refuses every single allocation above a limit.
class LimitedAllocation final : public ForwardingDevice {
 public:
  /// @param max_bytes largest size of an allocation; `limit` can be changed later
  LimitedAllocation(std::unique_ptr<Device> device, std::size_t max_bytes)
      : ForwardingDevice(std::move(device)), limit(max_bytes) {}
  void* allocate(std::size_t bytes) override {
    if (bytes <= limit) return ForwardingDevice::allocate(bytes);
    ++refused;
    throw OutOfMemory("the test's device has no room");
  }

  std::size_t limit;
  int refused = 0;
};

/// Refuses an allocation if all allocations together would exceed `total_bytes`.
class LimitedTotalMemory : public ForwardingDevice {
 public:
  LimitedTotalMemory(std::unique_ptr<Device> device, std::size_t total_bytes)
      : ForwardingDevice(std::move(device)), total_(total_bytes) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.total_bytes = total_;
    info.free_bytes = total_ - allocated_;
    return info;
  }
  void* allocate(std::size_t bytes) override {
    if (bytes > total_ - allocated_) throw OutOfMemory("the device is small");
    void* pointer = ForwardingDevice::allocate(bytes);
    allocated_ += allocation_bytes_[pointer] = bytes;
    return pointer;
  }
  void release(void* pointer) noexcept override {
    allocated_ -= allocation_bytes_.at(pointer);
    allocation_bytes_.erase(pointer);
    ForwardingDevice::release(pointer);
  }
  std::size_t held() const { return allocated_; }

 private:
  std::size_t total_, allocated_ = 0;
  std::map<void*, std::size_t> allocation_bytes_;
};

}  // namespace gaussweep::testing_help
