/// Tests simt::launch: arguments, errors, waits between threads and blocks, and thread order.

#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class SimtLaunch : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device = test_device();
  Context context{*device};
};

__global__ void nothing() {}
__global__ void store_sum(double* out, int a, float b, unsigned long long c) {
  *out = a + b + static_cast<double>(c);
}

TEST_F(SimtLaunch, ConvertsArgumentsToTheKernelsTypes) {
  DeviceArray<double> out(*device, 1);
  const std::int64_t a = 3;
  simt::launch(context, store_sum, 1, 1, 0, out.data(), a, 0.5, 7);
  EXPECT_EQ(out.values()[0], 10.5);
}

TEST_F(SimtLaunch, RefusesImpossibleGridsAndBlocks) {
  const dim3 bad_grids[] = {dim3(0),        dim3(1, 0),       dim3(1, 1, 0), dim3(static_cast<unsigned>(-1)),
                            dim3(1, 65536), dim3(1, 1, 65536)};
  for (const dim3& grid : bad_grids)
    EXPECT_THROW(simt::launch(context, nothing, grid, 1, 0), std::invalid_argument);
  const dim3 bad_blocks[] = {dim3(0),      dim3(1, 0), dim3(1, 1, 0),  dim3(1025),
                             dim3(32, 33), dim3(2048), dim3(1, 1, 65), dim3(65536, 65536)};
  for (const dim3& b : bad_blocks)
    EXPECT_THROW(simt::launch(context, nothing, 1, b, 0), std::invalid_argument);
  try {
    simt::launch(context, nothing, dim3(4, 0, 1), 1, 0);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("(4, 0, 1)"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(simt::launch(context, nothing, 1, 1024, 0));
  EXPECT_NO_THROW(simt::launch(context, nothing, 1, dim3(16, 1, 64), 0));
  device->synchronize();
}

TEST_F(SimtLaunch, RefusesTooMuchSharedMemory) {
  const std::size_t most = simt::max_shared_bytes(context);
  EXPECT_GE(most, 48u * 1024);
  EXPECT_NO_THROW(simt::launch(context, nothing, 1, 32, most));
  EXPECT_THROW(simt::launch(context, nothing, 1, 32, most + 1), DeviceError);
  device->synchronize();  // the refused launch left no error behind
  EXPECT_GT(simt::multiprocessors(context), 0);
}

struct CountingSink : StageSink {
  void mark(std::string_view) override {}
  void launched(double occupancy) override { occupancies.push_back(occupancy); }
  std::vector<double> occupancies;
};

TEST_F(SimtLaunch, NotifiesTheStageSinkOfEveryLaunch) {
  CountingSink sink;
  context.stages = &sink;
  simt::launch(context, nothing, 1, 32, 0);
  simt::launch(context, nothing, 2, 64, 16);
  ASSERT_EQ(sink.occupancies.size(), 2u);
  for (const double o : sink.occupancies) {
    EXPECT_TRUE(std::isnan(o) == (device->backend() == Backend::emulated)) << o;
    EXPECT_FALSE(o <= 0 || o > 1) << o;
  }
}

/// Each thread waits for the previous one, also across blocks: a small pipelined substitution.
__global__ void chain(int* flags, double* values) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i > 0) {
    while (simt::load_acquire(flags + i - 1) == 0) simt::spin_pause();
    values[i] = simt::load_volatile(values + i - 1) + 1;
  }
  simt::store_release(flags + i, 1);
}

// One warp per block: only since Volta may threads of one warp spin on each other.
TEST_F(SimtLaunch, ThreadsMaySpinOnThreadsOfTheSameAndLowerBlocks) {
  const int threads = device->backend() == Backend::emulated ? 70 : 1;
  for (const std::uint64_t seed : shuffle_seeds) {
    context.emulation.shuffle_seed = seed;
    DeviceArray<int> flags(*device, 5 * threads);
    DeviceArray<double> values(*device, 5 * threads);
    simt::launch(context, chain, 5, threads, 0, flags.data(), values.data());
    for (int i = 0; i < 5 * threads; ++i) ASSERT_EQ(values.values()[i], i) << seed;
  }
}

#ifndef __CUDACC__  // Only the emulation guarantees the following.

/// Records the order in which threads pass each of three barriers.
__global__ void note_order(int* order, int* count) {
  for (int round = 0; round < 3; ++round) {
    order[atomicAdd(count, 1)] = static_cast<int>(threadIdx.x);
    __syncthreads();
  }
}

std::vector<int> order_of_threads(Context& context, std::uint64_t seed) {
  context.emulation.shuffle_seed = seed;
  DeviceArray<int> order(context.device, 3 * 40), count(context.device, 1);
  simt::launch(context, note_order, 1, 40, 0, order.data(), count.data());
  return order.values();
}

