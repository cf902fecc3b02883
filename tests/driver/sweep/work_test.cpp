// Tests the command that continues a run.

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
  options.next_plan = [](const io::JournalContents&) { return std::nullopt; };
  EXPECT_EQ(resume_command(options, "mpirun -n 2 ", "--retry-failed"),
            "mpirun -n 2 gaussweep run 'a plan.yaml' -o runs/a --backend host --methods ./mine.so --methods "
            "'./other one.so' --gpus-per-rank 2 --store-limit 1GiB --time-limit 1h30min --refine --shard 1/3 "
            "--retry-failed");
}

}  // namespace
}  // namespace gaussweep::driver
