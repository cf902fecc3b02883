// Tests what a record states about its batch job.

#include "driver/system/origin.hpp"

#include <nlohmann/json.hpp>

#include "driver/system/clock.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the batch job that a process with exactly these Slurm variables sees.
BatchJob job_with(const std::map<std::string, std::string>& variables) {
  for (const char* name : {"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_PARTITION",
                           "SLURM_JOB_GRES", "SLURM_GPUS_PER_NODE", "SLURM_GPUS", "SLURM_GPUS_PER_TASK",
                           "SLURM_GPUS_ON_NODE", "SLURMD_NODENAME"}) {
    ::unsetenv(name);
  }
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return batch_job();
}

TEST(BatchJob, OutsideAJobOnlyTheNodeIsKnown) {
  const BatchJob job = job_with({});
  EXPECT_EQ(job.id + job.partition + job.gres, "");
  EXPECT_EQ(job.node, host_name());
}

TEST(BatchJob, AnArrayTaskHasTheIdOfSqueue) {
  EXPECT_EQ(job_with({{"SLURM_JOB_ID", "12"}}).id, "12");
  EXPECT_EQ(job_with({{"SLURM_JOB_ID", "15"}, {"SLURM_ARRAY_JOB_ID", "12"}, {"SLURM_ARRAY_TASK_ID", "3"}}).id,
            "12_3");
}

TEST(BatchJob, RequestedGpusPrecedeThoseOfTheNode) {
  EXPECT_EQ(job_with({{"SLURM_JOB_GRES", "gpu:h200:2"}, {"SLURM_GPUS_ON_NODE", "2"}}).gres, "gpu:h200:2");
  EXPECT_EQ(job_with({{"SLURM_GPUS_PER_NODE", "h200:4"}, {"SLURM_GPUS_ON_NODE", "4"}}).gres, "gpu:h200:4");
  EXPECT_EQ(job_with({{"SLURM_GPUS_ON_NODE", "2"}}).gres, "gpu:2");
}

TEST(BatchJob, SurvivesMessageAndRecord) {
  const BatchJob sent = job_with({{"SLURM_JOB_ID", "12"},
                                  {"SLURM_JOB_PARTITION", "night"},
                                  {"SLURM_JOB_GRES", "gpu:2"},
                                  {"SLURMD_NODENAME", "n7"}});
  io::Record record;
  set_job_columns(record, nlohmann::json(sent).get<BatchJob>());
  EXPECT_EQ(std::tuple(record.job_id, record.partition, record.gres), std::tuple("12", "night", "gpu:2"));
  EXPECT_EQ(record.node, "n7");
}

}  // namespace
}  // namespace gaussweep::driver
