// Runs coordinator and supervisors in one process and tests failures of ranks, workers, devices, storage and
// time limits.
#include "tests/driver/sweep/sweep_in_process.hpp"

#include <fmt/format.h>

#include "driver/system/clock.hpp"
#include "io/files/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(SweepInProcess, RecordsHaveExpectationAndTimes) {
  SweepInProcess sweep(1, 3);
  sweep.expect = {"crashed", "pass"};
  sweep.trial_timeout = 30;
  sweep.script.dies = [&](int, const Trial& trial) { return sweep.is_trial(1, trial); };
  sweep.script.answers = [&](int, const Trial& trial) {
    return sweep.is_trial(2, trial) ? endless_answer() : good_answer(trial);
  };
  const double before = parse_time(time_stamp());
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.record_of(0)->expected, 1);
  EXPECT_EQ(sweep.record_of(1)->expected, 1) << "crashed, as the plan expects";
  EXPECT_EQ(sweep.record_of(2)->expected, 0) << "timeout";
  for (const std::size_t lost : {1, 2}) {  // the supervisor made these two records
    const io::Record record = *sweep.record_of(lost);
    EXPECT_GE(parse_time(record.start_time), before);
    EXPECT_GE(parse_time(record.end_time), parse_time(record.start_time)) << record.end_time;
  }
}

TEST(SweepInProcess, EveryRoundHasItsWorker) {
  SweepInProcess sweep(1, 6);
  sweep.rounds = 3;
  int starts = 0;
  std::vector<std::pair<std::int64_t, int>> done;  // round, start
  sweep.script.sends_hello = [&](int, int start) {
    starts = start;
    return true;
  };
  sweep.script.answers = [&](int, const Trial& trial) {
    done.emplace_back(trial.round, starts);
    return good_answer(trial);
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 6U);
  using Round = std::pair<std::int64_t, int>;
  EXPECT_EQ(done, (std::vector<Round>{{1, 1}, {1, 1}, {2, 2}, {2, 2}, {3, 3}, {3, 3}}));
}

TEST(SweepInProcess, ADeadRanksTrialIsLeftForResume) {
  SweepInProcess sweep(2, 5);
  sweep.limits.grace = 20;
  sweep.script.answers = [&](int rank, const Trial& trial) {
    if (rank == 0) return good_answer(trial);
    sweep.frozen_ranks.insert(1);  // dies while it holds a trial
    return WorkerMessages{};
  };
  double signalled = 0;
  ASSERT_TRUE(sweep.run(500, [&] {
    if (sweep.records() < 4 || signalled > 0) return;
    sweep.signals = 1;  // nothing else ends a sweep that waits for the dead rank
    signalled = sweep.now();
  }));
  EXPECT_EQ(sweep.records(), 4U) << "the others' trials are done, its own is left for --resume";
  EXPECT_TRUE(sweep.lost_peer());
  EXPECT_GT(sweep.now() - signalled, 20 + 15) << "the grace, and the time to answer";
  EXPECT_LT(sweep.now() - signalled, 20 + 15 + 15 + 5);
}

/// Rank 1 freezes while it runs its first trial.
class AFrozenRank : public testing::Test {
 protected:
  AFrozenRank() {
    sweep.trial_timeout = 40;
    sweep.script.answers = [this](int rank, const Trial& trial) {
      if (rank == 0 || frozen > 0) return good_answer(trial);
      frozen = sweep.now();
      sweep.frozen_ranks.insert(1);
      return good_answer(trial);
    };
  }
  SweepInProcess sweep{2, 8};
  double frozen = 0;
};

TEST_F(AFrozenRank, LosesItsTrialsToTheOthers) {
  ASSERT_TRUE(sweep.run());
  EXPECT_GT(frozen, 0);
  EXPECT_EQ(sweep.records(), 8U);
  EXPECT_TRUE(sweep.lost_peer());
  EXPECT_EQ(sweep.coordinator().stopped_because(), "");
  EXPECT_GT(sweep.now() - frozen, 40) << "a rank may work for the timeout of its trial";
  EXPECT_LT(sweep.now() - frozen, 40 + 60);
}

