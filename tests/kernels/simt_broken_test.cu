/// Tests that deliberately broken kernels are detected and their correct twins are not.

#include "tests/kernels/broken_kernels.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

#if !defined(__SANITIZE_ADDRESS__)
#define NEEDS_SANITIZER \
  GTEST_SKIP() << "out-of-bounds accesses are seen in the sanitizer build (GAUSSWEEP_SANITIZE)"
#else
#define NEEDS_SANITIZER static_cast<void>(0)
#endif

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class SimtBroken : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device = test_device();
  Context context{*device};

  /// Returns the number of right answers in 20 shuffled thread orders.
  int right_of_20(const std::function<bool()>& answer_is_right) {
    int right = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      context.emulation.shuffle_seed = seed;
      right += answer_is_right() ? 1 : 0;
    }
    return right;
  }

  /// Returns the error of a launch: a DeviceError of this name that is not sticky.
  std::string error_of(const std::string& name, const std::function<void()>& launch) {
    try {
      launch();
    } catch (const DeviceError& e) {
      EXPECT_EQ(e.name, name) << e.what();
      EXPECT_FALSE(e.sticky);
      return e.what();
    }
    ADD_FAILURE() << "the launch did not fail";
    return {};
  }
};

void expect_all(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

std::vector<int> ascending(int n) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

template <bool mended>
bool reverses(Context& context) {
  const std::vector<int> values = ascending(64);
  DeviceArray<int> in(context.device, values), out(context.device, 64);
  simt::launch(context, broken::reverse_in_shared<mended>, 1, 64, 0, in.data(), out.data());
  return out.values() == std::vector<int>(values.rbegin(), values.rend());
}

TEST_F(SimtBroken, DetectsMissingBarrierInStaticSharedMemory) {
  // Static arrays keep the last block's values. Without a barrier a thread may read them, and they are right
  // if the input was the same. So `spoil` overwrites them by a launch with another answer.
  const auto spoil = [&] {
    DeviceArray<int> zeros(*device, 64), out(*device, 64);
    simt::launch(context, broken::reverse_in_shared<false>, 1, 64, 0, zeros.data(), out.data());
  };
  EXPECT_EQ(right_of_20([&] { return spoil(), reverses<false>(context); }), 0);
  EXPECT_EQ(right_of_20([&] { return reverses<true>(context); }), 20);
}

template <bool mended>
bool sums(Context& context) {
  DeviceArray<int> in(context.device, ascending(64)), out(context.device, 1);
  simt::launch(context, broken::sum_by_halves<mended>, 1, 64, 64 * sizeof(int), in.data(), out.data());
  return out.values()[0] == 64 * 65 / 2;
}

TEST_F(SimtBroken, DetectsMissingBarrierInDynamicSharedMemory) {
  EXPECT_EQ(right_of_20([&] { return sums<false>(context); }), 0);
  EXPECT_EQ(right_of_20([&] { return sums<true>(context); }), 20);
}

/// Eliminates in a matrix with 4 n on the diagonal and 1 off it. The result does not depend on the thread
/// order if the kernel is right.
template <bool mended>
std::vector<double> eliminated(Context& context) {
  const int n = 12;
  std::vector<double> a(n * n, 1.0);
  for (int i = 0; i < n; ++i) a[i * n + i] = 4.0 * n;
  DeviceArray<double> matrix(context.device, a), multipliers(context.device, n);
  simt::launch(context, broken::eliminate<mended>, 1, n, 0, matrix.data(), multipliers.data(), n);
  return matrix.values();
}

TEST_F(SimtBroken, DetectsMissingBarrierBetweenGlobalWritesAndReadsOfOneBlock) {
  const std::vector<double> right = eliminated<true>(context);
  EXPECT_EQ(right_of_20([&] { return eliminated<false>(context) == right; }), 0);
  EXPECT_EQ(right_of_20([&] { return eliminated<true>(context) == right; }), 20);
}

template <bool mended>
bool rotates(Context& context) {
  const std::vector<int> values = ascending(32);
  std::vector<int> expected(values.begin() + 1, values.end());
  expected.push_back(1);
  DeviceArray<int> zeros(context.device, 32), in(context.device, values), out(context.device, 32);
  simt::launch(context, broken::rotate_in_warp<mended>, 1, 32, 0, zeros.data(), out.data());
  simt::launch(context, broken::rotate_in_warp<mended>, 1, 32, 0, in.data(), out.data());
  return out.values() == expected;
}

TEST_F(SimtBroken, DetectsMissingSyncwarp) {
  EXPECT_EQ(right_of_20([&] { return rotates<false>(context); }), 0);
  EXPECT_EQ(right_of_20([&] { return rotates<true>(context); }), 20);
}

/// No expected answer is needed: each thread order must give the same bits, or the launch fails.
TEST_F(SimtBroken, ComparingOrdersDetectsMissingBarriers) {
  context.emulation.compares_orders = true;
  for (const std::uint64_t seed : {0, 3}) {
    context.emulation.shuffle_seed = seed;
    expect_all(error_of("orderDependence", [&] { sums<false>(context); }),
               {"block (0, 0, 0)", "threads run"});
    error_of("orderDependence", [&] { eliminated<false>(context); });
    error_of("orderDependence", [&] { rotates<false>(context); });
    EXPECT_TRUE(sums<true>(context));
    EXPECT_NO_THROW(eliminated<true>(context));
    EXPECT_TRUE(rotates<true>(context));
  }
}

/// Writes one element beyond the end, and the red zone's element farthest before the start.
TEST_F(SimtBroken, ReportsWritesOutsideAnAllocation) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer ends the process there";
#endif
  DeviceArray<double> small(*device, 31), out(*device, 1);
  EXPECT_NO_THROW(simt::launch(context, broken::write_global, 1, 31, 0, small.data(), 31));
  expect_all(error_of("outOfBounds",
                      [&] { simt::launch(context, broken::write_global, 1, 32, 0, small.data(), 32); }),
             {"byte 248 ", "248 bytes"});
  expect_all(error_of("outOfBounds",
                      [&] { simt::launch(context, broken::write_global, 1, 32, 0, small.data() - 32, 32); }),
             {"byte -256 "});
  // The next launch does not report the error again. A read beyond the end gives NaN.
  EXPECT_NO_THROW(simt::launch(context, broken::write_global, 1, 31, 0, small.data(), 31));
  simt::launch(context, broken::read_global, 1, 32, 0, small.data(), out.data(), 32);
  EXPECT_TRUE(std::isnan(out.values()[0]));
}

