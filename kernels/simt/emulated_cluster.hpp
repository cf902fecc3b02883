#pragma once
/// Thread-block clusters on the CPU: the functions of cuda_cluster.cuh. Part of emulated.hpp. The threads of
/// all blocks of a cluster are interleaved. An integer address in shared memory consists of the block's rank
/// (upper 8 bits) and the offset in the block's dynamic shared memory (lower 24 bits). The data of st_async
/// are queued as messages, which arrive only while a thread waits at an mbarrier.

#include <cstdint>
#include <cstring>

#include "kernels/simt/emulated_block.hpp"

#define GAUSSWEEP_CLUSTERS 1

namespace gaussweep::emulated::simt {

inline void griddepcontrol_launch_dependents() {}
inline void griddepcontrol_wait() {}

using detail::cluster_blocks;
using detail::cluster_rank;
inline void cluster_arrive() {
  detail::arrive_at_cluster();
}
inline void cluster_wait(SourceLocation site = SourceLocation::current()) {
  detail::await_cluster(site);
}

inline unsigned map_shared_rank(unsigned address, unsigned rank) {
  return (address & 0xffffffu) | rank << 24;
}
inline unsigned shared_address(const void* p) {
  const auto offset = static_cast<const unsigned char*>(p) - detail::shared_memory();
  return map_shared_rank(static_cast<unsigned>(offset), cluster_rank());
}

namespace detail {

inline unsigned char* at_address(unsigned address) {
  return shared_memory_of(address >> 24) + (address & 0xffffffu);
}

/// The state of an mbarrier, which has 8 bytes in shared memory.
struct MbarrierState {
  std::int32_t bytes;  ///< outstanding bytes; negative if more bytes have arrived than are expected so far
  std::uint32_t pending : 15;  ///< outstanding arrivals of threads in this phase
  std::uint32_t threads : 15;  ///< arrivals per phase; a block has at most 1024 threads
  std::uint32_t phase : 2;     ///< number of completed phases, modulo 4; only its parity is used
};
/// Adds `expected` to the outstanding bytes and, if `is_thread` is true, counts the arrival of a thread.
/// @throws DeviceError "invalidValue" if more threads arrive in a phase than mbarrier_init announced
void arrive(unsigned barrier, std::int32_t expected, bool is_thread, SourceLocation site);
/// Queues a message of 16 bytes (st_async).
void send(unsigned address, unsigned barrier, const void* value, SourceLocation site);
/// Delivers all queued messages, or a random part of the messages if there is a shuffle seed.
void deliver();
/// Prepares the message queue for a cluster. `shuffle_seed` is the seed of the order of delivery; 0 means the
/// order of sending.
void start_messages(std::uint64_t shuffle_seed);
/// Checks at the end of a cluster that all messages have been delivered.
/// @throws DeviceError "invalidValue" if a message was not delivered
void end_messages();

}  // namespace detail

inline void mbarrier_init(unsigned barrier, unsigned threads = 1) {
  detail::MbarrierState fresh{};
  fresh.pending = fresh.threads = threads & 0x7fffu;
  std::memcpy(detail::at_address(barrier), &fresh, sizeof(fresh));
}
inline void fence_mbarrier_init() {}
inline void mbarrier_arrive_expect_tx(unsigned barrier, unsigned bytes,
                                      SourceLocation site = SourceLocation::current()) {
  detail::arrive(barrier, static_cast<std::int32_t>(bytes), /*is_thread=*/true, site);
}
inline void mbarrier_arrive(unsigned barrier, SourceLocation site = SourceLocation::current()) {
  detail::arrive(barrier, /*expected=*/0, /*is_thread=*/true, site);
}
inline void cp_async_mbarrier_arrive(unsigned barrier, SourceLocation site = SourceLocation::current()) {
  detail::arrive(barrier, /*expected=*/0, /*is_thread=*/true, site);
}
inline void mbarrier_wait(unsigned barrier, unsigned parity,
                          SourceLocation site = SourceLocation::current()) {
  for (;;) {
    detail::deliver();
    detail::MbarrierState seen;
    std::memcpy(&seen, detail::at_address(barrier), sizeof(seen));
    if (seen.phase % 2u != parity) return;
    detail::wait_for_others(site);
  }
}

template <int>
void setmaxnreg_dec() {}
template <int>
void setmaxnreg_inc() {}

template <class T>
void load_pack(unsigned address, T* value) {
  std::memcpy(value, detail::at_address(address), 16);
}
inline void load_pack_remote(unsigned address, double* value) {
  load_pack(address, value);
}
template <class T>
void store_pack(unsigned address, const T* value) {
  std::memcpy(detail::at_address(address), value, 16);
}
template <class T>
void store_one(unsigned address, T value) {
  std::memcpy(detail::at_address(address), &value, sizeof(value));
}
template <class T>
void load_one(unsigned address, T& value) {
  std::memcpy(&value, detail::at_address(address), sizeof(value));
}
template <class T>
void st_async(unsigned address, unsigned barrier, const T* value,
              SourceLocation site = SourceLocation::current()) {
  detail::send(address, barrier, value, site);
}

template <class T>
void store_pack_if(bool condition, unsigned address, const T* value) {
  if (condition) store_pack(address, value);
}
template <class T>
void st_async_if(bool condition, unsigned address, unsigned barrier, const T* value,
                 SourceLocation site = SourceLocation::current()) {
  if (condition) st_async(address, barrier, value, site);
}

}  // namespace gaussweep::emulated::simt
