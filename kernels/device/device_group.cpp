/// Manages several devices of one process that work on one matrix.

#include "kernels/device/device_group.hpp"

#include <exception>
#include <future>

#include "kernels/device/delayed_copies.hpp"

namespace gaussweep {

DeviceGroup::DeviceGroup(Context& first, int count) : first_(first) {
  const bool on_gpus = first.device.backend() == Backend::cuda;
  for (int index = 0; index < count; ++index) {
    Member member;
    if (index > 0) {
      member.owned = on_gpus ? make_cuda_device(index) : make_host_device(first.device.backend(), nullptr);
    }
    Device& device = index == 0 ? first.device : *member.owned;
    if (on_gpus) {
      member.copy_stream = make_cuda_device(index);
    } else {
      auto delayed = std::make_unique<DelayedCopies>(device);
      member.delayed_copies = delayed.get();
      member.copy_stream = std::move(delayed);
    }
    member.context = std::make_unique<Context>(device);
    for (int stream = 0; stream < background_streams; ++stream) {
      if (on_gpus) member.background_devices.push_back(make_cuda_device(index, Priority::low));
      member.background.push_back(
          std::make_unique<Context>(on_gpus ? *member.background_devices.back() : device));
    }
    for (Member& other : members_) {
      for (const std::string& fault : {device.enable_peer_access(other.context->device),
                                       other.context->device.enable_peer_access(device)}) {
        if (member.peer_fault.empty()) member.peer_fault = fault;
      }
    }
    members_.push_back(std::move(member));
  }
  first.device.make_current();
}

DeviceGroup::~DeviceGroup() {
  // A context's libraries and buffers are freed before its device.
  for (Member& member : members_) {
    member.background.clear();
    member.context.reset();
  }
}

std::string DeviceGroup::peer_fault(int count) const {
  for (int index = 0; index < count; ++index) {
    const std::string& fault = members_[static_cast<std::size_t>(index)].peer_fault;
    if (!fault.empty()) return fault;
  }
  return {};
}

Context& DeviceGroup::use(int index) {
  Context& context = *members_[static_cast<std::size_t>(index)].context;
  context.device.make_current();
  context.emulation = first_.emulation;
  return context;
}

Context& DeviceGroup::use_background(int index, int stream) {
  Context& context = background_of(index, stream);
  context.device.make_current();
  context.emulation = first_.emulation;
  return context;
}

void DeviceGroup::wait_for_background(int index) {
  for (int stream = 0; stream < background_streams; ++stream)
    device(index).wait_for(background(index, stream));
}

void DeviceGroup::make_background_wait(int index, Device& device) {
  for (int stream = 0; stream < background_streams; ++stream) background(index, stream).wait_for(device);
}

void DeviceGroup::wait_for_others_copies(int index, int count) {
  for (int other = 0; other < count; ++other) {
    if (other != index) device(index).wait_for(copy_stream(other));
  }
}

void DeviceGroup::drop_queued_copies() noexcept {
  for (Member& member : members_) {
    if (member.delayed_copies != nullptr) member.delayed_copies->drop_queue();
  }
}

void DeviceGroup::fork(int count) {
  for (int index = 0; index < count; ++index) {
    if (index > 0) device(index).wait_for(first_.device);
    copy_stream(index).wait_for(first_.device);
    make_background_wait(index, first_.device);
  }
}

void DeviceGroup::join(int count) {
  for (int index = 0; index < count; ++index) {
    if (index > 0) first_.device.wait_for(device(index));
    first_.device.wait_for(copy_stream(index));
    for (int stream = 0; stream < background_streams; ++stream)
      first_.device.wait_for(background(index, stream));
  }
  first_.device.make_current();
}

void DeviceGroup::stage(int count, std::string_view name) {
  if (first_.stages == nullptr) return;
  // The join and the fork make all devices wait for each other between the stages.
  join(count);
  first_.stage(name);
  fork(count);
}

void DeviceGroup::for_each(int count, const std::function<void(int)>& work) {
  const bool on_gpus = first_.device.backend() == Backend::cuda;
  std::vector<std::future<void>> calls;
  for (int index = 0; index < count; ++index) {
    calls.push_back(std::async(on_gpus ? std::launch::async : std::launch::deferred, [this, &work, index] {
      device(index).make_current();
      work(index);
    }));
  }
  std::exception_ptr error;
  for (std::future<void>& call : calls) {
    try {
      call.get();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  first_.device.make_current();
  if (error) std::rethrow_exception(error);
}

void DeviceGroup::synchronize() {
  for (int index = size() - 1; index >= 0; --index) {
    copy_stream(index).synchronize();
    for (int stream = 0; stream < background_streams; ++stream) background(index, stream).synchronize();
    device(index).synchronize();
  }
}

}  // namespace gaussweep