TEST_F(AFrozenRank, RecordsNoTrialTwiceAfterItWakesUp) {
  bool woken = false;
  ASSERT_TRUE(sweep.run(2000, [&] {
    if (woken || !sweep.lost_peer()) return;
    woken = true;
    sweep.frozen_ranks.clear();
  }));
  EXPECT_TRUE(woken);
  EXPECT_EQ(sweep.records(), 8U);
}

TEST_F(AFrozenRank, IsNotLostWhileAllProcessesAreSuspended) {
  bool was_suspended = false;
  ASSERT_TRUE(sweep.run(2000, [&] {
    if (frozen == 0 || was_suspended) return;
    was_suspended = true;
    sweep.advance_clock(1000);
    sweep.frozen_ranks.clear();
  }));
  EXPECT_TRUE(was_suspended);
  EXPECT_EQ(sweep.records(), 8U);
  EXPECT_FALSE(sweep.lost_peer());
}

TEST_F(AFrozenRank, IsLostEvenIfEveryStepOfTheCoordinatorIsSlow) {
  ASSERT_TRUE(sweep.run(20000, [&] { sweep.advance_clock(3); }));
  EXPECT_GT(frozen, 0);
  EXPECT_TRUE(sweep.lost_peer());
  EXPECT_EQ(sweep.records(), 8U);
}

TEST(SweepInProcess, LosesAFrozenRankWithoutTrials) {
  SweepInProcess sweep(2, 2);
  sweep.trial_timeout = 600;
  sweep.script.answers = [&](int rank, const Trial& trial) {
    if (rank == 1) return good_answer(trial);
    // longer than the time after which a silent rank is lost
    WorkerMessages messages(600, message_json(FromWorker{message::StepBegun{"loop"}}));
    for (nlohmann::json& word : good_answer(trial)) messages.push_back(std::move(word));
    return messages;
  };
  double frozen = 0;
  ASSERT_TRUE(sweep.run(2000, [&] {
    if (frozen > 0 || sweep.records() < 1) return;
    frozen = sweep.now();
    sweep.frozen_ranks.insert(1);
  }));
  EXPECT_GT(frozen, 0);
  EXPECT_TRUE(sweep.lost_peer());
  EXPECT_EQ(sweep.records(), 2U);
}

TEST(SweepInProcess, KeepsARankWhoseTrialEndsTwoWorkers) {
  SweepInProcess sweep(2, 4);
  sweep.trial_timeout = 60;
  sweep.script.answers = [&](int, const Trial& trial) {
    return sweep.is_trial(1, trial) ? endless_answer() : good_answer(trial);
  };
  const double start = sweep.now();
  ASSERT_TRUE(sweep.run());
  EXPECT_GT(sweep.now() - start, 2 * 60) << "the rank was silent about its trial for this long";
  EXPECT_EQ(sweep.record_of(1)->status, "timeout");
  EXPECT_FALSE(sweep.lost_peer());
}

TEST(SweepInProcess, AWorkerThatNeverSendsHelloLosesItsRank) {
  SweepInProcess sweep(2, 6);
  sweep.script.sends_hello = [](int rank, int) { return rank == 0; };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 6U) << "by the other rank";
  EXPECT_FALSE(sweep.coordinator().lost_its_ranks());
}

TEST(SweepInProcess, EndsWhenTheLastRankIsLost) {
  SweepInProcess sweep(2, 6);
  sweep.script.sends_hello = [](int, int) { return false; };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 0U);
  EXPECT_TRUE(sweep.coordinator().lost_its_ranks());
  EXPECT_EQ(sweep.coordinator().stopped_because(), "every rank has retired");
}

