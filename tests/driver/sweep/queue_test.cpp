// Tests the order in which trials are assigned to ranks.

#include "driver/sweep/queue.hpp"
#include "kernels/registry/method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

std::vector<Trial> trials_with(const std::vector<std::string>& digests) {
  std::vector<Trial> trials;
  for (const std::string& digest : digests) {
    Trial trial;
    trial.problem = Problem::named("gesv");
    trial.matrix.digest = digest;
    trials.push_back(trial);
  }
  return trials;
}

struct QueuedTrials {
  std::vector<Trial> trials;
  std::vector<double> costs;
};

/// A queue with its own trials and costs.
struct Example : QueuedTrials, Queue {
  Example(std::vector<Trial> all, std::vector<double> seconds, int ranks = 2,
          QueueOrder order = QueueOrder::longest_first)
      : QueuedTrials{std::move(all), std::move(seconds)}, Queue(trials, costs, registry(), ranks, order) {}
  static const Registry& registry() {
    static const Registry all = builtin_registry();
    return all;
  }
};

TEST(Queue, GivesOutTheLongestFirst) {
  Example queue(trials_with({"a", "b", "c"}), {1, 3, 2});
  EXPECT_EQ(queue.next("", HUGE_VAL), 1U);
  EXPECT_EQ(queue.next("", HUGE_VAL), 2U);
  EXPECT_EQ(queue.next("", HUGE_VAL), 0U);
  EXPECT_EQ(queue.next("", HUGE_VAL), std::nullopt);
}

TEST(Queue, GivesOutTheShortestFirstOnRequest) {
  std::vector<Trial> trials = trials_with({"a", "b", "a", "b"});
  trials[1].method = "lapack";  // a reference, which otherwise precedes the trials that are compared with it
  for (Trial& trial : trials) trial.backend = Backend::host;
  Example queue(trials, {1, 3, 0.01, 2}, 1, QueueOrder::shortest_first);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 2U);
  EXPECT_EQ(queue.next("b", 0.5), std::nullopt);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 0U);
  EXPECT_EQ(queue.next("a", HUGE_VAL), 3U);
  EXPECT_EQ(queue.next("", HUGE_VAL), 1U);
}

TEST(Queue, PrefersTheMatrixThatTheRankHolds) {
  Example queue(trials_with({"a", "b", "b"}), {4, 1, 2});
  EXPECT_EQ(queue.next("b", HUGE_VAL), 2U) << "4 is not more than four times 2: the held matrix wins";
  EXPECT_EQ(queue.next("b", HUGE_VAL), 1U);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 0U) << "nothing with b is left";
}

TEST(Queue, AvoidsTheMatrixOfAnotherRank) {
  Example queue(trials_with({"a", "a", "b", "a", "c"}), {9, 8, 4, 3, 1});
  ASSERT_EQ(queue.next("", HUGE_VAL), 0U);
  EXPECT_EQ(queue.next("", HUGE_VAL), 2U) << "8 is not more than four times 4, and another rank has a";
  EXPECT_EQ(queue.next("b", HUGE_VAL), 1U) << "8 is more than four times 1: c waits";
  queue.done(0);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 4U) << "trial 1 still runs on a";
  queue.done(1);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 3U);
}

TEST(Queue, ReleasesAReturnedMatrix) {
  Example queue(trials_with({"a", "a", "b"}), {9, 8, 7});
  ASSERT_EQ(queue.next("", HUGE_VAL), 0U);
  queue.put_back(0);
  EXPECT_EQ(queue.next("", HUGE_VAL), 0U);
  EXPECT_EQ(queue.next("", HUGE_VAL), 2U);
}

TEST(Queue, TakesTheLongestThatFitsOfAFreeMatrix) {
  Example queue(trials_with({"a", "a", "b", "b"}), {6, 5, 9, 4});
  ASSERT_EQ(queue.next("", 8), 0U);
  EXPECT_EQ(queue.next("", 8), 3U) << "the longest with b does not fit";
}

