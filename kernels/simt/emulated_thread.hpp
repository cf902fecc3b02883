#pragma once
/// A thread of an emulated block, for emulated_scheduler.cpp and emulated_diagnosis.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/errors.hpp"
#include "kernels/simt/emulated_block.hpp"

namespace gaussweep::emulated::simt::detail {

struct Worker;

enum class State : unsigned char { unstarted, running, at_barrier, at_collective, spinning, returned };

/// A thread of the running cluster, and the reason why it waits.
struct Thread {
  State state = State::unstarted;
  Collective kind = Collective::sync;
  unsigned mask = 0;
  int source = 0;
  SourceLocation site{nullptr, 0};  ///< the source line at which the thread waits
  uint3 index{0, 0, 0};
  unsigned block = 0;               ///< the rank of the thread's block in the cluster
  unsigned cluster_generation = 0;  ///< the scheduler's cluster_generation_ at the last arrival
  std::uint64_t value = 0;          ///< the lane's operand in a collective
  CollectiveResult result{0, 0};
  Worker* worker = nullptr;  ///< the worker that runs the thread; null before the start and after the return
};

/// Returns the error of a cluster whose threads all wait or spin. It lists the threads and their source
/// lines. `block` is the cluster's first block.
DeviceError stuck_block(const uint3& block, const std::vector<Thread>& threads);
/// Returns the error "orderDependence" of a cluster that leaves different bits in memory if its threads run
/// in another order. `block` is the cluster's first block. `order` ("reversed", "shuffled") and `where` (the
/// first different byte) are parts of the message.
DeviceError depends_on_order(const uint3& block, const std::string& order, const std::string& where);

}  // namespace gaussweep::emulated::simt::detail