TEST_F(SimtLaunch, OrderIsAscendingOrShuffledAfterEveryBarrier) {
  const auto plain = order_of_threads(context, 0);
  for (int i = 0; i < 120; ++i) EXPECT_EQ(plain[i], i % 40);

  const auto shuffled = order_of_threads(context, 42);
  EXPECT_EQ(shuffled, order_of_threads(context, 42)) << "one order per seed";
  EXPECT_NE(shuffled, order_of_threads(context, 43));
  std::set<std::vector<int>> rounds;
  for (int r = 0; r < 3; ++r) {
    const std::vector<int> round(shuffled.begin() + 40 * r, shuffled.begin() + 40 * (r + 1));
    EXPECT_EQ(std::set<int>(round.begin(), round.end()).size(), 40u);
    rounds.insert(round);
  }
  EXPECT_EQ(rounds.size(), 3u);
}

__global__ void read_unset_shared(double* out) {
  double* const shared = simt::dynamic_shared<double>();
  out[blockIdx.x] = shared[0];
  shared[0] = 1;
}

TEST_F(SimtLaunch, DynamicSharedMemoryStartsAsNaNInEveryBlock) {
  DeviceArray<double> out(*device, 3);
  simt::launch(context, read_unset_shared, 3, 1, sizeof(double), out.data());
  for (const double v : out.values()) EXPECT_TRUE(std::isnan(v));
}

__global__ void align(std::uintptr_t* out) {
  *out = reinterpret_cast<std::uintptr_t>(simt::dynamic_shared<double>());
}

TEST_F(SimtLaunch, DynamicSharedMemoryIsAligned) {
  DeviceArray<std::uintptr_t> out(*device, 1);
  for (const int bytes : {1, 8, 24, 1000}) {
    simt::launch(context, align, 1, 1, bytes, out.data());
    EXPECT_EQ(out.values()[0] % 16, 0u);
  }
}

struct Counted {
  explicit Counted(int* c) : count(c) { ++*count; }
  ~Counted() { --*count; }
  int* count;
};

__global__ void throw_in_one(int* alive, int thrower) {
  const Counted counted(alive);
  __syncthreads();
  if (static_cast<int>(threadIdx.x) == thrower)
    throw std::runtime_error("from thread " + std::to_string(thrower));
  __syncthreads();
}

TEST_F(SimtLaunch, ExceptionsLeaveTheLaunchAfterAllThreadsHaveUnwound) {
  for (const std::uint64_t seed : shuffle_seeds) {
    context.emulation.shuffle_seed = seed;
    for (const int thrower : {0, 17, 99}) {
      int alive = 0;
      try {
        simt::launch(context, throw_in_one, 4, 100, 0, &alive, thrower);
        FAIL();
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), "from thread " + std::to_string(thrower));
      }
      EXPECT_EQ(alive, 0);
      EXPECT_NO_THROW(simt::launch(context, throw_in_one, 1, 100, 0, &alive, -1)) << "the next launch works";
      EXPECT_EQ(alive, 0);
    }
  }
}

Context* outer_context = nullptr;
__global__ void launch_inside() {
  simt::launch(*outer_context, nothing, 1, 1, 0);
}

TEST_F(SimtLaunch, KernelsCannotLaunchKernels) {
  outer_context = &context;
  EXPECT_THROW(simt::launch(context, launch_inside, 1, 1, 0), std::logic_error);
  EXPECT_THROW(__syncthreads(), std::logic_error) << "no barrier outside kernels";
}

/// Sums a block in a static array, which all host threads of the process share.
__global__ void block_sum(double* out) {
  __shared__ double part[256];
  const unsigned t = threadIdx.x;
  part[t] = t + 1;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

TEST_F(SimtLaunch, SeveralHostThreadsMayLaunchConcurrently) {
  std::vector<std::vector<double>> sums(4);
  std::vector<std::thread> threads;
  for (auto& sum : sums) {
    threads.emplace_back([&sum] {
      const auto thread_device = test_device();
      Context thread_context(*thread_device);
      DeviceArray<double> out(*thread_device, 5);
      for (int i = 0; i < 20; ++i) simt::launch(thread_context, block_sum, 5, 256, 0, out.data());
      sum = out.values();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& sum : sums) EXPECT_EQ(sum, std::vector<double>(5, 256 * 257 / 2));
}

double sum_recursively(int depth) {
  volatile double locals[16];
  locals[depth % 16] = depth;
  return depth == 0 ? locals[0] : sum_recursively(depth - 1) + locals[depth % 16];
}
__global__ void use_stack(double* out) {
  const double first = sum_recursively(100);
  __syncthreads();
  out[threadIdx.x] = first + sum_recursively(100);
}

TEST_F(SimtLaunch, AThousandThreadsHaveLocalsOnTheirStacks) {
  DeviceArray<double> out(*device, 1024);
  simt::launch(context, use_stack, 2, 1024, 0, out.data());
  EXPECT_EQ(out.values(), std::vector<double>(1024, 2 * 5050));
}

#endif

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
