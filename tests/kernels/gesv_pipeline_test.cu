// Tests that the pipelined back substitutions cannot hang: they finish on any grid, or report a timeout.

#include "kernels/gesv/gauss_substitution.cuh"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// A unit upper triangle of halves, augmented by b = A (1, 1, …), and the kernel's buffers.
struct Triangle {
  explicit Triangle(int order)
      : n(order), ld(order + 1), a(static_cast<std::size_t>(n * ld)), x(n, std::nan("")), solved(n) {
    for (int i = 0; i < n; ++i) {
      a[static_cast<std::size_t>(i * ld + i)] = 1;
      for (int j = i + 1; j < n; ++j) a[static_cast<std::size_t>(i * ld + j)] = 0.5;
      a[static_cast<std::size_t>(i * ld + n)] = 1 + 0.5 * (n - 1 - i);
    }
  }
  void run(int blocks, int threads, std::int64_t max_polls, std::uint64_t shuffle_seed = 0) {
    CpuContext context;
    context.emulation.shuffle_seed = shuffle_seed;
    simt::launch(context, substitute_in_pipeline<double>, dim3(static_cast<unsigned>(blocks)),
                 dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(threads) * sizeof(double),
                 a.data(), ld, n, 1, x.data(), solved.data(), &tickets, &info, max_polls);
  }

  /// Runs the paper's kernel, in which a lock guards each unknown until it is solved.
  void run_behind_locks(int blocks, int threads, std::uint64_t shuffle_seed = 0, std::int64_t max_polls = 1) {
    CpuContext context;
    context.emulation.shuffle_seed = shuffle_seed;
    locks.resize(static_cast<std::size_t>(n * lock_spacing));
    simt::launch(context, substitute_behind_locks<double>, dim3(static_cast<unsigned>(blocks)),
                 dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(threads) * sizeof(double),
                 a.data(), ld, n, 1, x.data(), locks.data(), &info, max_polls);
  }

  int n;
  std::int64_t ld;
  std::vector<double> a, x;
  std::vector<int> solved, locks;
  int tickets = 0;
  int info = 0;
};

TEST(GesvPipeline, FinishesOnAnyGrid) {
  for (const int n : {1, 2, 33, 65}) {
    for (const int blocks : {1, 2, 14, 64, 65, 66, 1000}) {
      for (const int threads : {1, 5, 32, 70}) {
        Triangle triangle(n);
        triangle.run(blocks, threads, 1, static_cast<std::uint64_t>(blocks + threads));
        EXPECT_EQ(triangle.info, 0);
        EXPECT_EQ(triangle.x, std::vector<double>(static_cast<std::size_t>(n), 1.0)) << n << " " << blocks;
        EXPECT_EQ(triangle.tickets, blocks);
      }
    }
  }
}

TEST(GesvPipeline, FinishesBehindLocksOnAnyGrid) {
  for (const int n : {1, 2, 33, 65}) {
    for (const int blocks : {1, 2, 14, 64, 65, 66, 200}) {
      for (const int threads : {1, 5, 32, 70}) {
        Triangle triangle(n);
        triangle.run_behind_locks(blocks, threads, static_cast<std::uint64_t>(blocks + threads));
        EXPECT_EQ(triangle.info, 0);
        EXPECT_EQ(triangle.x, std::vector<double>(static_cast<std::size_t>(n), 1.0)) << n << " " << blocks;
        for (int j = 0; j < n; ++j) {
          EXPECT_EQ(triangle.locks[static_cast<std::size_t>(j * lock_spacing)], 1) << j;
        }
      }
    }
  }
}

// If one thread that waits for a lock times out, all threads must stop, including those whose unknowns are
// solved.
TEST(GesvPipeline, TimesOutBehindALockThatNeverOpens) {
  for (const std::uint64_t shuffle_seed : {0, 1, 2, 3}) {
    CpuContext context;
    context.emulation.shuffle_seed = shuffle_seed;
    std::vector<int> lock(1);
    int info = 0;
    EXPECT_FALSE(wait_for_lock(lock.data(), &info, polls_between_checks));
    EXPECT_EQ(info, -1);
    EXPECT_FALSE(wait_for_lock(lock.data(), &info, std::int64_t{1} << 40));  // another thread timed out
    EXPECT_EQ(lock, std::vector<int>{0});
  }
}

TEST(GesvPipeline, StopsAtLocksAfterAnEarlierFailure) {
  Triangle triangle(20);
  triangle.info = 7;
  triangle.run_behind_locks(4, 8);
  EXPECT_EQ(triangle.info, 7);
  for (const double value : triangle.x) EXPECT_TRUE(std::isnan(value));
}

// This test and the next two shuffle the threads, because a thread that ignored the timeout of another one
// would continue only in some orders.
TEST(GesvPipeline, TimesOutIfAnUnknownIsNeverSolved) {
  for (const std::uint64_t shuffle_seed : {0, 1, 2, 3}) {
    Triangle triangle(20);
    triangle.tickets = 1;  // no block takes the first piece, rows 14 to 19
    triangle.run(3, 8, 1, shuffle_seed);
    EXPECT_EQ(triangle.info, -1);
    for (const double value : triangle.x) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(GesvPipeline, TimesOutHalfWay) {
  for (const std::uint64_t shuffle_seed : {0, 1, 2, 3}) {
    Triangle triangle(20);
    triangle.tickets = 1;
    // the first unknowns that four threads wait for; 14 and 15 never arrive
    for (const std::size_t j : {16, 17, 18, 19}) {
      triangle.x[j] = 1;
      triangle.solved[j] = 1;
    }
    triangle.run(3, 4, 1, shuffle_seed);
    EXPECT_EQ(triangle.info, -1);
    for (std::size_t j = 0; j < 16; ++j) EXPECT_TRUE(std::isnan(triangle.x[j]));
  }
}

TEST(GesvPipeline, StopsAfterAnEarlierFailure) {
  for (const int info : {-1, 7}) {
    for (const std::uint64_t shuffle_seed : {0, 1, 2, 3}) {
      Triangle triangle(20);
      triangle.info = info;
      triangle.run(4, 8, 1000, shuffle_seed);
      EXPECT_EQ(triangle.info, info);
      for (const double value : triangle.x) EXPECT_TRUE(std::isnan(value));
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
