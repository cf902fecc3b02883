// Tests that unsolicited messages from a worker block neither its supervisor nor its rank.
#include "driver/sweep/supervisor.hpp"
#include "tests/driver/sweep/sweep_in_process.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// A sweep of three trials. The worker of the second one reports a step whenever its supervisor listens.
class TalkativeTrial {
 public:
  explicit TalkativeTrial(double timeout) {
    sweep_.trial_timeout = timeout;
    sweep_.script.answers = [this](int, const Trial& trial) {
      talks_ = sweep_.is_trial(1, trial);
      return talks_ ? WorkerMessages{message_json(FromWorker{message::StepBegun{"loop"}})}
                    : good_answer(trial);
    };
    sweep_.script.unsolicited = [this](int) {
      return talks_ ? std::optional<FromWorker>(message::StepBegun{"loop"}) : std::nullopt;
    };
  }
  /// Returns the record of the second trial.
  io::Record run(const std::function<void()>& each_step = {}) {
    EXPECT_TRUE(sweep_.run(20000, each_step));
    for (const std::size_t other : {0, 2}) EXPECT_EQ(sweep_.record_of(other)->status, "pass");
    return sweep_.record_of(1).value();
  }
  double now() const { return sweep_.now(); }

 private:
  SweepInProcess sweep_{1, 3};
  bool talks_ = false;
};

TEST(Supervisor, ChecksTheClockWhileAWorkerTalks) {
  TalkativeTrial sweep(30);
  double longest_step = 0, last = sweep.now();
  const io::Record record = sweep.run([&] {
    longest_step = std::max(longest_step, sweep.now() - last);
    last = sweep.now();
  });
  EXPECT_EQ(record.status, "timeout");
  EXPECT_LT(longest_step, 5) << "seconds without a check of signals and other ranks";
}

TEST(Supervisor, EndsAWorkerThatReportsStepsForever) {
  const io::Record record = TalkativeTrial(1e6).run();
  EXPECT_EQ(record.status, "crashed");
  EXPECT_THAT(record.message, HasSubstr("10000 steps"));
}

TEST(Supervisor, EndsAStartThatReportsStepsButNeverFinishes) {
  SweepInProcess sweep(1, 3);
  sweep.script.sends_hello = [](int, int) { return false; };
  double last = 0;
  sweep.script.unsolicited = [&](int) -> std::optional<FromWorker> {
    if (sweep.now() < last + 100) return std::nullopt;
    last = sweep.now();
    return message::StepBegun{"device"};
  };
  ASSERT_TRUE(sweep.run(20000));
  EXPECT_TRUE(sweep.coordinator().lost_its_ranks());
}

}  // namespace
}  // namespace gaussweep::driver
