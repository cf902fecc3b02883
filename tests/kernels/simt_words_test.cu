/// Tests CUDA's built-ins in kernels: indices, shared memory, warp collectives, atomics.

#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr unsigned full = 0xffffffffu;

class SimtWords : public ShuffledTest {};
INSTANTIATE_TEST_SUITE_P(Orders, SimtWords, ::testing::ValuesIn(shuffle_seeds));

__global__ void number_all(int* order, int* next) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  order[block * threads + thread] = static_cast<int>(block * 1000 + thread);
  atomicAdd(next, 1);
}

TEST_P(SimtWords, EveryThreadOfAThreeDimensionalGridRunsOnce) {
  DeviceArray<int> order(*device, 2 * 3 * 4 * 5 * 6 * 7), count(*device, 1);
  simt::launch(context, number_all, dim3(2, 3, 4), dim3(5, 6, 7), 0, order.data(), count.data());
  EXPECT_EQ(count.values()[0], 24 * 210);
  const std::vector<int> seen = order.values();
  for (int i = 0; i < static_cast<int>(seen.size()); ++i) ASSERT_EQ(seen[i], i / 210 * 1000 + i % 210);
}

template <class T>
__global__ void __launch_bounds__(1024) reverse_in_shared(T* data, int n) {
  __shared__ T fixed[1024];
  T* const sized = simt::dynamic_shared<T>();
  const int i = static_cast<int>(threadIdx.x);
  fixed[i] = data[blockIdx.x * n + i];
  __syncthreads();
  sized[i] = fixed[n - 1 - i];
  __syncthreads();
  data[blockIdx.x * n + n - 1 - i] = -sized[n - 1 - i];
}

template <class T>
void check_reverse(Context& context, int n) {
  std::vector<T> values(3 * n);
  std::iota(values.begin(), values.end(), T(1));
  DeviceArray<T> data(context.device, values);
  simt::launch(context, reverse_in_shared<T>, 3, n, n * sizeof(T), data.data(), n);
  for (int b = 0; b < 3; ++b) std::reverse(values.begin() + b * n, values.begin() + (b + 1) * n);
  for (T& v : values) v = -v;
  EXPECT_EQ(data.values(), values) << n;
}

TEST_P(SimtWords, BarriersOrderStaticAndDynamicSharedMemory) {
  for (const int n : {1, 2, 31, 32, 33, 97, 1024}) {
    check_reverse<float>(context, n);
    check_reverse<double>(context, n);
    check_reverse<int>(context, n);
  }
}

template <class T>
struct Shuffled {
  T broadcast, rotated, up, down, exchanged, narrow, narrow_up;
};

template <class T>
__global__ void shuffle_all(Shuffled<T>* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const T value_of_lane = static_cast<T>(100 + lane);
  Shuffled<T>& o = out[lane];
  o.broadcast = __shfl_sync(full, value_of_lane, 5);
  o.rotated = __shfl_sync(full, value_of_lane, lane + 1);
  o.up = __shfl_up_sync(full, value_of_lane, 3);
  o.down = __shfl_down_sync(full, value_of_lane, 3);
  o.exchanged = __shfl_xor_sync(full, value_of_lane, 9);
  o.narrow = __shfl_sync(full, value_of_lane, 10, 8);
  o.narrow_up = __shfl_up_sync(full, value_of_lane, 1, 4);
}

template <class T>
void check_shuffles(Context& context) {
  DeviceArray<Shuffled<T>> out(context.device, 32);
  simt::launch(context, shuffle_all<T>, 1, 32, 0, out.data());
  const auto received = out.values();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(received[i].broadcast, T(105));
    EXPECT_EQ(received[i].rotated, T(100 + (i + 1) % 32));
    EXPECT_EQ(received[i].up, T(100 + (i < 3 ? i : i - 3)));
    EXPECT_EQ(received[i].down, T(100 + (i > 28 ? i : i + 3)));
    EXPECT_EQ(received[i].exchanged, T(100 + (i ^ 9)));
    EXPECT_EQ(received[i].narrow, T(100 + i / 8 * 8 + 2));
    EXPECT_EQ(received[i].narrow_up, T(100 + (i % 4 == 0 ? i : i - 1)));
  }
}

TEST_P(SimtWords, ShufflesOfAllTypesFollowTheDefinition) {
  check_shuffles<int>(context);
  check_shuffles<unsigned>(context);
  check_shuffles<float>(context);
  check_shuffles<double>(context);
}

/// Sums a block of any size with shuffles, as the reductions of kernels do.
__global__ void sum_by_warps(const double* values, double* total) {
  double sum = values[threadIdx.x];
  // The threads of this warp and of the warps after it.
  const int left = static_cast<int>(blockDim.x - threadIdx.x / warpSize * warpSize);
  const unsigned mask = left >= warpSize ? full : (1u << left) - 1u;
  const int lane = static_cast<int>(threadIdx.x) % warpSize;
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_down_sync(mask, sum, step);
    if (lane + step < left) sum += other;
  }
  __syncwarp(mask);
  if (lane == 0) simt::atomic_add(total, sum);
}

