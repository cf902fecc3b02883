// The pipelined back substitution cannot hang: it finishes with any grid, or says that it gave up.

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/gesv/gauss_substitution.cuh"
#include "tests/kernels/method_run.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// A unit upper triangle of halves, augmented by b = A (1, 1, …), and what the kernel works on.
struct Triangle {
  explicit Triangle(int order)
      : n(order), ld(order + 1), a(static_cast<std::size_t>(n * ld)), x(n, std::nan("")), solved(n) {
    for (int i = 0; i < n; ++i) {
      a[static_cast<std::size_t>(i * ld + i)] = 1;
      for (int j = i + 1; j < n; ++j) a[static_cast<std::size_t>(i * ld + j)] = 0.5;
      a[static_cast<std::size_t>(i * ld + n)] = 1 + 0.5 * (n - 1 - i);
    }
  }
  void run(int blocks, int threads, std::int64_t patience, std::uint64_t shuffle_seed = 0) {
    const auto device = testing_help::cpu(Backend::emulated);
    Context context(*device);
    context.emulation.shuffle_seed = shuffle_seed;
    simt::launch(context, substitute_in_pipeline<double>, dim3(static_cast<unsigned>(blocks)),
                 dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(threads) * sizeof(double),
                 a.data(), ld, n, 1, x.data(), solved.data(), &tickets, &info, patience);
  }

  int n;
  std::int64_t ld;
  std::vector<double> a, x;
  std::vector<int> solved;
  int tickets = 0;
  int info = 0;
};

TEST(GesvPipeline, FinishesWithAnyGrid) {
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

// Shuffled, because a thread that did not wait for the others' verdict would go on by itself.

TEST(GesvPipeline, GivesUpWhereAnUnknownIsNeverSolved) {
  for (const std::uint64_t shuffle_seed : {0, 1, 2, 3}) {
    Triangle triangle(20);
    triangle.tickets = 1;  // nobody takes the first piece, rows 14 to 19
    triangle.run(3, 8, 1, shuffle_seed);
    EXPECT_EQ(triangle.info, -1);
    for (const double value : triangle.x) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(GesvPipeline, GivesUpHalfWay) {
  for (const std::uint64_t shuffle_seed : {0, 1, 2, 3}) {
    Triangle triangle(20);
    triangle.tickets = 1;
    for (const std::size_t j : {16, 17, 18, 19}) {  // what four threads look for first; 14 and 15 never come
      triangle.x[j] = 1;
      triangle.solved[j] = 1;
    }
    triangle.run(3, 4, 1, shuffle_seed);
    EXPECT_EQ(triangle.info, -1);
    for (std::size_t j = 0; j < 16; ++j) EXPECT_TRUE(std::isnan(triangle.x[j]));
  }
}

TEST(GesvPipeline, LeavesAfterAnEarlierFailure) {
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
