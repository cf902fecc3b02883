/// Tests thread-block clusters: ranks, the cluster barrier, messages, and the mbarriers that count them.

#include "kernels/core/errors.hpp"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class SimtCluster : public ShuffledTest {};
INSTANTIATE_TEST_SUITE_P(Orders, SimtCluster, ::testing::ValuesIn(shuffle_seeds));

__global__ void store_ranks(int* seen) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_wait();
  if (threadIdx.x == 0) {
    seen[blockIdx.x] = static_cast<int>(simt::cluster_rank() + 100 * simt::cluster_blocks());
  }
#endif
}

TEST_P(SimtCluster, BlocksKnowTheirRank) {
  DeviceArray<int> seen(*device, 12);
  simt::launch_clusters(context, store_ranks, 4, 3, dim3(32), 0, seen.data());
  const std::vector<int> ranks = seen.values();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(ranks[i], 400 + i % 4);
}

/// A block's shared memory: a mailbox with one slot per sender, and the mbarrier that counts arrived bytes.
struct Post {
  alignas(16) double values[16][2];
  std::uint64_t arrived;
};

/// Each block sends every block two numbers, `rounds` times, and sums the received numbers with weights.
__global__ void exchange(double* sums, int rounds) {
#if GAUSSWEEP_CLUSTERS
  Post& post = *simt::dynamic_shared<Post>();
  const unsigned barrier = simt::shared_address(&post.arrived);
  const unsigned rank = simt::cluster_rank();
  const unsigned blocks = simt::cluster_blocks();
  if (threadIdx.x == 0) {
    simt::mbarrier_init(barrier);
    simt::mbarrier_arrive_expect_tx(barrier, 16 * blocks);
    simt::fence_mbarrier_init();
  }
  simt::cluster_arrive();
  simt::cluster_wait();
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < blocks) {
      const double message[2] = {1.0 + rank, 10.0 * round};
      const unsigned to = simt::map_shared_rank(simt::shared_address(post.values[rank]), threadIdx.x);
      simt::st_async(to, simt::map_shared_rank(barrier, threadIdx.x), message);
    }
    simt::mbarrier_wait(barrier, static_cast<unsigned>(round % 2));
    if (threadIdx.x == 0) simt::mbarrier_arrive_expect_tx(barrier, 16 * blocks);
    for (unsigned r = 0; r < blocks; ++r) {
      double received[2];
      simt::load_pack(simt::shared_address(post.values[r]), received);
      sum += received[0] * (r + 1) + received[1];
    }
    simt::cluster_arrive();  // all blocks have read these numbers before the next ones are sent
    simt::cluster_wait();
  }
  if (threadIdx.x == 33) sums[blockIdx.x] = sum;
#endif
}

TEST_P(SimtCluster, MessagesAreCountedAndSeen) {
  const int blocks = 5, rounds = 3;
  DeviceArray<double> sums(*device, 2 * blocks);
  simt::launch_clusters(context, exchange, blocks, 2, dim3(64), sizeof(Post), sums.data(), rounds);
  for (const double sum : sums.values()) EXPECT_EQ(sum, rounds * 55 + blocks * 10 * (0 + 1 + 2));
}

/// One warp copies tiles of 64 numbers to a ring of two slots; two other warps add them with weights, one sum
/// per thread.
__global__ void copy_and_add(const double* from, int tiles, double* sums) {
#if GAUSSWEEP_CLUSTERS
  double* const ring = simt::dynamic_shared<double>();
  const unsigned barriers = simt::shared_address(ring + 128);
  const auto full = [&](int slot) { return barriers + static_cast<unsigned>(16 * slot); };
  const auto empty = [&](int slot) { return full(slot) + 8; };
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < 2; ++slot) {
      simt::mbarrier_init(full(slot), 32);
      simt::mbarrier_init(empty(slot), 2);
    }
    simt::fence_mbarrier_init();
  }
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (int p = 0; p < tiles; ++p) {
    const int slot = p % 2;
    const auto parity = static_cast<unsigned>(p / 2 % 2);
    double* const tile = ring + slot * 64;
    if (thread >= 64) {
      if (p >= 2) simt::mbarrier_wait(empty(slot), parity ^ 1u);
      const int i = thread - 64;
      simt::copy_16_bytes(tile + 2 * i, from + p * 64 + 2 * i);
      simt::cp_async_mbarrier_arrive(full(slot));
    } else {
      simt::mbarrier_wait(full(slot), parity);
      sum += (p + 1) * tile[thread];
      __syncwarp();
      if (thread % 32 == 0) simt::mbarrier_arrive(empty(slot));
    }
  }
  if (thread < 64) sums[thread] = sum;
#endif
}

TEST_P(SimtCluster, CopiesArriveAtBarriersOfManyThreads) {
  const int tiles = 7;
  std::vector<double> values(64 * tiles);
  std::iota(values.begin(), values.end(), 1.0);
  DeviceArray<double> from(*device, values), sums(*device, 64);
  simt::launch_clusters(context, copy_and_add, 1, 1, dim3(96), 128 * sizeof(double) + 32, from.data(), tiles,
                        sums.data());
  const std::vector<double> seen = sums.values();
  for (int i = 0; i < 64; ++i) {
    double expected = 0;
    for (int p = 0; p < tiles; ++p) expected += (p + 1) * values[p * 64 + i];
    EXPECT_EQ(seen[i], expected) << i;
  }
}

