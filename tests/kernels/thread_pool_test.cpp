// Tests the pool of helper threads of one process.
#include "kernels/core/thread_pool.hpp"

#include <future>

#include "kernels/core/parallel_rows.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  ThreadPool pool;
  for (const int helpers : {0, 1, 5, 20, 3}) {
    for (const std::int64_t count : {0, 1, 2, 300}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      pool.for_each(count, helpers, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
      for (const auto& visit : visits) EXPECT_EQ(visit, 1) << helpers << " helpers, " << count;
    }
  }
}

TEST(ThreadPool, UsesHelpersForLongWork) {
  ThreadPool pool;
  std::promise<void> helper_arrived;
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> has_arrived{false};
  pool.for_each(2, 1, [&](std::int64_t) {
    if (std::this_thread::get_id() != caller) {
      if (!has_arrived.exchange(true)) helper_arrived.set_value();
    } else {
      helper_arrived.get_future().wait();  // until a helper runs the other index
    }
  });
  EXPECT_TRUE(has_arrived);
}

TEST(ThreadPool, RethrowsAndContinues) {
  ThreadPool pool;
  const auto fail = [](std::int64_t i) {
    if (i == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(pool.for_each(20, 4, fail), std::runtime_error);
  std::atomic<int> visits{0};
  pool.for_each(20, 4, [&](std::int64_t) { ++visits; });
  EXPECT_EQ(visits, 20);
}

TEST(ThreadPool, UsesNoHelpersWithinARange) {
  ThreadPool pool;
  std::atomic<int> calls_by_helpers{0};
  for_row_ranges(2, 2, 0, [&](std::int64_t, std::int64_t) {
    const std::thread::id caller = std::this_thread::get_id();
    pool.for_each(50, 4,
                  [&](std::int64_t) { calls_by_helpers += std::this_thread::get_id() != caller ? 1 : 0; });
  });
  EXPECT_EQ(calls_by_helpers, 0);
}

TEST(ThreadPool, ServesCallersInTurn) {
  ThreadPool pool;
  std::atomic<int> visits{0};
  const auto both = [&] {
    for (int k = 0; k < 50; ++k) pool.for_each(10, 3, [&](std::int64_t) { ++visits; });
  };
  auto other = std::async(std::launch::async, both);
  both();
  other.get();
  EXPECT_EQ(visits, 1000);
}

/// Prevents new threads while it exists: the default stack is larger than any address space.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 62);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(ThreadPool, WorksWithoutThreadsAndRestoresTheSignalMask) {
  const auto blocked = [] {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, SIGTERM) == 1;
  };
  ASSERT_FALSE(blocked());
  ThreadPool pool;
  std::atomic<int> visits{0};
  const auto visit = [&](std::int64_t) { ++visits; };
  {
    const NoNewThreads none;
    EXPECT_NO_THROW(pool.for_each(20, 4, visit));
    EXPECT_FALSE(blocked());
  }
  pool.for_each(20, 4, visit);
  EXPECT_FALSE(blocked());
  EXPECT_EQ(visits, 40);
}

}  // namespace
}  // namespace gaussweep
