// Tests loops over row ranges on several threads: coverage, thread count, exceptions and nesting.
#include "kernels/core/parallel_rows.hpp"

#include <sched.h>

#include "tests/testing.hpp"

namespace gaussweep {
namespace {

TEST(RowRanges, CoverEveryRowOnce) {
  for (const std::int64_t rows : {1, 2, 31, 100}) {
    for (const int threads : {0, 1, 3, 64}) {
      std::vector<int> seen(rows, 0);
      for_row_ranges(rows, threads, 1e9, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[i];
      });
      EXPECT_THAT(seen, testing::Each(1)) << rows << " rows, " << threads << " threads";
    }
  }
}

TEST(RowRanges, AreAtMostTheUsableCpus) {
  const auto ranges = [] {
    std::atomic<std::int64_t> count{0};
    for_row_ranges(1000, 0, 1e9, [&](std::int64_t, std::int64_t) { ++count; });
    return count.load();
  };
  EXPECT_EQ(ranges(), std::min<std::int64_t>(usable_cpus(), 1000));
  std::int64_t of_one = 0;
  std::thread([&] {  // its child threads inherit the CPU affinity
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    of_one = ranges();
  })
      .join();
  EXPECT_EQ(of_one, 1);
}

TEST(RowRanges, RethrowExceptions) {
  const auto throw_in_last = [](std::int64_t, std::int64_t end) {
    if (end == 10) throw std::runtime_error("the last range");
  };
  EXPECT_THROW(for_row_ranges(10, 4, 0, throw_in_last), std::runtime_error);
}

TEST(RowRanges, NestedRangesAreNotSplit) {
  constexpr double worth_many = 1e12;
  const auto count_within = [&](int threads) {
    std::atomic<int> ranges{0};
    for_row_ranges(4, threads, 0, [&](std::int64_t, std::int64_t) {
      for_row_ranges(100, 0, worth_many, [&](std::int64_t, std::int64_t) { ++ranges; });
    });
    return ranges.load();
  };
  EXPECT_EQ(count_within(4), 4);
  const int alone = std::min(usable_cpus(), 100);
  EXPECT_EQ(count_within(1), alone) << "a single range may be split again";
  EXPECT_EQ(count_within(1), alone) << "nesting ends with the outer range";
}

}  // namespace
}  // namespace gaussweep