TEST(Queue, DoesNotStarveAMuchLongerTrial) {
  Example queue(trials_with({"a", "b"}), {9, 2});
  EXPECT_EQ(queue.next("b", HUGE_VAL), 0U);
}

TEST(Queue, KeepsItsMatrixAsLongAsTheLongestCanWait) {
  Example queue(trials_with({"a", "b", "b", "c", "c", "c", "c", "c", "c", "c", "c"}),
                {9, 8, 1, 8, 8, 8, 8, 8, 8, 8, 8});
  EXPECT_EQ(queue.next("b", HUGE_VAL), 1U) << "all 82 seconds are more than 4 times 9 on 2 ranks";
  EXPECT_EQ(queue.next("b", HUGE_VAL), 2U) << "9 is more than four times 1, but can wait";
  EXPECT_EQ(queue.next("b", HUGE_VAL), 0U);
}

TEST(Queue, BeginsTheLongestInTimeForTheEnd) {
  Example queue(trials_with({"a", "b", "b", "c"}), {9, 20, 1, 45});
  ASSERT_EQ(queue.next("", 45), 3U);
  queue.done(3);
  ASSERT_EQ(queue.next("b", 45), 1U);
  EXPECT_EQ(queue.next("b", 45), 0U) << "one trial takes 9 of the last 10 seconds";
  EXPECT_EQ(queue.next("b", 45), 2U);
}

TEST(Queue, BeginsNothingEarlyForOneRank) {
  Example queue(trials_with({"a", "b"}), {9, 1}, 1);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 1U) << "no rank would wait for the longer one";
}

