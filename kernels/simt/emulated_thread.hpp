#pragma once
/// A thread of an emulated block, as the scheduler (emulated_scheduler.cpp) and its diagnosis see it.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/errors.hpp"
#include "kernels/simt/emulated_block.hpp"

namespace gaussweep::emulated::simt::detail {

struct Worker;

enum class State : unsigned char { unstarted, running, at_barrier, at_collective, spinning, returned };

struct Thread {
  State state = State::unstarted;
  Collective kind = Collective::sync;
  unsigned mask = 0;
  int source = 0;
  Site site{nullptr, 0};  ///< where it waits
  uint3 index{0, 0, 0};
  unsigned block = 0;               ///< in its cluster
  unsigned cluster_generation = 0;  ///< of the cluster's barrier, where it arrived
  std::uint64_t value = 0;          ///< given to the collective
  CollectiveResult result{0, 0};
  Worker* worker = nullptr;  ///< the fiber on which it has begun and not ended
};

/// The error of a cluster whose threads all wait, or only spin: says which of them wait where. `block`: its
/// first.
DeviceError stuck_block(const uint3& block, const std::vector<Thread>& threads);
/// The error "orderDependence" of a cluster whose threads leave other bits in memory if they run in another
/// order. `block`: its first; `order`, `where`: texts.
DeviceError depends_on_order(const uint3& block, const std::string& order, const std::string& where);

}  // namespace gaussweep::emulated::simt::detail