class SimtBrokenDeathTest : public SimtBroken {};

TEST_F(SimtBrokenDeathTest, GlobalMemoryOutOfBounds) {
  NEEDS_SANITIZER;
  DeviceArray<double> small(*device, 31), out(*device, 1);
  simt::launch(context, broken::write_global, 1, 32, 0, small.data(), 31);
  EXPECT_DEATH(simt::launch(context, broken::write_global, 1, 32, 0, small.data(), 32),
               "heap-buffer-overflow.*WRITE of size 8");
  EXPECT_DEATH(simt::launch(context, broken::read_global, 1, 32, 0, small.data(), out.data(), 32),
               "heap-buffer-overflow.*READ of size 8");
}

TEST_F(SimtBrokenDeathTest, DynamicSharedMemoryOutOfBounds) {
  NEEDS_SANITIZER;
  DeviceArray<double> out(*device, 1);
  simt::launch(context, broken::write_dynamic_shared, 1, 32, 31 * sizeof(double), out.data(), 31);
  EXPECT_DEATH(
      simt::launch(context, broken::write_dynamic_shared, 1, 32, 31 * sizeof(double), out.data(), 32),
      "heap-buffer-overflow.*WRITE of size 8");
}

TEST_F(SimtBrokenDeathTest, StaticSharedMemoryOutOfBounds) {
  NEEDS_SANITIZER;
  DeviceArray<double> out(*device, 1);
  simt::launch(context, broken::write_static_shared, 1, 33, 0, out.data(), 32);
  EXPECT_DEATH(simt::launch(context, broken::write_static_shared, 1, 33, 0, out.data(), 33), "out of bounds");
  simt::launch(context, broken::write_static_shared_by_pointer, 1, 33, 0, out.data(), 32);
  EXPECT_DEATH(simt::launch(context, broken::write_static_shared_by_pointer, 1, 33, 0, out.data(), 33),
               "global-buffer-overflow");
}