TEST(Queue, GoesRoundByRound) {
  std::vector<Trial> trials = trials_with({"a", "b", "b"});
  trials[0].round = trials[1].round = 2;
  Example queue(trials, {9, 8, 1});
  EXPECT_EQ(queue.next("a", HUGE_VAL), 2U);
  EXPECT_EQ(queue.next("b", HUGE_VAL), 1U);
  queue.put_back(2);
  EXPECT_EQ(queue.next("a", 0.5), std::nullopt);
  EXPECT_EQ(queue.total(), 10);
  EXPECT_EQ(queue.next("a", HUGE_VAL), 2U);
  EXPECT_EQ(queue.next("a", HUGE_VAL), 0U);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(Queue, RespectsTheRemainingTime) {
  Example queue(trials_with({"a", "a", "a"}), {10, 5, 1});
  EXPECT_EQ(queue.next("a", 6), 1U);
  EXPECT_EQ(queue.next("", 5), 2U);
  EXPECT_EQ(queue.next("", 6), std::nullopt);
  EXPECT_EQ(queue.size(), 1U);
}

TEST(Queue, NewCostsReorderTheRest) {
  Example queue(trials_with({"a", "a", "b"}), {10, 5, 100});
  EXPECT_EQ(queue.next("", 6), 1U);
  EXPECT_EQ(queue.next("", 6), std::nullopt);
  queue.reorder([&] { queue.costs = {1, 7, 2}; });
  EXPECT_EQ(queue.total(), 3);
  EXPECT_EQ(queue.next("", 6), 2U);
  EXPECT_EQ(queue.next("", 6), 0U);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(Queue, TakesBackUnfinishedTrials) {
  Example queue(trials_with({"a", "b"}), {2, 1});
  ASSERT_EQ(queue.next("", HUGE_VAL), 0U);
  queue.put_back(0);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.next("", HUGE_VAL), 0U);
}

TEST(Queue, VendorPrecedesTheTrialsComparedWithIt) {
  std::vector<Trial> trials = trials_with({"a", "a", "a", "b"});
  for (Trial& trial : trials) trial.method = "gauss_serial";
  trials[1].method = trials[3].method = "lapack";
  Example queue(trials, {9, 1, 5, 2});
  EXPECT_EQ(queue.next("", HUGE_VAL), 1U) << "the reference of the longest";
  EXPECT_EQ(queue.next("a", HUGE_VAL), 0U);
  queue.put_back(1);
  EXPECT_EQ(queue.next("a", 0.5), std::nullopt);
  EXPECT_EQ(queue.next("a", HUGE_VAL), 1U);
  EXPECT_EQ(queue.next("a", HUGE_VAL), 2U) << "the vendor's trial on b is no reference for a";
  EXPECT_EQ(queue.next("b", HUGE_VAL), 3U);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(Queue, TrialsComparedWithTheLastOnePrecedeOthersOfTheirMatrix) {
  std::vector<Trial> trials = trials_with({"a", "a", "a", "a", "b"});
  for (Trial& trial : trials) trial.method = "gauss_serial";
  trials[0].method = trials[1].method = "lapack";
  trials[1].problem = trials[2].problem = Problem::named("getrf");
  Example queue(trials, {9, 8, 7, 0.2, 20});
  ASSERT_EQ(queue.next("a", 10), 0U);
  EXPECT_EQ(queue.next("a", 10, 0), 3U) << "the vendor has just run for it";
  queue.put_back(3);
  queue.reorder([&] { queue.costs[3] = 0.1; });
  EXPECT_EQ(queue.next("a", 10, 0), 1U) << "8 is more than 64 times 0.1";
  EXPECT_EQ(queue.next("a", 10, 1), 2U);
  queue.put_back(2);
  EXPECT_EQ(queue.next("", HUGE_VAL, 1), 4U) << "the worker that had the matrix is gone";
}

TEST(Queue, ReferenceHasTheSameOperandsAndCaches) {
  const auto change_each = {+[](Trial& t) { t.precision = Precision::float32; },
                            +[](Trial& t) { t.shape.uplo = Uplo::upper; },
                            +[](Trial& t) { t.shape.nrhs = 7; },
                            +[](Trial& t) { t.sampling.cold = true; },
                            +[](Trial& t) { t.problem = Problem::named("getrf"); },
                            +[](Trial& t) { t.round = 2; }};
  for (const auto change : change_each) {
    std::vector<Trial> trials = trials_with({"a", "a"});
    trials[0].method = "gauss_serial";
    trials[1].method = "lapack";
    change(trials[1]);
    Example queue(trials, {9, 1});
    EXPECT_EQ(queue.next("", HUGE_VAL), 0U);
    EXPECT_EQ(queue.next("a", HUGE_VAL), 1U);
  }
}

TEST(Queue, SkipsAReferenceWithoutTimeLeft) {
  std::vector<Trial> trials = trials_with({"a", "a"});
  trials[0].method = "gauss_serial";
  trials[1].method = "lapack";
  Example queue(trials, {2, 3});
  EXPECT_EQ(queue.next("", 2.5), 0U);
}

/// Returns trials of which those with indices in `on_cpu` run on the CPU and the others on a GPU.
std::vector<Trial> trials_on_both(const std::vector<std::string>& digests,
                                  const std::set<std::size_t>& on_cpu) {
  std::vector<Trial> trials = trials_with(digests);
  for (std::size_t i = 0; i < trials.size(); ++i)
    trials[i].backend = on_cpu.count(i) > 0 ? Backend::host : Backend::cuda;
  return trials;
}

TEST(Queue, PrefersGpuTrialsWhileTheCpuIsTaken) {
  Example queue(trials_on_both({"a", "a", "b", "b"}, {0, 2}), {9, 4, 8, 3});
  EXPECT_EQ(queue.next("b", HUGE_VAL, {}, HostCpu::taken), 3U);
  EXPECT_EQ(queue.next("b", HUGE_VAL, {}, HostCpu::taken), 1U) << "another matrix is better than a taken CPU";
  EXPECT_EQ(queue.next("b", HUGE_VAL, {}, HostCpu::taken), 2U) << "nothing else is left";
  EXPECT_EQ(queue.next("b", HUGE_VAL, {}, HostCpu::taken), 0U);
}

TEST(Queue, SharesATakenCpuIfNothingElseFits) {
  Example queue(trials_on_both({"a", "b"}, {0}), {1, 9});
  EXPECT_EQ(queue.next("", 2, {}, HostCpu::taken), 0U);
}

TEST(Queue, UsesAFreeCpuForTheHeldMatrix) {
  Example queue(trials_on_both({"a", "a", "b"}, {1}), {9, 3, 10});
  EXPECT_EQ(queue.next("a", HUGE_VAL, {}, HostCpu::free), 1U) << "the CPU may be taken later";
  EXPECT_EQ(queue.next("a", HUGE_VAL, {}, HostCpu::free), 0U);
}

TEST(Queue, BeginsCpuTrialsEarlyWhileTheCpuIsFree) {
  Example queue(trials_on_both({"a", "b", "c", "c"}, {1}), {9, 6, 4, 3});
  EXPECT_EQ(queue.next("c", HUGE_VAL, {}, HostCpu::free), 2U) << "c is not finished";
  EXPECT_EQ(queue.next("", 5, {}, HostCpu::free), 3U) << "a trial that does not fit is ignored";
  queue.put_back(3);
  EXPECT_EQ(queue.next("", HUGE_VAL, {}, HostCpu::unshared), 0U) << "there is no other rank";
  EXPECT_EQ(queue.next("", HUGE_VAL, {}, HostCpu::free), 1U);
}

TEST(Queue, ShortCpuTrialsDoNotOccupyTheCpu) {
  Example queue(trials_on_both({"a", "b"}, {0}), {0.03, 0.02});
  EXPECT_FALSE(queue.takes_cpu(0));
  EXPECT_EQ(queue.next("", HUGE_VAL, {}, HostCpu::taken), 0U);
}

TEST(Queue, VendorComesFirstWhetherShortOrLong) {
  std::vector<Trial> trials = trials_on_both({"a", "a", "b"}, {0, 1});
  trials[0].method = "gauss_serial";
  trials[1].method = "lapack";
  Example queue(trials, {1, 0.01, 0.5});
  EXPECT_EQ(queue.next("", HUGE_VAL, {}, HostCpu::free), 1U);
}

/// Two ranks of one host work through the queue. While other trials are left, the CPU runs one trial at a
/// time, however long the trials are.
TEST(Queue, TwoRanksUseTheCpuOneAtATime) {
  std::vector<Trial> trials;
  std::vector<double> costs;
  for (int matrix = 0; matrix < 40; ++matrix) {
    for (int i = 0; i < 5; ++i) {
      trials.push_back(
          trials_on_both({std::to_string(matrix)}, i < 2 ? std::set<std::size_t>{0} : std::set<std::size_t>{})
              .front());
      costs.push_back(0.1 + 0.01 * ((matrix * 7 + i * 13) % 31));
    }
  }
  Queue queue(trials, costs, Example::registry(), 2);
  std::optional<std::size_t> busy[2];
  std::string held[2];
  double remaining_seconds[2] = {0, 0}, both_on_cpu = 0, otherwise = 0;
  const auto on_cpu = [&](int rank) { return busy[rank] && queue.takes_cpu(*busy[rank]); };
  while (true) {
    for (const int rank : {0, 1}) {
      if (busy[rank]) continue;
      busy[rank] = queue.next(held[rank], HUGE_VAL, {}, on_cpu(1 - rank) ? HostCpu::taken : HostCpu::free);
      if (!busy[rank]) continue;
      remaining_seconds[rank] = costs[*busy[rank]];
      held[rank] = trials[*busy[rank]].matrix.digest;
    }
    if (!busy[0] || !busy[1]) break;
    const double step = std::min(remaining_seconds[0], remaining_seconds[1]);
    (on_cpu(0) && on_cpu(1) ? both_on_cpu : otherwise) += step;
    for (const int rank : {0, 1}) {
      remaining_seconds[rank] -= step;
      if (remaining_seconds[rank] > 0) continue;
      queue.done(*busy[rank]);
      busy[rank].reset();
    }
  }
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_LT(both_on_cpu, 0.01 * otherwise) << "of " << both_on_cpu + otherwise << " s";
}

}  // namespace
}  // namespace gaussweep::driver