/// All threads of a block arrive at the barrier; then each stores.
__global__ void arrive_and_store(int* data) {
#if GAUSSWEEP_CLUSTERS
  const unsigned barrier = simt::shared_address(simt::dynamic_shared<double>());
  if (threadIdx.x == 0) {
    simt::mbarrier_init(barrier, blockDim.x);
    simt::fence_mbarrier_init();
  }
  __syncthreads();
  for (unsigned phase = 0; phase < 5; ++phase) {
    simt::mbarrier_arrive(barrier);
    simt::mbarrier_wait(barrier, phase % 2);
  }
  data[threadIdx.x] = 1;
#endif
}

TEST_P(SimtCluster, ABarrierMayCountAllThreadsOfALargeBlock) {
  DeviceArray<int> data(*device, 1024);
  simt::launch_clusters(context, arrive_and_store, 1, 1, dim3(1024), sizeof(double), data.data());
  EXPECT_EQ(data.values(), std::vector<int>(1024, 1));
}

/// Reverses each block's numbers, with shared memory and barriers that are independent of other blocks.
__global__ void reverse_in_blocks(int* data) {
#if GAUSSWEEP_CLUSTERS
  int* const staged = simt::dynamic_shared<int>();
  const unsigned last = blockDim.x - 1;
  // a block with rank r passes r + 1 barriers
  for (unsigned turn = 0; turn <= simt::cluster_rank(); ++turn) {
    staged[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] = staged[last - threadIdx.x];
    __syncthreads();
  }
#endif
}

TEST_P(SimtCluster, BlocksHaveSeparateSharedMemoryAndBarriers) {
  const int blocks = 3, threads = 64;
  std::vector<int> values(blocks * threads);
  std::iota(values.begin(), values.end(), 0);
  DeviceArray<int> data(*device, values);
  simt::launch_clusters(context, reverse_in_blocks, blocks, 1, dim3(threads), threads * sizeof(int),
                        data.data());
  const std::vector<int> seen = data.values();
  for (int i = 0; i < blocks * threads; ++i) {
    const int block = i / threads, within = i % threads;
    EXPECT_EQ(seen[i], block * threads + (block % 2 == 0 ? threads - 1 - within : within));
  }
}

/// Block 1 copies the shared memory of block 0 to `data`. One warp per block works; the others have returned.
__global__ void read_from_neighbour(double* data) {
#if GAUSSWEEP_CLUSTERS
  double* const pairs = simt::dynamic_shared<double>();
  const unsigned address = simt::shared_address(pairs + 2 * threadIdx.x);
  if (threadIdx.x >= 32) return;
  if (simt::cluster_rank() == 0) {
    pairs[2 * threadIdx.x] = threadIdx.x;
    pairs[2 * threadIdx.x + 1] = 0.5;
  }
  simt::cluster_arrive();
  simt::cluster_wait();
  if (simt::cluster_rank() == 1) {
    double pair[2];
    simt::load_pack_remote(simt::map_shared_rank(address, 0), pair);
    data[threadIdx.x] = pair[0] + pair[1];
  }
  simt::cluster_arrive();
  simt::cluster_wait();
#endif
}

TEST_P(SimtCluster, DoesNotWaitForReturnedThreads) {
  DeviceArray<double> data(*device, 32);
  simt::launch_clusters(context, read_from_neighbour, 2, 1, dim3(96), 64 * sizeof(double), data.data());
  const std::vector<double> seen = data.values();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(seen[i], i + 0.5);
}

#ifndef __CUDACC__  // undefined behaviour on a GPU, an error in the emulation

std::string error_of(Context& context, void (*kernel)(int), int argument) {
  try {
    simt::launch_clusters(context, kernel, 2, 1, dim3(32), sizeof(Post), argument);
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "none";
}

void break_a_rule(int how) {
  Post& post = *simt::dynamic_shared<Post>();
  const unsigned barrier = simt::shared_address(&post.arrived);
  const unsigned values_address = simt::shared_address(post.values);
  if (threadIdx.x == 0) simt::mbarrier_init(barrier);
  simt::cluster_arrive();
  simt::cluster_wait();
  const double values[2] = {1, 2};
  if (how == 0 && threadIdx.x == 0) {  // no thread waits for this message
    simt::st_async(simt::map_shared_rank(values_address, 1), simt::map_shared_rank(barrier, 1), values);
  }
  if (how == 1 && threadIdx.x < 2)
    simt::mbarrier_arrive_expect_tx(barrier, 16);  // the barrier counts one thread
  if (how == 2) simt::mbarrier_wait(barrier, 0);   // nothing sends
}

TEST_P(SimtCluster, ReportsUndefinedBehaviour) {
  EXPECT_NE(error_of(context, break_a_rule, 0).find("ended before all data of st_async had arrived"),
            std::string::npos);
  EXPECT_NE(error_of(context, break_a_rule, 1).find("more threads arrive at a barrier"), std::string::npos);
  EXPECT_NE(error_of(context, break_a_rule, 2).find("deadlock"), std::string::npos);
  EXPECT_EQ(error_of(context, break_a_rule, 3), "none");
}

TEST(SimtClusterShape, RefusesClustersLargerThanAnyGpus) {
  const auto device = test_device();
  Context context(*device);
  EXPECT_THROW(simt::launch_clusters(context, break_a_rule, 17, 1, dim3(32), sizeof(Post), 3),
               std::invalid_argument);
  EXPECT_THROW(simt::launch_clusters(context, break_a_rule, 0, 1, dim3(32), sizeof(Post), 3),
               std::invalid_argument);
  EXPECT_THROW(simt::launch_clusters(context, break_a_rule, 2, 1, dim3(33), sizeof(Post), 3),
               std::invalid_argument);
}

#endif

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
