/// Runs the threads of emulated blocks, those of a cluster together: a scheduler of fibers that change places
/// only where a thread waits.
///
/// Threads run in rounds. A round is a list of the threads that can go on, in order or shuffled; each goes on
/// until it waits or returns. Those that may go on after that make the next round. A fiber ("worker")
/// belongs to a thread only while that thread has begun and not returned: a thread that never waits needs no
/// switch at all, the same worker takes the next one.

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
#include "kernels/simt/emulated_thread.hpp"
#include "kernels/simt/fibers.hpp"

namespace gaussweep::emulated::simt::detail {

uint3 thread_index, block_index;
dim3 block_dim, grid_dim;
bool progress = false;
const void* polled = nullptr;
int polls = 0;

class Scheduler;

struct Worker {
  explicit Worker(Scheduler& s) : scheduler(s), fiber(stack, &Worker::work, this) {}
  static Fiber& work(void* self);

  Scheduler& scheduler;
  Stack stack;
  Fiber fiber;
};

namespace {

/// Rounds without progress after which threads that spin are given up. Generous: a plain store on which
/// another thread spins is progress that nobody sees, and each round holds at least one of them.
constexpr int fruitless_rounds = 20000;

/// Thrown in the threads that still wait when a launch fails, so that their destructors run.
struct Unwind {};

/// The block's dynamic shared memory: of exactly the size asked for, so that the address sanitizer sees an
/// overrun.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes) {
    if (posix_memalign(&data_, 256, bytes) != 0) throw OutOfMemory("no memory for emulated shared memory");
  }
  ~SharedMemory() { std::free(data_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void spoil() {
    if (bytes_ > 0) std::memset(data_, 0xff, bytes_);
  }
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

struct Block {
  explicit Block(std::size_t shared_bytes) : shared(shared_bytes) {}
  SharedMemory shared;
  uint3 index{0, 0, 0};
  std::size_t at_barrier = 0;
  Site barrier_site{nullptr, 0};
  bool barrier_differs = false;
};

struct Warp {
  unsigned present = 0;  // lanes that have not returned
  unsigned waiting = 0;  // lanes at a collective
};

}  // namespace

/// One for each host thread that launches: fibers never change to another.
class Scheduler {
 public:
  ~Scheduler() {
    ending_ = true;
    for (auto& worker : workers_) host_.hand_to(worker->fiber);
  }

  void run(const Grid& grid, void (*body)(void*), void* closure);

  void barrier(Site site);
  void wait_for_others(Site site);
  CollectiveResult collective(Collective kind, unsigned mask, std::uint64_t value, int source, Site site);
  int lane() const { return static_cast<int>(current_ % 32); }
  Block& block() const { return *blocks_[threads_[current_].block]; }
  unsigned char* shared_memory_of(unsigned rank) const { return blocks_.at(rank)->shared.data(); }
  unsigned rank() const { return threads_[current_].block; }
  unsigned blocks() const { return static_cast<unsigned>(blocks_.size()); }
  void arrive_at_cluster();
  void await_cluster(Site site);
  Fiber& work(Worker& self);

 private:
  void run_cluster(uint3 first, ThreadOrder& order, std::uint64_t messages);
  void run_threads();
  void compare_orders(uint3 first, WatchedMemory& memory, ThreadOrder& shuffled, std::uint64_t seed);
  void run_thread(Worker& self, unsigned index);
  void open_cluster();
  bool next_round();
  Fiber& successor();
  void wait();
  void complete(unsigned warp, const Thread& asker);
  void unwind();

  Fiber host_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  bool ending_ = false;

  void (*body_)(void*) = nullptr;
  void* closure_ = nullptr;
  std::vector<std::unique_ptr<Block>> blocks_;  // of the cluster
  ThreadOrder* order_ = nullptr;
  WatchedMemory* memory_ = nullptr;
  WatchedMemory::Image before_, after_;  // of a cluster whose orders are compared

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::size_t block_threads_ = 0;
  std::vector<unsigned> in_order_, round_, next_;
  std::size_t position_ = 0;  // in round_
  unsigned current_ = 0;      // the thread that runs
  std::size_t returned_ = 0;
  std::size_t at_cluster_ = 0;  // threads that have arrived at its barrier
  std::size_t absent_ = 0;      // and that have returned instead
  unsigned cluster_generation_ = 1;
  int fruitless_ = 0;
  std::exception_ptr failure_;
};

namespace {

std::mutex one_launch_at_a_time;  // the static arrays of kernels are shared by all host threads
Scheduler* active = nullptr;

Scheduler& scheduler_of_kernel() {
  if (active == nullptr)
    throw std::logic_error("a word of kernels (__syncthreads, …) was used outside of a kernel");
  return *active;
}

}  // namespace

void Scheduler::run(const Grid& grid, void (*body)(void*), void* closure) {
  const dim3& b = grid.block;
  const bool compares = grid.compares_orders && grid.memory != nullptr;
  const std::uint64_t seed = compares ? std::max<std::uint64_t>(grid.shuffle_seed, 1) : grid.shuffle_seed;
  ThreadOrder order = ThreadOrder::shuffled(seed);
  memory_ = grid.memory;
  body_ = body;
  closure_ = closure;
  block_dim = b;
  grid_dim = grid.grid;

  blocks_.clear();
  for (unsigned i = 0; i < grid.cluster; ++i) blocks_.push_back(std::make_unique<Block>(grid.shared_bytes));
  block_threads_ = b.x * b.y * b.z;
  threads_.assign(grid.cluster * block_threads_, Thread());
  in_order_.resize(threads_.size());
  std::iota(in_order_.begin(), in_order_.end(), 0u);
  for (unsigned i = 0; i < threads_.size(); ++i) {
    const auto within = static_cast<unsigned>(i % block_threads_);
    threads_[i].index = {within % b.x, within / b.x % b.y, within / b.x / b.y};
    threads_[i].block = static_cast<unsigned>(i / block_threads_);
  }

  for (unsigned z = 0; z < grid_dim.z; ++z) {
    for (unsigned y = 0; y < grid_dim.y; ++y) {
      for (unsigned x = 0; x < grid_dim.x; x += grid.cluster) {
        if (compares) {
          compare_orders({x, y, z}, *grid.memory, order, seed);
        } else {
          run_cluster({x, y, z}, order, seed);
        }
      }
    }
  }
  if (memory_ != nullptr) memory_->check();
}

/// Runs the cluster whose first block is `first` in order, reversed and shuffled, each time from the same
/// memory. @throws DeviceError "orderDependence" if memory differs after it
void Scheduler::compare_orders(uint3 first, WatchedMemory& memory, ThreadOrder& shuffled,
                               std::uint64_t seed) {
  ThreadOrder forward = ThreadOrder::shuffled(0), reversed = ThreadOrder::reversed();
  memory.save(before_);
  run_cluster(first, forward, 0);
  memory.save(after_);
  for (ThreadOrder* const order : {&reversed, &shuffled}) {
    memory.restore(before_);
    run_cluster(first, *order, order == &shuffled ? seed : 0);
    const std::string where = memory.difference(after_);
    if (!where.empty()) throw depends_on_order(first, order == &shuffled ? "shuffled" : "reversed", where);
  }
}

/// Runs a cluster. @param messages the order in which messages arrive: start_messages
void Scheduler::run_cluster(uint3 first, ThreadOrder& order, std::uint64_t messages) {
  order_ = &order;
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    blocks_[i]->index = {first.x + i, first.y, first.z};
    blocks_[i]->shared.spoil();
    blocks_[i]->at_barrier = 0;
    blocks_[i]->barrier_differs = false;
  }
  const WatchedMemory::Closed closed(memory_);
  start_messages(messages);
  run_threads();
  end_messages();
}

void Scheduler::run_threads() {
  for (Thread& thread : threads_) {
    thread.state = State::unstarted;
    thread.cluster_generation = 0;
  }
  warps_.assign((threads_.size() + 31) / 32, Warp{~0u, 0});
  if (threads_.size() % 32 != 0) warps_.back().present = (1u << threads_.size() % 32) - 1;
  next_ = in_order_;
  round_.clear();
  position_ = returned_ = at_cluster_ = absent_ = 0;
  cluster_generation_ = 1;
  fruitless_ = 0;
  progress = true;
  polled = nullptr;
  failure_ = nullptr;

  host_.hand_to(successor());
  if (!failure_ && returned_ != threads_.size()) {
    failure_ = std::make_exception_ptr(stuck_block(blocks_.front()->index, threads_));
  }
  if (failure_) {
    unwind();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
}

/// Every thread that has begun ends with the exception Unwind.
void Scheduler::unwind() {
  for (Thread& thread : threads_) {
    if (thread.worker != nullptr) host_.hand_to(thread.worker->fiber);
  }
}

bool Scheduler::next_round() {
  if (next_.empty()) return false;
  fruitless_ = progress ? 0 : fruitless_ + 1;
  if (fruitless_ > fruitless_rounds) return false;
  progress = false;
  round_.swap(next_);
  next_.clear();
  position_ = 0;
  (*order_)(round_);
  return true;
}

/// Decides which thread goes on (`current_`), and says where. The host's fiber where none can.
Fiber& Scheduler::successor() {
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

/// The life of a worker: it is handed to whenever `current_` is a thread to begin.
Fiber& Scheduler::work(Worker& self) {
  while (!ending_) {
    run_thread(self, current_);
    idle_.push_back(&self);
    Fiber* next = &host_;
    try {
      next = &successor();
    } catch (...) {  // no memory for a further worker
      failure_ = std::current_exception();
    }
    if (next != &self.fiber) self.fiber.hand_to(*next);
  }
  return host_;
}

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
  if (thread.cluster_generation != cluster_generation_) ++absent_;
  open_cluster();
  Warp& warp = warps_[index / 32];
  warp.present &= ~(1u << index % 32);
  // Lanes that waited for this one need not any more.
  for (unsigned waiting = warp.waiting; waiting != 0; waiting &= waiting - 1) {
    const Thread& other = threads_[index / 32 * 32 + static_cast<unsigned>(__builtin_ctz(waiting))];
    if (other.state == State::at_collective) complete(index / 32, other);
  }
}

/// The running thread lets others run; it has noted before what it waits for.
__attribute__((always_inline)) inline void Scheduler::wait() {
  const unsigned index = current_;
  Fiber& own = threads_[index].worker->fiber;
  Fiber& next = successor();
  if (&next != &own) own.hand_to(next);
  if (failure_) throw Unwind{};
  Thread& thread = threads_[index];
  thread.state = State::running;
  thread_index = thread.index;
  block_index = blocks_[thread.block]->index;
}

__attribute__((always_inline)) inline void Scheduler::barrier(Site site) {
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
    next_.insert(next_.end(), first, first + static_cast<std::ptrdiff_t>(block_threads_));
  }
  wait();
}

__attribute__((always_inline)) inline void Scheduler::wait_for_others(Site site) {
  Thread& thread = threads_[current_];
  thread.state = State::spinning;
  thread.site = site;
  next_.push_back(current_);
  wait();
}

void Scheduler::arrive_at_cluster() {
  threads_[current_].cluster_generation = cluster_generation_;
  ++at_cluster_;
  open_cluster();
}

/// Once all threads that have not returned are there.
void Scheduler::open_cluster() {
  if (at_cluster_ == 0 || at_cluster_ + absent_ < threads_.size()) return;
  at_cluster_ = 0;
  absent_ = returned_;
  ++cluster_generation_;
  progress = true;
}

void Scheduler::await_cluster(Site site) {
  while (threads_[current_].cluster_generation == cluster_generation_) wait_for_others(site);
}

__attribute__((always_inline)) inline CollectiveResult Scheduler::collective(Collective kind, unsigned mask,
                                                                             std::uint64_t value, int source,
                                                                             Site site) {
  Thread& thread = threads_[current_];
  if ((mask >> current_ % 32 & 1u) == 0) {
    throw DeviceError("invalidMask: a lane outside of the mask takes part in a warp collective, " +
                          std::string(site.file) + ":" + std::to_string(site.line),
                      "invalidMask", false);
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

/// Lets the lanes of the asker's mask go on if all that are left of them have come to the same place.
void Scheduler::complete(unsigned index, const Thread& asker) {
  Warp& warp = warps_[index];
  const unsigned group = asker.mask & warp.present;
  if ((group & ~warp.waiting) != 0) return;
  Thread* const lanes = &threads_[index * 32];
  unsigned ballot = 0;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (lanes[i].mask != asker.mask || lanes[i].kind != asker.kind || !(lanes[i].site == asker.site)) return;
    if (lanes[i].value != 0) ballot |= 1u << i;
  }
  warp.waiting &= ~group;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    Thread& lane = lanes[__builtin_ctz(rest)];
    const bool known = (group >> lane.source & 1u) != 0;
    lane.result = {known ? lanes[lane.source].value : ~std::uint64_t{0}, ballot};
    lane.state = State::running;
    next_.push_back(index * 32 + static_cast<unsigned>(&lane - lanes));
  }
}

void barrier(Site site) {
  scheduler_of_kernel().barrier(site);
}
void wait_for_others(Site site) {
  if (active != nullptr) active->wait_for_others(site);  // flags may be read by the host too
}
CollectiveResult collective(Collective kind, unsigned mask, std::uint64_t value, int source, Site site) {
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
void await_cluster(Site site) {
  scheduler_of_kernel().await_cluster(site);
}

void throw_bad_width(int width, Site site) {
  throw DeviceError("invalidValue: a shuffle's width is " + std::to_string(width) +
                        ", not a power of two up to 32, " + site.file + ":" + std::to_string(site.line),
                    "invalidValue", false);
}

void run_grid(const Grid& grid, void (*body)(void*), void* closure) {
  thread_local Scheduler scheduler;
  thread_local bool launching = false;
  if (launching) throw std::logic_error("launch: a kernel cannot launch kernels");
  const std::lock_guard<std::mutex> lock(one_launch_at_a_time);
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
