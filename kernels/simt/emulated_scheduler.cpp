/// The scheduler of emulated thread blocks, which runs kernels on the CPU. Each thread of a cluster runs on a
/// fiber. A fiber switch happens only where a thread waits. An ordinary block is a cluster of one block.
///
/// Threads run in rounds. A round is a list of the runnable threads: in index order, in reverse order or
/// shuffled. Each thread runs until it waits or returns. Threads that become runnable during a round form the
/// next round. A thread has a fiber ("worker") only from its start until it returns. When a thread returns
/// and the next thread of the round has not started, the same worker runs that thread without a switch.

#include "kernels/simt/emulated_block.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/errors.hpp"
#include "kernels/device/watched_memory.hpp"
#include "kernels/simt/emulated_cluster.hpp"
#include "kernels/simt/emulated_order.hpp"
#include "kernels/simt/emulated_static_shared.hpp"
#include "kernels/simt/emulated_thread.hpp"
#include "kernels/simt/fibers.hpp"

namespace gaussweep::emulated::simt::detail {

uint3 thread_index, block_index;
dim3 block_dim, grid_dim;
bool progress = false;
const void* polled = nullptr;
int polls = 0;

class Scheduler;

/// A fiber with its stack. It runs threads one after another, each from its start to its return.
struct Worker {
  explicit Worker(Scheduler& s) : scheduler(s), fiber(stack, &Worker::work, this) {}
  static Fiber& work(void* self);

