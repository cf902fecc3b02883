// Decides if a trial fits into the free memory, and frees held memory if it does not.
#include <algorithm>
#include <limits>

#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/worker/execute.hpp"
#include "driver/worker/held.hpp"

namespace gaussweep::driver {
namespace {

/// Trials of at most this footprint do not query the free memory each time: there are many of them.
constexpr double little_bytes = 0x1p26;
constexpr double look_seconds = 1;  // at most this long between two queries

}  // namespace

Room Executor::room_of(const Device& device) const {
  const DeviceInfo info = device.info();
  Room room{info.name, static_cast<double>(info.free_bytes), static_cast<double>(info.total_bytes),
            memory_facts()};
  if (device.backend() == Backend::cuda) return room;
  room.device_free = std::min(room.device_free, room.host.free);
  room.device_total = std::min(room.device_total, room.host.most);
  return room;
}

bool Executor::is_plenty_for(const Footprint& need) const {
  return need.device_bytes + need.host_bytes <= little_bytes && now_seconds() < plenty_until_;
}

Placement Executor::placement_of(const Trial& trial, const Method& method) {
  const Footprint need = footprint(method, trial);
  if (is_plenty_for(need)) return {};
  const Device& device = context_of(trial.backend).device;
  Room room = room_of(device);
  if (need.device_bytes > room.device_free) {  // memory held for earlier trials can be freed
    leave_device();
    room = room_of(device);
  }
  if (need.host_bytes > room.host.free) {
    held_float_.reset();
    held_double_.reset();
    store_.finish([&] { at_("store"); });  // matrices waiting to be stored can be freed too
    LargeBlocks::of_process().trim();
    room = room_of(device);
  }
  Placement placement = find_placement(method, trial, room);
  if (placement.fit != Fit::fits) return placement;
  const auto free = std::min(static_cast<double>(device_.info().free_bytes), room.host.free);
  // The trial may leave as much memory held as it uses.
  const bool plenty = std::min(free, room.device_free) > need.device_bytes + 16 * little_bytes;
  plenty_until_ = plenty ? now_seconds() + look_seconds : 0;
  return placement;
}

void Executor::leave_device() {
  if (held_float_) held_float_->leave_device();
  if (held_double_) held_double_->leave_device();
}

Placement Executor::reference_placement(const Trial& trial, const Method& vendor) {
  const Footprint need = footprint(vendor, trial);
  if (is_plenty_for(need)) return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Device& device = trial.backend == Backend::host ? *host_device_ : device_;
  Room room = room_of(device);
  if (need.device_bytes > room.device_free) {
    leave_device();
    room = room_of(device);
  }
  room.host = {infinity, infinity};
  return find_placement(vendor, trial, room);
}

}  // namespace gaussweep::driver
