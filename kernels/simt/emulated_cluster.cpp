/// Emulates clusters: messages between blocks (the data of st_async) and the mbarriers that count their
/// bytes.

#include "kernels/simt/emulated_cluster.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "kernels/core/errors.hpp"

namespace gaussweep::emulated::simt::detail {

namespace {

/// The data of one st_async, and the addresses of their destination and of the mbarrier that counts them.
struct Message {
  unsigned address, barrier;
  unsigned char value[16];
  SourceLocation site;
};

// The state of the running cluster. There is only one, because launches run one after another.
std::vector<Message> in_flight;
std::uint32_t random_state = 0;  // 0: all messages are delivered at the next wait, in the order of sending

/// Returns the next number of a linear congruential generator, without its low bits, which vary too little.
std::uint32_t next_random() {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 16;
}

/// Delivers a message: stores its value and counts its 16 bytes at its mbarrier.
void deliver_one(std::size_t index) {
  const Message message = in_flight[index];
  in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(index));
  std::memcpy(at_address(message.address), message.value, sizeof(message.value));
  arrive(message.barrier, /*expected=*/-16, /*is_thread=*/false, message.site);
}

}  // namespace

void arrive(unsigned barrier, std::int32_t expected, bool is_thread, SourceLocation site) {
  MbarrierState state;
  std::memcpy(&state, at_address(barrier), sizeof(state));
  state.bytes += expected;
  if (is_thread && state.pending-- == 0) {
    throw DeviceError("invalidValue: more threads arrive at a barrier than mbarrier_init announced, " +
                          std::string(site.file) + ":" + std::to_string(site.line),
                      "invalidValue", /*is_sticky=*/false);
  }
  if (state.pending == 0 && state.bytes == 0) {
    ++state.phase;
    state.pending = state.threads;
  }
  std::memcpy(at_address(barrier), &state, sizeof(state));
  progress = true;
}

void send(unsigned address, unsigned barrier, const void* value, SourceLocation site) {
  Message message{address, barrier, {}, site};
  std::memcpy(message.value, value, sizeof(message.value));
  in_flight.push_back(message);
  progress = true;
}

void deliver() {
  if (random_state == 0) {
    while (!in_flight.empty()) deliver_one(/*index=*/0);
    return;
  }
  // Before each message, delivery stops with a probability of 1/8.
  while (!in_flight.empty() && next_random() % 8 != 0) deliver_one(next_random() % in_flight.size());
  if (!in_flight.empty()) progress = true;
}

void start_messages(std::uint64_t shuffle_seed) {
  in_flight.clear();
  random_state = static_cast<std::uint32_t>(shuffle_seed);
}

void end_messages() {
  if (in_flight.empty()) return;
  const SourceLocation site = in_flight.front().site;
  in_flight.clear();
  throw DeviceError("invalidValue: a cluster ended before all data of st_async had arrived, " +
                        std::string(site.file) + ":" + std::to_string(site.line),
                    "invalidValue", /*is_sticky=*/false);
}

}  // namespace gaussweep::emulated::simt::detail
