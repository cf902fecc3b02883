/// Describes errors of emulated kernels: which threads wait, and at which source lines.

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/simt/emulated_thread.hpp"

namespace gaussweep::emulated::simt::detail {

namespace {

std::string to_text(const uint3& i) {
  return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
}

std::string state_text(const Thread& thread) {
  switch (thread.state) {
    case State::at_barrier:
      return "at __syncthreads, ";
    case State::at_collective:
      return thread.kind == Collective::sync      ? "at __syncwarp, "
             : thread.kind == Collective::shuffle ? "at a shuffle, "
                                                  : "at a vote, ";
    case State::spinning:
      return "spinning, ";
    case State::returned:
      return "returned from the kernel";
    default:
      return "not started";
  }
}

/// Returns true if both threads wait at the same source line for the same reason.
bool waits_alike(const Thread& a, const Thread& b) {
  if (a.state != b.state) return false;
  if (a.state == State::returned || a.state == State::unstarted) return true;
  if (a.state == State::at_collective && (a.mask != b.mask || a.kind != b.kind)) return false;
  return a.site == b.site;
}

/// Describes threads that wait alike, e.g. "3 threads, (0, 0, 0) (1, 0, 0) (2, 0, 0): at __syncthreads,
/// gauss.cu:17".
std::string describe(const std::vector<const Thread*>& group) {
  constexpr std::size_t max_listed = 8;
  const Thread& first = *group.front();
  std::string text = std::to_string(group.size()) + (group.size() == 1 ? " thread," : " threads,");
  for (std::size_t i = 0; i < std::min(group.size(), max_listed); ++i) text += " " + to_text(group[i]->index);
  if (group.size() > max_listed) text += " … " + to_text(group.back()->index);
  text += ": " + state_text(first);
  if (first.state != State::returned && first.state != State::unstarted) {
    text += std::string(first.site.file) + ":" + std::to_string(first.site.line);
  }
  return text;
}

}  // namespace

DeviceError stuck_block(const uint3& block, const std::vector<Thread>& threads) {
  std::vector<std::vector<const Thread*>> groups;
  for (const Thread& thread : threads) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return waits_alike(*group.front(), thread); });
    if (same == groups.end()) {
      groups.push_back({&thread});
    } else {
      same->push_back(&thread);
    }
  }
  const auto any = [&](State state) {
    return std::any_of(groups.begin(), groups.end(),
                       [&](const auto& g) { return g.front()->state == state; });
  };

  std::string name, text;
  if (any(State::spinning)) {
    name = "deadlock";
    text =
        "threads wait for a change that does not come (a block may wait only for blocks of lower index, "
        "because emulated blocks run one after another, in order)";
  } else if (any(State::at_barrier)) {
    name = "divergentBarrier";
    text = "not all threads reach the same __syncthreads";
  } else {
    name = "divergentWarp";
    text = "not all lanes of a mask reach the same warp collective with that mask";
  }
  text = name + " in block " + to_text(block) + ": " + text;
  for (const auto& group : groups) text += "; " + describe(group);
  return DeviceError(text, name, /*is_sticky=*/false);
}

DeviceError depends_on_order(const uint3& block, const std::string& order, const std::string& where) {
  return DeviceError("orderDependence: block " + to_text(block) +
                         " leaves other bits in memory if its threads run " + order +
                         " instead of in order: " + where,
                     "orderDependence", /*is_sticky=*/false);
}

}  // namespace gaussweep::emulated::simt::detail