TEST(SweepInProcess, RecordOfTheSecondAttemptNamesTheFirstFailure) {
  SweepInProcess sweep(1, 1);
  int ends = 0;
  sweep.script.dies = [&](int, const Trial&) { return ends++ == 0; };
  ASSERT_TRUE(sweep.run());
  const io::Record record = sweep.record_of(0).value();
  EXPECT_EQ(record.status, "pass");
  EXPECT_THAT(record.message, HasSubstr("second try; the first ended its worker: signal 11"));
}

/// Answers that no correct worker sends.
class AWrongAnswer : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(AWrongAnswer, CountsAsCrashed) {
  SweepInProcess sweep(1, 3);
  const std::string answer = GetParam().first;
  sweep.script.answers = [&](int, const Trial& trial) -> WorkerMessages {
    if (!sweep.is_trial(1, trial)) return good_answer(trial);
    if (answer == "another's record") return good_answer(sweep.trials()[0]);
    if (answer == "no type") return {nlohmann::json::array({1, 2})};
    if (answer == "unknown") return {{{"type", "hullo"}}};
    return {{{"type", "done"}, {"record", 7}, {"end", "none"}}};
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 3U);
  const io::Record record = sweep.record_of(1).value();
  EXPECT_EQ(record.status, "crashed");
  EXPECT_THAT(record.message, HasSubstr(GetParam().second));
  sweep.expect_all_passed(1);
}

INSTANTIATE_TEST_SUITE_P(Answers, AWrongAnswer,
                         Values(std::pair("another's record", "the record of another trial came"),
                                std::pair("no type", "an object with a \"type\""),
                                std::pair("unknown",
                                          "a message 'hullo' is unknown here; there are at, hello, done"),
                                std::pair("malformed", "the message 'done' is malformed")));

TEST(SweepInProcess, ASecondRecordOfATrialIsNotTakenForTheNextTrial) {
  SweepInProcess sweep(1, 3);
  bool answered_twice = false;
  sweep.script.answers = [&](int, const Trial& trial) {
    WorkerMessages messages = good_answer(trial);
    if (!answered_twice) messages.push_back(messages.back());
    answered_twice = true;
    return messages;
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 3U);
  sweep.expect_all_passed();
}

TEST(SweepInProcess, AStorageFailureEndsTheSweep) {
  SweepInProcess sweep(2, 8);
  sweep.script.answers = [&](int, const Trial& trial) -> WorkerMessages {
    if (sweep.is_trial(5, trial)) return {message_json(FromWorker{message::StorageFailed{"no space left"}})};
    return good_answer(trial);
  };
  EXPECT_EQ(message_of<io::StorageError>([&] { sweep.run(); }), "no space left");
  EXPECT_GT(sweep.records(), 0U) << "earlier records are on disk";
}

/// Returns the answer of a worker that still has a matrix to store.
WorkerMessages storing_answer(const Trial& trial) {
  WorkerMessages messages = good_answer(trial);
  messages.back()["writing"] = {"0123"};
  return messages;
}

TEST(SweepInProcess, WorkersStoreTheRestBeforeTheyEnd) {
  SweepInProcess sweep(2, 6);
  sweep.script.answers = [](int rank, const Trial& trial) {
    return rank == 0 ? storing_answer(trial) : good_answer(trial);
  };
  // Storing takes longer than the time after which a silent rank is lost.
  sweep.script.closes = [](int) {
    std::vector<FromWorker> messages(600, message::StepBegun{"store"});
    messages.emplace_back(message::Closed{});
    return messages;
  };
  const double start = sweep.now();
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.closed(), std::set<int>{0}) << "the other has nothing to store";
  EXPECT_GT(sweep.now() - start, 30);
  EXPECT_FALSE(sweep.lost_peer());
  EXPECT_EQ(sweep.records(), 6U);
}

