#pragma once
/// Several devices (GPUs, or emulated ones) of one process that work on one matrix.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/context.hpp"

namespace gaussweep {

class DelayedCopies;  // kernels/device/delayed_copies.hpp

/// Devices with peer access to each other. Each device has a stream for computations, a stream for copies,
/// and background streams. Background streams have low priority, so that kernels of the stream for
/// computations start before theirs. Each stream is an object of class Device; Device::wait_for orders the
/// work of different streams. Not thread-safe.
class DeviceGroup {
 public:
  /// Makes a group of `count` devices. The first one is the device of `first`, which must outlive the group.
  /// The others are GPUs 1, 2, ... of those visible to this process, or further emulated devices.
  /// @throws DeviceError if there are fewer GPUs
  DeviceGroup(Context& first, int count);
  ~DeviceGroup();
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  int size() const { return static_cast<int>(members_.size()); }
  /// Returns the reason why some of the first `count` devices cannot access each other's memory; empty if
  /// all can.
  std::string peer_fault(int count) const;
  /// Returns the device's stream for computations.
  Device& device(int index) { return members_[static_cast<std::size_t>(index)].context->device; }
  /// Makes a device current and returns its context for computations. Stages are not marked in this context;
  /// use stage() below.
  Context& use(int index);
  static constexpr int background_streams = 2;  ///< per device
  /// Makes a device current and returns the context of one of its background streams.
  Context& use_background(int index, int stream);
  Device& background(int index, int stream) { return background_of(index, stream).device; }
  /// Makes the device's stream for computations wait for its background streams.
  void wait_for_background(int index);
  /// Makes the background streams of device `index` wait for the stream of `device`.
  void make_background_wait(int index, Device& device);
  /// Makes the stream for computations of device `index` wait for the copies queued by the other devices of
  /// the first `count`. These copies may read memory of device `index`.
  void wait_for_others_copies(int index, int count);
  /// Returns the device's copy stream: a stream on which only copies run.
  Device& copy_stream(int index) { return *members_[static_cast<std::size_t>(index)].copy_stream; }

  /// Makes the first `count` devices wait for the work queued on the first device.
  void fork(int count);
  /// Makes the first device wait for all work of the first `count` devices, and makes it current. An event
  /// that is recorded on its stream afterwards therefore marks the end of the slowest device's work.
  void join(int count);
  /// Starts a stage on all devices. While stages are measured, the devices first wait for each other, so
  /// that stages do not overlap.
  void stage(int count, std::string_view name);
  /// Waits for all work of all devices and makes the first device current. Throws the errors of the work.
  void synchronize();
  /// Calls work(index) for the first `count` devices; a device is current during its call. For GPUs, each
  /// call has a host thread; for emulated devices, the calls run one after the other. Returns when all calls
  /// have ended; rethrows an exception of `work`.
  void for_each(int count, const std::function<void(int)>& work);
  /// Removes the copies that emulated devices still have queued after a failed run.
  void drop_queued_copies() noexcept;

 private:
  struct Member {
    std::unique_ptr<Device> owned;  ///< null for the first device
    std::unique_ptr<Device> copy_stream;
    DelayedCopies* delayed_copies = nullptr;  ///< `copy_stream` if the device is emulated, else null
    std::unique_ptr<Context> context;
    std::vector<std::unique_ptr<Device>> background_devices;  ///< empty if the device is emulated
    std::vector<std::unique_ptr<Context>> background;
    std::string peer_fault;  ///< the reason if peer access between this and an earlier device is impossible
  };
  Context& background_of(int index, int stream) {
    return *members_[static_cast<std::size_t>(index)].background[static_cast<std::size_t>(stream)];
  }
  Context& first_;
  std::vector<Member> members_;
};

/// Sets Context::group while an object of this class lives.
class DeviceGroupScope {
 public:
  DeviceGroupScope(Context& context, DeviceGroup* group) : context_(context) { context.group = group; }
  ~DeviceGroupScope() {
    if (context_.group != nullptr) context_.group->drop_queued_copies();
    context_.group = nullptr;
  }
  DeviceGroupScope(const DeviceGroupScope&) = delete;
  DeviceGroupScope& operator=(const DeviceGroupScope&) = delete;

 private:
  Context& context_;
};

}  // namespace gaussweep
