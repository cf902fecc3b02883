/// What the blocks of an emulated cluster send each other, and the barriers that count it.

#include "kernels/simt/emulated_cluster.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "kernels/core/errors.hpp"

namespace gaussweep::emulated::simt::detail {

namespace {

struct Message {
  unsigned address, barrier;
  unsigned char value[16];
  Site site;
};

// Of the cluster that runs; launches run one after another.
std::vector<Message> on_the_way;
std::uint32_t order = 0;  // 0: messages arrive in the order in which they were sent, all at once

std::uint32_t next_random() {
  order = order * 1664525u + 1013904223u;
  return order >> 16;
}

void arrive_now(std::size_t index) {
  const Message message = on_the_way[index];
  on_the_way.erase(on_the_way.begin() + static_cast<std::ptrdiff_t>(index));
  std::memcpy(at_address(message.address), message.value, sizeof(message.value));
  arrive(message.barrier, -16, false, message.site);
}

}  // namespace

void arrive(unsigned barrier, std::int32_t expected, bool thread, Site site) {
  BytesBarrier state;
  std::memcpy(&state, at_address(barrier), sizeof(state));
  state.bytes += expected;
  if (thread && state.pending-- == 0) {
    throw DeviceError("invalidValue: more threads arrive at a barrier than it was started for, " +
                          std::string(site.file) + ":" + std::to_string(site.line),
                      "invalidValue", false);
  }
  if (state.pending == 0 && state.bytes == 0) {
    ++state.phase;
    state.pending = state.threads;
  }
  std::memcpy(at_address(barrier), &state, sizeof(state));
  progress = true;
}

void send(unsigned address, unsigned barrier, const void* value, Site site) {
  Message message{address, barrier, {}, site};
  std::memcpy(message.value, value, sizeof(message.value));
  on_the_way.push_back(message);
  progress = true;
}

void deliver() {
  if (order == 0) {
    while (!on_the_way.empty()) arrive_now(0);
    return;
  }
  while (!on_the_way.empty() && next_random() % 8 != 0) arrive_now(next_random() % on_the_way.size());
  if (!on_the_way.empty()) progress = true;
}

void start_messages(std::uint64_t shuffle_seed) {
  on_the_way.clear();
  order = static_cast<std::uint32_t>(shuffle_seed);
}

void end_messages() {
  if (on_the_way.empty()) return;
  const Site site = on_the_way.front().site;
  on_the_way.clear();
  throw DeviceError("invalidValue: a cluster ended before what was sent in it had arrived, " +
                        std::string(site.file) + ":" + std::to_string(site.line),
                    "invalidValue", false);
}

}  // namespace gaussweep::emulated::simt::detail
