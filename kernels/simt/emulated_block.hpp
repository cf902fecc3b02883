#pragma once
/// What the words of emulated kernels (emulated.hpp) ask of the runtime that runs a block's threads as fibers
/// (emulated_scheduler.cpp).

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gaussweep {
class WatchedMemory;
}

namespace gaussweep::emulated::simt {

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/// A place in a kernel's source. As the default argument `Site site = Site::here()` it is the caller's.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
  friend bool operator==(const Site& a, const Site& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

namespace detail {

/// What the lanes of a warp do together.
enum class Collective : unsigned char { sync, shuffle, vote };
/// What a lane gets back from it.
struct CollectiveResult {
  std::uint64_t value;  ///< of the lane that was asked for; all bits set where that lane took no part
  unsigned ballot;
};

/// Set by the runtime before a thread goes on; kernels only read them. Plain variables, since launches of
/// several host threads run one after another.
extern uint3 thread_index, block_index;
extern dim3 block_dim, grid_dim;
/// Set whenever a thread does what another could wait for. Rounds without any are counted: see
/// wait_for_others.
extern bool progress;
/// The address that was polled last, and how many times in a row.
extern const void* polled;
extern int polls;

/// __syncthreads
void barrier(Site site);
/// Lets the other threads of the block run.
void wait_for_others(Site site);
/// A warp collective of the lanes in `mask`. `source`: the lane whose value is wanted.
CollectiveResult collective(Collective kind, unsigned mask, std::uint64_t value, int source, Site site);
/// The lane of the running thread.
int lane();
/// Of the running thread's block.
unsigned char* shared_memory();
/// Of another block of the cluster.
unsigned char* shared_memory_of(unsigned rank);
unsigned cluster_rank();
unsigned cluster_blocks();
/// The barrier of the cluster's threads in two halves.
void arrive_at_cluster();
void await_cluster(Site site);
[[noreturn]] void throw_bad_width(int width, Site site);

/// One launch: `body(closure)` runs once for every thread of every block.
struct Grid {
  dim3 grid, block;
  std::size_t shared_bytes;
  std::uint64_t shuffle_seed;
  unsigned cluster;       ///< blocks in x that run together
  WatchedMemory* memory;  ///< the device's; null: nothing is known of it
  bool compares_orders;   ///< Emulation::compares_orders
};
void run_grid(const Grid& grid, void (*body)(void*), void* closure);

/// A loop that polls one address has to let the others run, also where it forgot to call spin_pause.
inline void poll(const void* address, Site site) {
  if (address != polled) {
    polled = address;
    polls = 0;
  } else if (++polls >= 100) {
    polls = 0;
    wait_for_others(site);
  }
}

}  // namespace detail
}  // namespace gaussweep::emulated::simt