TEST_P(SimtWords, WarpSumsOfIncompleteWarps) {
  for (const int n : {1, 2, 31, 32, 33, 63, 97, 1000}) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    DeviceArray<double> in(*device, values), total(*device, 1);
    simt::launch(context, sum_by_warps, 1, n, 0, in.data(), total.data());
    EXPECT_EQ(total.values()[0], n * (n + 1) / 2.0) << n;
  }
}

__global__ void vote(unsigned* out) {
  const unsigned lane = threadIdx.x;
  unsigned* const o = out + 4 * lane;
  o[0] = __ballot_sync(full, lane % 3 == 0);
  o[1] = static_cast<unsigned>(__any_sync(full, lane == 7) != 0) * 2 + (__any_sync(full, 0) != 0);
  o[2] = static_cast<unsigned>(__all_sync(full, 1) != 0) * 2 + (__all_sync(full, lane != 7) != 0);
  // Two groups of one warp run independently.
  if (lane < 16) {
    unsigned sum = 0;
    for (int i = 0; i < 5; ++i) sum += __ballot_sync(0x0000ffffu, lane < 4);
    o[3] = sum;
  } else {
    o[3] = __ballot_sync(0xffff0000u, lane > 30);
  }
}

TEST_P(SimtWords, Votes) {
  DeviceArray<unsigned> out(*device, 4 * 32);
  simt::launch(context, vote, 1, 32, 0, out.data());
  const auto received = out.values();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(received[4 * i], 0x49249249u);
    EXPECT_EQ(received[4 * i + 1], 2u);
    EXPECT_EQ(received[4 * i + 2], 2u);
    EXPECT_EQ(received[4 * i + 3], i < 16 ? 5 * 0xfu : 0x80000000u);
  }
}

__global__ void lanes_that_left(int* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = static_cast<int>(__ballot_sync(full, 1));  // returned lanes are exempt
}

TEST_P(SimtWords, ReturnedLanesAreExemptFromCollectives) {
  DeviceArray<int> out(*device, 20);
  simt::launch(context, lanes_that_left, 1, 32, 0, out.data());
  EXPECT_EQ(out.values(), std::vector<int>(20, 0xfffff));
}

template <class T>
__global__ void add_up(T* sum) {
  simt::atomic_add(sum, T(threadIdx.x + 1));
}

template <class T>
void check_sum(Context& context) {
  DeviceArray<T> sum(context.device, 1);
  simt::launch(context, add_up<T>, 7, 100, 0, sum.data());
  EXPECT_EQ(sum.values()[0], T(7 * 5050));
}

TEST_P(SimtWords, AtomicAddOfAllTypes) {
  check_sum<int>(context);
  check_sum<unsigned>(context);
  check_sum<unsigned long long>(context);
  check_sum<float>(context);
  check_sum<double>(context);
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* l, int* old_values) {
  const int t = static_cast<int>(threadIdx.x);
  atomicMax(i, t);
  atomicMin(i + 1, -t);
  atomicMax(l, static_cast<unsigned long long>(t) << 40);
  atomicOr(u, 1u << t % 32);
  atomicAnd(u + 1, ~(1u << t % 8));
  old_values[t] = atomicAdd(i + 2, 2);
  int expected, seen = i[3];
  do {
    expected = seen;
    seen = atomicCAS(i + 3, expected, expected + 3);
  } while (seen != expected);
  if (t == 0) i[5] = atomicExch(i + 4, 77);
}

TEST_P(SimtWords, OtherAtomics) {
  DeviceArray<int> i(*device, std::vector<int>{-5, 5, 0, 10, 4, 0}), old_values(*device, 64);
  DeviceArray<unsigned> u(*device, std::vector<unsigned>{0, 0xffu});
  DeviceArray<unsigned long long> l(*device, 1);
  simt::launch(context, atomics, 1, 64, 0, i.data(), u.data(), l.data(), old_values.data());
  EXPECT_EQ(i.values(), (std::vector<int>{63, -63, 128, 10 + 3 * 64, 77, 4}));
  EXPECT_EQ(u.values(), (std::vector<unsigned>{0xffffffffu, 0u}));
  EXPECT_EQ(l.values()[0], 63ull << 40);
  auto olds = old_values.values();
  std::sort(olds.begin(), olds.end());
  for (int t = 0; t < 64; ++t) EXPECT_EQ(olds[t], 2 * t);
}

__global__ void intrinsics(double* out, const double* in) {
  out[0] = __ldg(in);
  out[1] = __popc(0xf0fu) + 100 * __ffs(8) + 10000 * __clz(1);
  out[2] = min(3, 4) + max(2.5, 1.0) + abs(-0.25) + fma(2.0, 3.0, 0.5);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}

TEST_P(SimtWords, IntrinsicsAndMathFunctions) {
  DeviceArray<double> in(*device, std::vector<double>{1.5}), out(*device, 3);
  simt::launch(context, intrinsics, 1, 1, 0, out.data(), in.data());
  EXPECT_EQ(out.values(), (std::vector<double>{1.5, 8 + 400 + 310000, 3 + 2.5 + 0.25 + 6.5}));
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