TEST(SweepInProcess, EndsAWorkerThatHangsWhileStoring) {
  SweepInProcess sweep(1, 2);
  sweep.script.answers = [](int, const Trial& trial) { return storing_answer(trial); };
  sweep.script.closes = [](int) { return std::vector<FromWorker>{}; };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 2U) << "no record depends on the store";
}

TEST(SweepInProcess, AWorkerStoresTheRestBeforeTheNextRoundStarts) {
  SweepInProcess sweep(1, 6);
  sweep.rounds = 3;
  std::vector<std::string> events;
  sweep.script.sends_hello = [&](int, int start) {
    events.push_back(fmt::format("start {}", start));
    return true;
  };
  sweep.script.answers = [&](int, const Trial& trial) {
    events.push_back(fmt::format("round {}", trial.round));
    return storing_answer(trial);
  };
  sweep.script.closes = [&](int) {
    events.emplace_back("close");
    // These messages take longer than the timeout of the next trial.
    std::vector<FromWorker> messages(2000, message::StepBegun{"store"});
    messages.emplace_back(message::Closed{});
    return messages;
  };
  sweep.trial_timeout = 10;
  const double start = sweep.now();
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(events, (std::vector<std::string>{"start 1", "round 1", "round 1", "close", "start 2", "round 2",
                                              "round 2", "close", "start 3", "round 3", "round 3", "close"}));
  EXPECT_GT(sweep.now() - start, 300) << "the sweep waits for the store";
  sweep.expect_all_passed();
  EXPECT_FALSE(sweep.lost_peer());
}

/// Ways in which a worker fails to store its remaining matrices between two rounds.
class AWorkerThatCannotStore : public testing::TestWithParam<const char*> {};

TEST_P(AWorkerThatCannotStore, CostsNoTrialOfTheNextRound) {
  SweepInProcess sweep(1, 4);
  sweep.rounds = 2;
  const std::string what = GetParam();
  int starts = 0;
  sweep.script.sends_hello = [&](int, int start) { return (starts = start) > 0; };
  sweep.script.answers = [&](int, const Trial& trial) {
    return trial.round == 1 ? storing_answer(trial) : good_answer(trial);
  };
  sweep.script.closes = [&](int) -> std::vector<FromWorker> {
    if (what == "says that its device is unfit") return {message::WorkerFailed{"fell off the bus", false}};
    if (what == "speaks of a trial") return {message::Done{}};
    return {};
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(starts, 2);
  sweep.expect_all_passed();
}

INSTANTIATE_TEST_SUITE_P(Failures, AWorkerThatCannotStore,
                         Values("hangs", "says that its device is unfit", "speaks of a trial"));

TEST(SweepInProcess, AStoppedSweepDoesNotWaitForTheStoreBetweenRounds) {
  SweepInProcess sweep(1, 2);
  sweep.rounds = 2;
  sweep.script.answers = [](int, const Trial& trial) { return storing_answer(trial); };
  bool closing = false;
  sweep.script.closes = [&](int) {
    closing = true;
    return std::vector<FromWorker>(10, message::StepBegun{"store"});
  };
  double stopped = 0;
  ASSERT_TRUE(sweep.run(20000, [&] {
    if (!closing || stopped > 0) return;
    sweep.signals = 2;  // both signals at the same time
    stopped = sweep.now();
  }));
  EXPECT_GT(stopped, 0);
  EXPECT_LT(sweep.now() - stopped, 5);
  EXPECT_EQ(sweep.records(), 1U) << "the other trial is left for --resume";
}

TEST(SweepInProcess, AStoreFailureIsAnErrorBetweenRoundsAndAtTheEnd) {
  for (const std::int64_t rounds : {1, 2}) {
    SweepInProcess sweep(2, 4);
    sweep.rounds = rounds;
    sweep.script.answers = [](int, const Trial& trial) { return storing_answer(trial); };
    sweep.script.closes = [rounds](int rank) {
      if (rounds == 1 && rank == 0) return std::vector<FromWorker>{message::Closed{}};
      return std::vector<FromWorker>{message::StorageFailed{"no space left"}};
    };
    EXPECT_THROW(sweep.run(), io::StorageError);
    EXPECT_EQ(sweep.records(), rounds == 1 ? 4U : 2U);
  }
}

TEST(SweepInProcess, AStoppedSweepDoesNotWaitForTheStore) {
  SweepInProcess sweep(1, 100);
  sweep.limits = {10, 5};
  sweep.script.answers = [](int, const Trial& trial) { return storing_answer(trial); };
  const double start = sweep.now();
  ASSERT_TRUE(sweep.run());
  EXPECT_THAT(sweep.coordinator().stopped_because(), HasSubstr("time limit"));
  EXPECT_TRUE(sweep.closed().empty());
  EXPECT_LT(sweep.now() - start, 10 + 5 + 2);
}

TEST(SweepInProcess, EndsAtTheTimeLimit) {
  SweepInProcess sweep(1, 100);
  sweep.limits = {10, 5};
  int given = 0;
  sweep.script.answers = [&](int, const Trial& trial) -> WorkerMessages {
    if (++given == 4) return {};  // takes longer than the remaining time
    return good_answer(trial);
  };
  const double start = sweep.now();
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.coordinator().stopped_because(), "the time limit is reached");
  EXPECT_EQ(given, 4);
  EXPECT_EQ(sweep.records(), 3U) << "the fourth is abandoned, not failed";
  EXPECT_GT(sweep.now() - start, 10 + 5);
  EXPECT_LT(sweep.now() - start, 10 + 5 + 2);
  EXPECT_FALSE(sweep.lost_peer());
}

