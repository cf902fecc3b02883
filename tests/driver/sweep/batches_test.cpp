// Short trials are assigned in batches. These tests end a worker, a rank or the sweep in one trial of a batch
// and check the others.
#include "tests/driver/sweep/sweep_in_process.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t trial_count = 400;
// The position, within the first batch, of the trial that fails; it is neither the first nor the last.
constexpr std::size_t position = 7;
constexpr std::size_t middle = trial_count - 1 - position;  // the queue takes the last of equal trials first

TEST(Batches, ShrinkToSingleTrialsAtTheEnd) {
  SweepInProcess sweep(4, trial_count);
  std::map<std::string, int> runs;
  sweep.script.answers = [&](int, const Trial& trial) {
    ++runs[trial.key];
    return good_answer(trial);
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), trial_count);
  for (const auto& [key, count] : runs) EXPECT_EQ(count, 1) << key;
  EXPECT_EQ(sweep.coordinator().stopped_because(), "");
  EXPECT_FALSE(sweep.lost_peer());
  const std::vector<std::size_t>& batches = sweep.batches();
  EXPECT_GT(batches.front(), 2 * position);
  EXPECT_LT(batches.size(), trial_count / 4);
  EXPECT_EQ(batches.back(), 1U) << "so that all ranks end together";
}

TEST(Batches, LeaveTheNextLongTrialToOtherRanks) {
  SweepInProcess sweep(2, 8);
  sweep.backend = Backend::cuda;
  sweep.n = 8192;  // each trial takes many seconds
  std::map<int, int> done;
  sweep.script.answers = [&](int rank, const Trial& trial) -> WorkerMessages {
    ++done[rank];
    if (rank == 0) return {};  // rank 0 never finishes its first trial
    return good_answer(trial);
  };
  sweep.run(100, [&] { sweep.signals = sweep.records() == 7 ? 2 : 0; });
  EXPECT_EQ(done[0], 1);
  EXPECT_EQ(sweep.records(), 7U);
}

TEST(Batches, PrefetchTheNextTrialForABusyRank) {
  SweepInProcess sweep(2, 12);
  sweep.n = 1000;  // so long that each trial is a batch
  std::size_t most = 0;
  ASSERT_TRUE(sweep.run(2000, [&] { most = std::max(most, sweep.batches().size() - sweep.records()); }));
  EXPECT_EQ(sweep.batches(), std::vector<std::size_t>(12, 1));
  EXPECT_EQ(most, 4U) << "two ranks, each with its current and its next trial";
}

/// Runs 48 trials, 12 of them on the CPU, and counts how many CPU trials began while another rank ran one.
int overlapping_cpu_trials(SweepInProcess& sweep) {
  sweep.n = 2000;
  sweep.backends = {Backend::host, Backend::cuda, Backend::cuda, Backend::cuda};
  std::map<int, bool> on_cpu;  // per rank: whether its current or last trial is on the CPU
  int begun = 0, overlapping = 0;
  sweep.script.answers = [&](int rank, const Trial& trial) {
    on_cpu[rank] = trial.backend == Backend::host;
    if (on_cpu[rank]) ++begun, overlapping += on_cpu[1 - rank] ? 1 : 0;
    WorkerMessages messages(50, message_json(FromWorker{message::StepBegun{"loop"}}));
    messages.push_back(good_answer(trial).back());
    return messages;
  };
  EXPECT_TRUE(sweep.run());
  EXPECT_EQ(begun, 12);
  return overlapping;
}

TEST(Batches, RanksOfAHostUseItsCpuOneAtATime) {
  SweepInProcess of_one_host(2, 48), of_two(2, 48);
  of_two.hosts = {"a", "b"};
  EXPECT_EQ(overlapping_cpu_trials(of_one_host), 0);
  EXPECT_GT(overlapping_cpu_trials(of_two), 0);
}

TEST(Batches, LastTrialsGoToTheFreeRank) {
  SweepInProcess sweep(2, 3);
  sweep.n = 1000;
  sweep.trial_timeout = 100;
  sweep.script.answers = [&](int, const Trial& trial) {
    return sweep.is_trial(0, trial) ? endless_answer() : good_answer(trial);
  };
  const double start = sweep.now();
  double others_done = 0;
  ASSERT_TRUE(sweep.run(2000, [&] {
    if (sweep.records() == 2 && others_done == 0) others_done = sweep.now();
  }));
  EXPECT_LT(others_done - start, 50) << "the third waited behind the first";
}

