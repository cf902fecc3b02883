/// Finds the origin of a rank's records: host, batch job, commit, run and GPU.

#include "driver/system/origin.hpp"

#include "driver/system/clock.hpp"
#include "driver/system/process.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

std::string gres_of_job() {
  std::string gres = environment_value("SLURM_JOB_GRES");
  if (!gres.empty()) return gres;
  // The GPUs requested by --gpus-per-node and similar options ("h200:2"), otherwise the GPUs on this node.
  for (const char* name :
       {"SLURM_GPUS_PER_NODE", "SLURM_GPUS", "SLURM_GPUS_PER_TASK", "SLURM_GPUS_ON_NODE"}) {
    const std::string gpus = environment_value(name);
    if (!gpus.empty()) return "gpu:" + gpus;
  }
  return {};
}

}  // namespace

std::string gpus_of_job() {
  if (environment_value("SLURM_JOB_ID").empty()) return {};
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_GPUS_ON_NODE"}) {
    const std::string gpus = environment_value(name);
    // SLURM_GPUS_ON_NODE is a count; the other variables are lists of indices.
    const bool is_none = std::string(name) == "SLURM_GPUS_ON_NODE" && gpus == "0";
    if (!gpus.empty() && !is_none) return std::string(name) + "=" + gpus;
  }
  return {};
}

BatchJob batch_job() {
  BatchJob job;
  job.id = environment_value("SLURM_JOB_ID");
  const std::string array = environment_value("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) job.id = array + "_" + environment_value("SLURM_ARRAY_TASK_ID");
  job.partition = environment_value("SLURM_JOB_PARTITION");
  job.gres = gres_of_job();
  job.node = environment_value("SLURMD_NODENAME");
  if (job.node.empty()) job.node = host_name();
  return job;
}

void set_job_columns(io::Record& record, const BatchJob& job) {
  record.job_id = job.id;
  record.partition = job.partition;
  record.gres = job.gres;
  record.node = job.node;
}

Origin this_origin(const std::string& run_id, int rank) {
  Origin origin;
  origin.host = host_name();
  origin.run_id = run_id;
  origin.commit = version_commit;
  origin.job = batch_job();
  origin.rank = rank;
  return origin;
}

}  // namespace gaussweep::driver