TEST(SweepInProcess, LearnsTheDevicesSpeedBeforeTheTimeLimitExcludesTrials) {
  SweepInProcess sweep(1, 3);
  sweep.backend = Backend::cuda;
  sweep.n = 4096;  // estimated 40 s on an unknown device
  sweep.limits = {30, 5};
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 3U);
  EXPECT_EQ(sweep.coordinator().stopped_because(), "");
}

TEST(SweepInProcess, DoesNotBeginTrialsBeyondTheTimeLimit) {
  SweepInProcess sweep(2, 3);
  sweep.backend = Backend::cuda;
  sweep.n = 65536;
  sweep.limits = {30, 5};
  const double start = sweep.now();
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 0U);
  EXPECT_EQ(sweep.coordinator().stopped_because(), "no trial that is left fits into the time limit");
  EXPECT_LT(sweep.now() - start, 5);
}

TEST(SweepInProcess, GivesARetiredRankNothing) {
  SweepInProcess sweep(2, 20);
  sweep.script.unfit = [](int rank, int start) -> std::optional<message::WorkerFailed> {
    if (rank == 1) return message::WorkerFailed{"the probe came out wrong", false};
    if (start < 7)
      return message::WorkerFailed{"all memory is taken",
                                   true};  // for longer than the other rank takes to retire
    return std::nullopt;
  };
  const auto ask = [&] { sweep.send_to_coordinator(1, message_json(ToCoordinator{message::Ready{""}})); };
  ASSERT_TRUE(sweep.run(2000, ask)) << "its trials are lost";
  EXPECT_EQ(sweep.records(), 20U);
}