  Scheduler& scheduler;
  Stack stack;
  Fiber fiber;
};

namespace {

/// The number of rounds without progress (`progress` in emulated_block.hpp) after which spinning threads are
/// reported as deadlocked. It is large, because plain stores may end a spin loop, and the scheduler does not
/// see them.
constexpr int max_idle_rounds = 20000;

/// Thrown in the waiting threads of a failed launch, so that the destructors of their objects run.
struct Unwind {};

/// The dynamic shared memory of a block. It has exactly the requested size, so that the address sanitizer
/// detects accesses beyond its end.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes) {
    if (posix_memalign(&data_, 256, bytes) != 0) throw OutOfMemory("no memory for emulated shared memory");
  }
  ~SharedMemory() { std::free(data_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  /// Fills the memory with NaN, so that reads of unwritten elements lead to wrong answers.
  void poison() {
    if (bytes_ > 0) std::memset(data_, 0xff, bytes_);
  }
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// A thread block of the running cluster.
struct Block {
  explicit Block(std::size_t shared_bytes) : shared(shared_bytes) {}
  SharedMemory shared;
  uint3 index{0, 0, 0};
  std::size_t at_barrier = 0;               // number of threads that wait at __syncthreads
  SourceLocation barrier_site{nullptr, 0};  // the source line of that __syncthreads
  bool barrier_differs = false;             // true if they wait at different source lines
};

/// A warp of the running cluster.
struct Warp {
  unsigned present = 0;  // bit mask of the lanes that have not returned
  unsigned waiting = 0;  // bit mask of the lanes that wait at a warp collective
};

}  // namespace

/// The scheduler of one host thread. Fibers never move to another host thread.
class Scheduler {
 public:
  ~Scheduler() {
    ending_ = true;
    for (auto& worker : workers_) host_.switch_to(worker->fiber);
  }

  void run(const Grid& grid, void (*body)(void*), void* closure);

  void barrier(SourceLocation site);
  void wait_for_others(SourceLocation site);
  CollectiveResult collective(Collective kind, unsigned mask, std::uint64_t value, int source,
                              SourceLocation site);
  int lane() const { return static_cast<int>(current_ % 32); }
  Block& block() const { return *blocks_[threads_[current_].block]; }
  unsigned char* shared_memory_of(unsigned rank) const { return blocks_.at(rank)->shared.data(); }
  unsigned rank() const { return threads_[current_].block; }
  unsigned blocks() const { return static_cast<unsigned>(blocks_.size()); }
  void arrive_at_cluster();
  void await_cluster(SourceLocation site);
  Fiber& work(Worker& self);

 private:
  void run_cluster(uint3 first, ThreadOrder& order, std::uint64_t message_seed);
  void run_threads();
  void compare_orders(uint3 first, WatchedMemory& memory, ThreadOrder& shuffled, std::uint64_t seed);
  void run_thread(Worker& self, unsigned index);
  void open_cluster_barrier();
  bool next_round();
  Fiber& next_fiber();
  void wait();
  void complete(unsigned warp, const Thread& arrival);
  void unwind();

  Fiber host_;  // the host thread
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;  // the workers without a thread
  bool ending_ = false;        // true: workers return, so that their fibers end

  void (*body_)(void*) = nullptr;
  void* closure_ = nullptr;
  const void* kernel_ = nullptr;                // the address of the kernel of this launch
  std::vector<std::unique_ptr<Block>> blocks_;  // the blocks of the running cluster
  ThreadOrder* order_ = nullptr;
  WatchedMemory* memory_ = nullptr;
  WatchedMemory::Image before_, after_;  // memory before and after a cluster, for compare_orders

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::size_t block_threads_ = 0;
  // Thread numbers: all threads in index order, and the threads of this round and of the next one.
  std::vector<unsigned> in_order_, round_, next_round_threads_;
  std::size_t position_ = 0;  // index in round_ of the next thread
  unsigned current_ = 0;      // the running thread
  std::size_t returned_ = 0;
  std::size_t at_cluster_barrier_ = 0;  // threads that have arrived at the cluster barrier
  std::size_t returned_early_ = 0;      // threads that have returned without arriving at the cluster barrier
  unsigned cluster_generation_ = 1;     // 1 + the number of times that the cluster barrier has opened
  int idle_rounds_ = 0;                 // consecutive rounds without progress
  std::exception_ptr failure_;          // the error of the cluster, after which waiting threads throw Unwind
};

namespace {

std::mutex launch_mutex;      // one launch at a time: host threads share the static arrays of kernels
Scheduler* active = nullptr;  // the scheduler of the running launch; null between launches

/// Returns the process's StaticShared, which is created on first use: constructors of global variables may
/// need it.
StaticShared& static_shared() {
  static StaticShared shared;
  return shared;
}

Scheduler& scheduler_of_kernel() {
  if (active == nullptr)
    throw std::logic_error("a device function (__syncthreads, …) was called outside of a kernel");
  return *active;
}

}  // namespace

/// Runs a launch, one cluster after the other.
void Scheduler::run(const Grid& grid, void (*body)(void*), void* closure) {
  const dim3& b = grid.block;
  const bool compares = grid.compares_orders && grid.memory != nullptr;
  const std::uint64_t seed = compares ? std::max<std::uint64_t>(grid.shuffle_seed, 1) : grid.shuffle_seed;
  ThreadOrder order = ThreadOrder::shuffled(seed);
  memory_ = grid.memory;
  body_ = body;
  closure_ = closure;
  // A closure begins with the address of the kernel (emulated.hpp: start).
  std::memcpy(&kernel_, closure, sizeof(kernel_));
  block_dim = b;
  grid_dim = grid.grid;

  blocks_.clear();
  for (unsigned i = 0; i < grid.blocks_per_cluster; ++i)
    blocks_.push_back(std::make_unique<Block>(grid.shared_bytes));
  block_threads_ = b.x * b.y * b.z;
  threads_.assign(grid.blocks_per_cluster * block_threads_, Thread());
  in_order_.resize(threads_.size());
  std::iota(in_order_.begin(), in_order_.end(), 0u);
  for (unsigned i = 0; i < threads_.size(); ++i) {
    const auto within = static_cast<unsigned>(i % block_threads_);
    threads_[i].index = {within % b.x, within / b.x % b.y, within / b.x / b.y};
    threads_[i].block = static_cast<unsigned>(i / block_threads_);
  }

  for (unsigned z = 0; z < grid_dim.z; ++z) {
    for (unsigned y = 0; y < grid_dim.y; ++y) {
      for (unsigned x = 0; x < grid_dim.x; x += grid.blocks_per_cluster) {
        if (compares) {
          compare_orders({x, y, z}, *grid.memory, order, seed);
        } else {
          run_cluster({x, y, z}, order, seed);
        }
      }
    }
  }
  static_shared().end_launch(kernel_);
  if (memory_ != nullptr) memory_->check();
}

/// Runs the cluster whose first block is `first` in order, reversed and shuffled, each time from the same
/// memory.
/// @throws DeviceError "orderDependence" if the results differ
void Scheduler::compare_orders(uint3 first, WatchedMemory& memory, ThreadOrder& shuffled,
                               std::uint64_t seed) {
  ThreadOrder forward = ThreadOrder::shuffled(/*seed=*/0), reversed = ThreadOrder::reversed();
  memory.save(before_);
  run_cluster(first, forward, /*message_seed=*/0);
  memory.save(after_);
  for (ThreadOrder* const order : {&reversed, &shuffled}) {
    memory.restore(before_);
    run_cluster(first, *order, order == &shuffled ? seed : 0);
    const std::string where = memory.difference(after_);
    if (!where.empty()) throw depends_on_order(first, order == &shuffled ? "shuffled" : "reversed", where);
  }
}

/// Runs a cluster.
/// @param message_seed the seed of the order in which st_async's data arrive (start_messages)
void Scheduler::run_cluster(uint3 first, ThreadOrder& order, std::uint64_t message_seed) {
  order_ = &order;
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    blocks_[i]->index = {first.x + i, first.y, first.z};
    blocks_[i]->shared.poison();
    blocks_[i]->at_barrier = 0;
    blocks_[i]->barrier_differs = false;
  }
  static_shared().begin_block(kernel_);
  const WatchedMemory::RedZoneScope scope(memory_);
  start_messages(message_seed);
  run_threads();
  end_messages();
}

/// Runs the threads of the current cluster until all have returned.
/// @throws DeviceError if threads wait for ever; rethrows exceptions of threads
void Scheduler::run_threads() {
  for (Thread& thread : threads_) {
    thread.state = State::unstarted;
    thread.cluster_generation = 0;
  }
  warps_.assign((threads_.size() + 31) / 32, Warp{~0u, 0});
  if (threads_.size() % 32 != 0) warps_.back().present = (1u << threads_.size() % 32) - 1;
  next_round_threads_ = in_order_;
  round_.clear();
  position_ = returned_ = at_cluster_barrier_ = returned_early_ = 0;
  cluster_generation_ = 1;
  idle_rounds_ = 0;
  progress = true;
  polled = nullptr;
  failure_ = nullptr;

  host_.switch_to(next_fiber());
  if (!failure_ && returned_ != threads_.size()) {
    failure_ = std::make_exception_ptr(stuck_block(blocks_.front()->index, threads_));
  }
  if (failure_) {
    unwind();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

/// Ends every thread that has begun by throwing Unwind in it.
void Scheduler::unwind() {
  for (Thread& thread : threads_) {
    if (thread.worker != nullptr) host_.switch_to(thread.worker->fiber);
  }
}

/// Starts the next round. Returns false if no thread is runnable, or after max_idle_rounds rounds without
/// progress.
bool Scheduler::next_round() {
  if (next_round_threads_.empty()) return false;
  idle_rounds_ = progress ? 0 : idle_rounds_ + 1;
  if (idle_rounds_ > max_idle_rounds) return false;
  progress = false;
  round_.swap(next_round_threads_);
  next_round_threads_.clear();
  position_ = 0;
  (*order_)(round_);
  return true;
}

/// Selects the next thread (`current_`) and returns its fiber; the host's fiber if no thread can run.
Fiber& Scheduler::next_fiber() {
  if (failure_ || (position_ == round_.size() && !next_round())) return host_;
  current_ = round_[position_++];
  if (threads_[current_].worker != nullptr) return threads_[current_].worker->fiber;
  if (idle_.empty()) {
    workers_.push_back(std::make_unique<Worker>(*this));
    return workers_.back()->fiber;
  }
  Worker* const worker = idle_.back();
  idle_.pop_back();
  return worker->fiber;
}

Fiber& Worker::work(void* self) {
  Worker& worker = *static_cast<Worker*>(self);
  return worker.scheduler.work(worker);
}

/// The loop of a worker. Switching to it starts the thread `current_`.
Fiber& Scheduler::work(Worker& self) {
  while (!ending_) {
    run_thread(self, current_);
    idle_.push_back(&self);
    Fiber* next = &host_;
    try {
      next = &next_fiber();
    } catch (...) {  // no memory for another worker
      failure_ = std::current_exception();
    }
    if (next != &self.fiber) self.fiber.switch_to(*next);
  }
  return host_;
}

/// Runs a thread from its start to its return, with switches to other fibers whenever it waits. Then releases
/// the barriers and collectives that waited only for this thread.
void Scheduler::run_thread(Worker& self, unsigned index) {
  Thread& thread = threads_[index];
  thread.worker = &self;
  thread.state = State::running;
  thread_index = thread.index;
  block_index = blocks_[thread.block]->index;
  try {
    body_(closure_);
  } catch (const Unwind&) {
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
  thread.worker = nullptr;
  thread.state = State::returned;
  ++returned_;
  progress = true;
  if (thread.cluster_generation != cluster_generation_) ++returned_early_;
  open_cluster_barrier();
  Warp& warp = warps_[index / 32];
  warp.present &= ~(1u << index % 32);
  // Collectives that waited for this lane may be complete now.
  for (unsigned waiting = warp.waiting; waiting != 0; waiting &= waiting - 1) {
    const Thread& other = threads_[index / 32 * 32 + static_cast<unsigned>(__builtin_ctz(waiting))];
    if (other.state == State::at_collective) complete(index / 32, other);
  }
}

/// Switches to other threads until this one can run. @pre thread.state is the reason why the thread waits
__attribute__((always_inline)) inline void Scheduler::wait() {
  const unsigned index = current_;
  Fiber& own_fiber = threads_[index].worker->fiber;
  Fiber& next = next_fiber();
  if (&next != &own_fiber) own_fiber.switch_to(next);
  if (failure_) throw Unwind{};
  Thread& thread = threads_[index];
  thread.state = State::running;
  thread_index = thread.index;
  block_index = blocks_[thread.block]->index;
}

__attribute__((always_inline)) inline void Scheduler::barrier(SourceLocation site) {
  Thread& thread = threads_[current_];
  thread.state = State::at_barrier;
  thread.site = site;
  progress = true;
  Block& block = *blocks_[thread.block];
  if (block.at_barrier == 0) {
    block.barrier_site = site;
  } else if (!(site == block.barrier_site)) {
    block.barrier_differs = true;
  }
  if (++block.at_barrier == block_threads_ && !block.barrier_differs) {
    block.at_barrier = 0;
    const auto first = in_order_.begin() + static_cast<std::ptrdiff_t>(thread.block * block_threads_);
    next_round_threads_.insert(next_round_threads_.end(), first,
                               first + static_cast<std::ptrdiff_t>(block_threads_));
  }
  wait();
}

__attribute__((always_inline)) inline void Scheduler::wait_for_others(SourceLocation site) {
  Thread& thread = threads_[current_];
  thread.state = State::spinning;
  thread.site = site;
  next_round_threads_.push_back(current_);
  wait();
}

void Scheduler::arrive_at_cluster() {
  threads_[current_].cluster_generation = cluster_generation_;
  ++at_cluster_barrier_;
  open_cluster_barrier();
}

/// Opens the cluster barrier once all threads that have not returned have arrived.
void Scheduler::open_cluster_barrier() {
  if (at_cluster_barrier_ == 0 || at_cluster_barrier_ + returned_early_ < threads_.size()) return;
  at_cluster_barrier_ = 0;
  returned_early_ = returned_;
  ++cluster_generation_;
  progress = true;
}

void Scheduler::await_cluster(SourceLocation site) {
  while (threads_[current_].cluster_generation == cluster_generation_) wait_for_others(site);
}

__attribute__((always_inline)) inline CollectiveResult Scheduler::collective(Collective kind, unsigned mask,
                                                                             std::uint64_t value, int source,
                                                                             SourceLocation site) {
  Thread& thread = threads_[current_];
  if ((mask >> current_ % 32 & 1u) == 0) {
    throw DeviceError("invalidMask: a lane outside of the mask takes part in a warp collective, " +
                          std::string(site.file) + ":" + std::to_string(site.line),
                      "invalidMask", /*is_sticky=*/false);
  }
  thread.state = State::at_collective;
  thread.kind = kind;
  thread.mask = mask;
  thread.value = value;
  thread.source = source;
  thread.site = site;
  progress = true;
  warps_[current_ / 32].waiting |= 1u << current_ % 32;
  complete(current_ / 32, thread);
  wait();
  return thread.result;
}

/// Completes a collective if all lanes of the arriving lane's mask wait at the same call. Lanes that have
/// returned do not count.
void Scheduler::complete(unsigned index, const Thread& arrival) {
  Warp& warp = warps_[index];
  const unsigned group = arrival.mask & warp.present;
  if ((group & ~warp.waiting) != 0) return;
  Thread* const lanes = &threads_[index * 32];
  unsigned ballot = 0;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {  // clears the lowest set bit in each iteration
    const int i = __builtin_ctz(rest);
    if (lanes[i].mask != arrival.mask || lanes[i].kind != arrival.kind || !(lanes[i].site == arrival.site))
      return;
    if (lanes[i].value != 0) ballot |= 1u << i;
  }
  warp.waiting &= ~group;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    Thread& lane = lanes[__builtin_ctz(rest)];
    const bool has_source = (group >> lane.source & 1u) != 0;
    lane.result = {has_source ? lanes[lane.source].value : ~std::uint64_t{0}, ballot};
    lane.state = State::running;
    next_round_threads_.push_back(index * 32 + static_cast<unsigned>(&lane - lanes));
  }
}

void barrier(SourceLocation site) {
  scheduler_of_kernel().barrier(site);
}
void wait_for_others(SourceLocation site) {
  if (active != nullptr) active->wait_for_others(site);  // null if host code, not a kernel, polls
}
CollectiveResult collective(Collective kind, unsigned mask, std::uint64_t value, int source,
                            SourceLocation site) {
  return scheduler_of_kernel().collective(kind, mask, value, source, site);
}
int lane() {
  return scheduler_of_kernel().lane();
}
unsigned char* shared_memory() {
  return scheduler_of_kernel().block().shared.data();
}
unsigned char* shared_memory_of(unsigned rank) {
  return scheduler_of_kernel().shared_memory_of(rank);
}
unsigned cluster_rank() {
  return scheduler_of_kernel().rank();
}
unsigned cluster_blocks() {
  return scheduler_of_kernel().blocks();
}
void arrive_at_cluster() {
  scheduler_of_kernel().arrive_at_cluster();
}
void await_cluster(SourceLocation site) {
  scheduler_of_kernel().await_cluster(site);
}

void throw_bad_width(int width, SourceLocation site) {
  throw DeviceError("invalidValue: a shuffle's width is " + std::to_string(width) +
                        ", not a power of two up to 32, " + site.file + ":" + std::to_string(site.line),
                    "invalidValue", /*is_sticky=*/false);
}

void run_grid(const Grid& grid, void (*body)(void*), void* closure) {
  thread_local Scheduler scheduler;
  thread_local bool launching = false;
  if (launching) throw std::logic_error("launch: a kernel cannot launch kernels");
  const std::lock_guard<std::mutex> lock(launch_mutex);
  const struct Running {
    Running() {
      active = &scheduler;
      launching = true;
    }
    ~Running() {
      active = nullptr;
      launching = false;
    }
  } running;
  scheduler.run(grid, body, closure);
}

}  // namespace gaussweep::emulated::simt::detail

void gaussweep::emulated::simt::fill_static_shared(std::vector<StaticArray> arrays) {
  const std::lock_guard<std::mutex> lock(detail::launch_mutex);
  detail::static_shared().set(std::move(arrays));
}