TEST(Batches, OnlyTheTrialThatKillsWorkersFails) {
  SweepInProcess sweep(1, trial_count);
  int ends = 0;
  sweep.script.dies = [&](int, const Trial& trial) { return sweep.is_trial(middle, trial) && ++ends > 0; };
  ASSERT_TRUE(sweep.run());
  EXPECT_GT(sweep.batches().front(), position + 1);
  EXPECT_EQ(ends, 2);
  const io::Record record = sweep.record_of(middle).value();
  EXPECT_EQ(record.status, "crashed");
  EXPECT_THAT(record.message, AllOf(HasSubstr("signal 11"), HasSubstr("tried 2 times")));
  sweep.expect_all_passed(middle);
}

TEST(Batches, OnlyTheTrialThatHangsFails) {
  SweepInProcess sweep(1, trial_count);
  sweep.trial_timeout = 30;
  sweep.script.answers = [&](int, const Trial& trial) -> WorkerMessages {
    return sweep.is_trial(middle, trial) ? endless_answer() : good_answer(trial);
  };
  ASSERT_TRUE(sweep.run());
  const io::Record record = sweep.record_of(middle).value();
  EXPECT_EQ(record.status, "timeout");
  EXPECT_EQ(record.message, "no end after 30 s (at loop); tried 2 times");
  sweep.expect_all_passed(middle);
}

TEST(Batches, ContinueWithAFreshWorkerAfterATrialThatEndsItsWorker) {
  SweepInProcess sweep(1, trial_count);
  int starts = 0;
  sweep.script.sends_hello = [&](int, int start) { return (starts = start) > 0; };
  sweep.script.answers = [&](int, const Trial& trial) {
    WorkerMessages messages = good_answer(trial);
    if (sweep.is_trial(middle, trial)) messages.back()["end"] = "spent";
    return messages;
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(starts, 2);
  sweep.expect_all_passed();
}

TEST(Batches, OfARetiredRankGoToOthers) {
  SweepInProcess sweep(2, trial_count);
  bool broken = false;
  sweep.script.dies = [&](int rank, const Trial& trial) {
    return rank == 1 && !sweep.is_trial(trial_count - 1, trial) && (broken = true);
  };
  sweep.script.unfit = [&](int rank, int) {
    return unfit_if(rank == 1 && broken, "the probe came out wrong");
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_TRUE(broken);
  sweep.expect_all_passed();
  EXPECT_FALSE(sweep.coordinator().lost_its_ranks());
}

TEST(Batches, AreLeftForResumeWhenTheSweepIsStoppedTwice) {
  SweepInProcess sweep(1, trial_count);
  bool hangs = false;
  sweep.script.answers = [&](int, const Trial& trial) -> WorkerMessages {
    hangs = hangs || sweep.is_trial(middle, trial);
    if (hangs) return {};
    return good_answer(trial);
  };
  ASSERT_TRUE(sweep.run(500, [&] { sweep.signals = hangs ? 2 : 0; }));
  EXPECT_LT(sweep.records(), trial_count / 2);
  EXPECT_FALSE(sweep.record_of(middle)) << "abandoned, not failed";
  for (std::size_t i = 0; i < trial_count; ++i) {
    const auto record = sweep.record_of(i);
    EXPECT_TRUE(!record || record->status == "pass") << i;
  }
}

TEST(Batches, FinishAMatrixWhoseNextTrialDoesNotFit) {
  SweepInProcess sweep(1, 90);
  sweep.orders = {900, 1100, 50};
  std::vector<std::string> matrices;  // in the order in which workers held them
  sweep.script.answers = [&](int, const Trial& trial) {
    if (matrices.empty() || matrices.back() != trial.matrix.digest) matrices.push_back(trial.matrix.digest);
    return good_answer(trial);
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(matrices.size(), 30U) << "each was held once";
}

TEST(Batches, EndWithTheirRound) {
  SweepInProcess sweep(2, trial_count);
  sweep.rounds = 2;
  std::map<int, std::int64_t> round;  // per rank: the round of its worker
  sweep.script.sends_hello = [&](int rank, int) {
    round[rank] = 0;
    return true;
  };
  sweep.script.answers = [&](int rank, const Trial& trial) {
    EXPECT_TRUE(round[rank] == 0 || round[rank] == trial.round) << "rank " << rank;
    round[rank] = trial.round;
    return good_answer(trial);
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_GT(*std::max_element(sweep.batches().begin(), sweep.batches().end()), position);
  sweep.expect_all_passed();
}

}  // namespace
}  // namespace gaussweep::driver