TEST(SweepInProcess, AnAbandonedTrialTakesNoRoomInTheStore) {
  SweepInProcess sweep(3, 20);
  sweep.stored = {0, 1, 2, 3, 19};
  sweep.store_limit = 1.5 * (12 << 10);  // one file; the matrices here have no elements
  // The trial that rank 0 gets first makes the devices of ranks 0 and 1 unfit. Rank 2 starts after that.
  std::string breaking_key;
  std::set<int> broken;
  sweep.script.dies = [&](int rank, const Trial& trial) {
    if (rank == 0 && breaking_key.empty()) breaking_key = trial.key;
    return trial.key == breaking_key && (broken.insert(rank), true);
  };
  sweep.script.unfit = [&](int rank, int start) -> std::optional<message::WorkerFailed> {
    if (broken.count(rank) > 0) return message::WorkerFailed{"fell off the bus", false};
    if (start < 7 * rank - 3 * (rank - 1)) return message::WorkerFailed{"all memory is taken", true};
    return std::nullopt;
  };
  std::size_t received = 0, stored_received = 0;  // trials that rank 2 gets after the others are lost
  sweep.on_batch = [&](int rank, const nlohmann::json& trials) {
    if (rank != 2 || broken.size() < 2) return;
    for (const nlohmann::json& trial : trials) {
      ++received;
      stored_received += trial.at("matrix").at("store").get<bool>() ? 1 : 0;
    }
  };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(breaking_key, sweep.trials()[19].key);
  EXPECT_EQ(broken, (std::set<int>{0, 1}));
  EXPECT_EQ(sweep.records(), 19U);
  EXPECT_GT(received, 1U);
  EXPECT_GT(stored_received, 0U);
}

TEST(SweepInProcess, ATrialThatBreaksDevicesIsNotGivenToAllOfThem) {
  SweepInProcess sweep(3, 4);
  std::set<int> broken;
  sweep.script.dies = [&](int rank, const Trial& trial) {
    return sweep.is_trial(0, trial) && (broken.insert(rank), true);
  };
  sweep.script.unfit = [&](int rank, int) { return unfit_if(broken.count(rank) > 0); };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(broken.size(), 2U);
  EXPECT_EQ(sweep.records(), 3U);
  EXPECT_FALSE(sweep.record_of(0));
  EXPECT_TRUE(sweep.coordinator().lost_its_ranks());
}

TEST(SweepInProcess, WaitsForADeviceThatOthersUse) {
  SweepInProcess sweep(1, 2);
  const double free_at = sweep.now() + 40;
  sweep.script.unfit = [&](int, int) { return unfit_if(sweep.now() < free_at, "all memory is taken", true); };
  ASSERT_TRUE(sweep.run());
  EXPECT_EQ(sweep.records(), 2U);
  EXPECT_GE(sweep.now(), free_at);
}

TEST(SweepInProcess, AfterSigtermTheLauncherLimitsTheGrace) {
  for (const auto& [sigkill_delay, grace] : {std::pair{1.0, 0.4}, {9.0, 6.0}, {60.0, 20.0}}) {
    SweepInProcess sweep(1, 2);
    sweep.sigkill_delay = sigkill_delay;  // mpirun's
    sweep.limits.grace = 20;
    sweep.script.answers = [](int, const Trial&) { return WorkerMessages{}; };
    double signalled = 0;
    ASSERT_TRUE(sweep.run(500, [&] {
      if (signalled > 0 || sweep.now() < 1005) return;
      signalled = sweep.now();
      sweep.signal = SIGTERM;
      sweep.signals = 1;
    }));
    EXPECT_GE(sweep.now() - signalled, grace) << sigkill_delay;
    EXPECT_LT(sweep.now() - signalled, std::min(grace + 1, sigkill_delay)) << sigkill_delay;
  }
}

TEST(SweepInProcess, NamesAnUnreadableMessage) {
  SweepInProcess sweep(2, 2);
  sweep.script.answers = [](int, const Trial&) { return WorkerMessages{}; };
  const std::string error = message_of<BadMessage>([&] {
    sweep.run(100, [&] {
      if (sweep.now() > 1002) sweep.send_to_coordinator(1, {{"type", "redy"}});
    });
  });
  EXPECT_THAT(error, HasSubstr("a message 'redy' is unknown here; there are ready, record"));
}

}  // namespace
}  // namespace gaussweep::driver
