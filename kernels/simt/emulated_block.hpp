#pragma once
/// The interface of the runtime that runs a block's threads as fibers (emulated_scheduler.cpp). The CUDA
/// functions of emulated kernels (emulated_builtins.hpp, emulated_cluster.hpp) call it.

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

/// A source line of a kernel. As a default argument, `SourceLocation::current()` is the line of the caller.
struct SourceLocation {
  const char* file;
  int line;
  static constexpr SourceLocation current(const char* f = __builtin_FILE(), int l = __builtin_LINE()) {
    return {f, l};
  }
  friend bool operator==(const SourceLocation& a, const SourceLocation& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

namespace detail {

/// The kinds of warp collectives.
enum class Collective : unsigned char { sync, shuffle, vote };
/// A lane's result of a collective.
struct CollectiveResult {
  std::uint64_t value;  ///< the source lane's value; all bits set if that lane does not take part
  unsigned ballot;      ///< bit mask of the lanes whose value is not 0
};

/// The indices of the running thread, set by the runtime when it switches threads; kernels only read them.
/// Plain globals suffice, because launches of several host threads run one after another.
extern uint3 thread_index, block_index;
extern dim3 block_dim, grid_dim;
/// Becomes true when a thread does something for which another thread may wait. To detect deadlocks, the
/// scheduler counts the rounds (emulated_scheduler.cpp) in which `progress` stays false.
extern bool progress;
/// The address of the last poll (a load in a spin loop), and the number of consecutive polls of it.
extern const void* polled;
extern int polls;

/// Implements __syncthreads.
void barrier(SourceLocation site);
/// Lets the other threads of the cluster run. Spinning threads call it.
void wait_for_others(SourceLocation site);
/// Executes a warp collective of the lanes in `mask`: waits for these lanes, and returns the `value` of lane
/// `source` and the ballot.
CollectiveResult collective(Collective kind, unsigned mask, std::uint64_t value, int source,
                            SourceLocation site);
/// Returns the lane number of the running thread.
int lane();
/// Returns the shared memory of the running thread's block.
unsigned char* shared_memory();
/// Returns the shared memory of a block of the cluster.
unsigned char* shared_memory_of(unsigned rank);
unsigned cluster_rank();
unsigned cluster_blocks();
void arrive_at_cluster();
void await_cluster(SourceLocation site);
[[noreturn]] void throw_bad_width(int width, SourceLocation site);

/// The shape and the options of a launch.
struct Grid {
  dim3 grid, block;
  std::size_t shared_bytes;
  std::uint64_t shuffle_seed;
  unsigned blocks_per_cluster;  ///< the blocks of a cluster are neighbours in x
  WatchedMemory* memory;        ///< null: writes outside of operands are not detected
  bool compares_orders;         ///< Emulation::compares_orders
};
/// Runs a launch: calls `body(closure)` once for every thread of every block.
void run_grid(const Grid& grid, void (*body)(void*), void* closure);

/// Counts consecutive polls of an address. After 100 polls it lets other threads run, because a polling loop
/// without spin_pause would never end otherwise.
inline void poll(const void* address, SourceLocation site) {
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
