// Decides if a trial fits into the free memory, and frees held memory if it does not.
#include <algorithm>
#include <limits>

#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/worker/execute.hpp"
#include "driver/worker/held.hpp"

namespace gaussweep::driver {
namespace {

/// There are many small trials. Trials with at most this footprint do not query the free memory each time.
constexpr double small_trial_bytes = 0x1p26;
constexpr double query_interval_seconds = 1;  // the maximum time between two queries

}  // namespace

Room Executor::available_memory(const Device& device) const {
  const DeviceInfo info = device.info();
  Room room{info.name, static_cast<double>(info.free_bytes), static_cast<double>(info.total_bytes),
            memory_facts()};
  if (device.backend() == Backend::cuda) return room;
  room.device_free = std::min(room.device_free, room.host.free);
  room.device_total = std::min(room.device_total, room.host.most);
  return room;
}

bool Executor::surely_fits(const Footprint& need) const {
  return need.device_bytes + need.host_bytes <= small_trial_bytes && now_seconds() < ample_memory_until_;
}

Placement Executor::placement_of(const Trial& trial, const Method& method) {
  const Footprint need = footprint(method, trial);
  if (surely_fits(need)) return {};
  const Device& device = context_of(trial.backend).device;
  Room room = available_memory(device);
  if (need.device_bytes > room.device_free) {  // memory held for earlier trials can be freed
    free_device_memory();
    room = available_memory(device);
  }
  if (need.host_bytes > room.host.free) {
    held_float_.reset();
    held_double_.reset();
    store_.finish([&] { at_("store"); });  // matrices waiting to be stored can be freed too
    LargeBlocks::of_process().trim();
    room = available_memory(device);
  }
  Placement placement = find_placement(method, trial, room);
  if (placement.fit != Fit::fits) return placement;
  const auto free = std::min(static_cast<double>(device_.info().free_bytes), room.host.free);
  // After the trial, up to its whole footprint may stay held.
  const bool is_ample = std::min(free, room.device_free) > need.device_bytes + 16 * small_trial_bytes;
  ample_memory_until_ = is_ample ? now_seconds() + query_interval_seconds : 0;
  return placement;
}

void Executor::free_device_memory() {
  if (held_float_) held_float_->free_device_memory();
  if (held_double_) held_double_->free_device_memory();
}

Placement Executor::reference_placement(const Trial& trial, const Method& vendor) {
  const Footprint need = footprint(vendor, trial);
  if (surely_fits(need)) return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Device& device = trial.backend == Backend::host ? *host_device_ : device_;
  Room room = available_memory(device);
  if (need.device_bytes > room.device_free) {
    free_device_memory();
    room = available_memory(device);
  }
  room.host = {infinity, infinity};
  return find_placement(vendor, trial, room);
}

}  // namespace gaussweep::driver
