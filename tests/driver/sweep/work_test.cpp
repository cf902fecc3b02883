// Tests the command that continues a run, and the names of its skipped trials.

#include "driver/sweep/work.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gaussweep::driver {
namespace {

TEST(ResumeCommand, KeepsTheOptionsOfTheRun) {
  ::unsetenv("GAUSSWEEP_SUBMITTED_BY");
  RunOptions options;
  options.plan = "a plan.yaml";
  options.output = "runs/a";
  EXPECT_EQ(resume_command(options, "", "--resume"), "gaussweep run 'a plan.yaml' -o runs/a --resume");
  options.backend = "host";
  options.libraries = {"./mine.so", "./other one.so"};
  options.gpus_per_rank = 2;
  options.store_limit = "1GiB";
  options.shard = {1, 3};
  options.time_limit_text = "1h30min";
  options.grace = 1;
  options.next_plan = [](const io::JournalContents&) { return std::nullopt; };
  EXPECT_EQ(resume_command(options, "mpirun -n 2 ", "--retry-failed"),
            "mpirun -n 2 gaussweep run 'a plan.yaml' -o runs/a --backend host --methods ./mine.so --methods "
            "'./other one.so' --gpus-per-rank 2 --store-limit 1GiB --time-limit 1h30min --grace 1 --refine "
            "--shard 1/3 --retry-failed");
}

TEST(SkippedInRun, NamesTrialsThatDidNotFitInMemory) {
  Work work;
  io::JournalContents journal;
  const auto add = [&](const char* method, const char* status, const char* message, const char* skip_reason) {
    Trial trial;
    trial.problem = Problem::named("gesv");
    trial.method = method;
    trial.key = std::to_string(work.all.size());
    trial.skip_reason = skip_reason;
    io::Record record;
    record.key = trial.key;
    record.status = status;
    record.message = message;
    work.all.push_back(trial);
    journal.records.push_back(record);
  };
  add("lapack", "pass", "", "");
  add("lapack", "skipped", "needs 53.6 GiB", "");
  add("lapack", "skipped", "needs 80.0 GiB", "");
  add("cusolver", "skipped", "needs a GPU", "needs a GPU");  // known before the run
  EXPECT_EQ(skipped_in_run(work, journal),
            std::vector<std::string>{"gesv/lapack: 2 trials skipped, needs 53.6 GiB"});
}

TEST(SkippedMethods, NamesAMethodThatOnlyOnePrecisionSkips) {
  std::vector<Trial> trials(4);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].problem = Problem::named("gemm");
    trials[i].method = "halves";
    trials[i].precision = i < 2 ? Precision::float32 : Precision::float64;
  }
  trials[1].skip_reason = "n is too large";
  EXPECT_TRUE(skipped_methods(trials).empty()) << "a float trial runs";
  trials[2].skip_reason = trials[3].skip_reason = "float only";
  EXPECT_EQ(skipped_methods(trials), std::vector<std::string>{"gemm/halves: 2 trials skipped, float only"});
}

TEST(ExitText, CallsNoSuspectOrUnexpectedlyRightAnswerFailed) {
  for (const char* status : {"suspect", "pass"}) {
    Work work;
    io::JournalContents journal;
    work.all.emplace_back().key = "a";
    if (status == std::string("pass")) work.all.back().expect = {"failed"};
    io::Record& record = journal.records.emplace_back();
    record.key = "a";
    record.status = status;
    const Outcome outcome = outcome_of(work, journal);
    EXPECT_EQ(outcome.wrong, 1U) << status;
    EXPECT_EQ(exit_code_of(outcome, /*lost_its_ranks=*/false), 1) << status;
    EXPECT_EQ(exit_text(1, outcome).find("failed"), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace gaussweep::driver