TEST_F(SimtBroken, ReportsDivergentBarriers) {
  DeviceArray<int> out(*device, 64);
  for (const std::uint64_t seed : shuffle_seeds) {
    context.emulation.shuffle_seed = seed;
    // The message names the block, the threads and both source lines.
    expect_all(error_of("divergentBarrier",
                        [&] { simt::launch(context, broken::either_barrier, dim3(2, 1), 4, 0, out.data()); }),
               {"block (0, 0, 0)", "2 threads, (0, 0, 0) (1, 0, 0): at __syncthreads",
                "2 threads, (2, 0, 0) (3, 0, 0): at __syncthreads", "broken_kernels.cuh:13",
                "broken_kernels.cuh:16"});
    expect_all(error_of("divergentBarrier",
                        [&] { simt::launch(context, broken::early_return, 1, 64, 0, out.data(), 33); }),
               {"33 threads, (0, 0, 0)", "broken_kernels.cuh:26", "31 threads, (33, 0, 0)", "returned"});
    EXPECT_NO_THROW(simt::launch(context, broken::early_return, 1, 64, 0, out.data(), 64));
    expect_all(error_of("divergentBarrier",
                        [&] { simt::launch(context, broken::uneven_rounds, 1, 64, 0, out.data(), 2); }),
               {"1 thread, (3, 0, 0): at __syncthreads", "63 threads"});
  }
}

TEST_F(SimtBroken, ReportsDivergentWarps) {
  DeviceArray<int> out(*device, 32);
  for (const std::uint64_t seed : shuffle_seeds) {
    context.emulation.shuffle_seed = seed;
    expect_all(error_of("divergentWarp",
                        [&] { simt::launch(context, broken::uneven_shuffle, 1, 32, 0, out.data()); }),
               {"1 thread, (5, 0, 0): at a shuffle", "31 threads"});
    expect_all(error_of("invalidMask",
                        [&] { simt::launch(context, broken::outside_of_mask, 1, 32, 0, out.data()); }),
               {"broken_kernels.cuh:"});
  }
}

TEST_F(SimtBroken, ReportsEndlessSpins) {
  DeviceArray<int> flags(*device, 8);
  const auto fresh = [&] { device->fill(flags.data(), 0, 8 * sizeof(int)); };
  for (const std::uint64_t seed : {0, 1}) {
    context.emulation.shuffle_seed = seed;
    fresh();
    expect_all(
        error_of("deadlock",
                 [&] { simt::launch(context, broken::wait_for_higher_block, 3, 64, 0, flags.data()); }),
        {"block (0, 0, 0)", "1 thread, (0, 0, 0): spinning", "broken_kernels.cuh:165", "63 threads",
         "at __syncthreads", "lower index"});
    fresh();
    EXPECT_NO_THROW(simt::launch(context, broken::wait_for_higher_block, 1, 64, 0, flags.data()));
    fresh();
    error_of("deadlock", [&] { simt::launch(context, broken::wait_without_pause, 2, 32, 0, flags.data()); });
    fresh();
    EXPECT_NO_THROW(simt::launch(context, broken::take_lock_twice, 1, 1, 0, flags.data()));
    error_of("deadlock", [&] { simt::launch(context, broken::take_lock_twice, 1, 1, 0, flags.data()); });
    fresh();
    expect_all(error_of("deadlock",
                        [&] { simt::launch(context, broken::spin_before_barrier, 1, 33, 0, flags.data()); }),
               {"1 thread, (0, 0, 0): spinning", "32 threads"});
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
