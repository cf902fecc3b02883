#pragma once
/// The origin of a rank's records: host, batch job, commit, run and GPU.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A batch job. All members except `node` are empty outside a batch job.
struct BatchJob {
  std::string id;         ///< "4711", or "4711_3" for task 3 of the array 4711, as squeue writes them
  std::string partition;  ///< the queue
  /// The requested GPUs in Slurm's notation (generic resources), "gpu:h200:2". If Slurm does not report them,
  /// the number of allocated GPUs, "gpu:2".
  std::string gres;
  std::string node;  ///< the batch system's name of the machine; outside a job the host name
};

/// Returns the job of this process, from Slurm's environment variables. jobs/slurm/job.sh exports
/// SLURM_JOB_GRES, because Slurm does not always report the requested GPUs.
BatchJob batch_job();

/// Returns the GPUs that Slurm allocated to the job or step of this process, "SLURM_JOB_GPUS=0,1"; an empty
/// text outside a job and for a job without GPUs.
std::string gpus_of_job();

/// Sets the record's columns job_id, partition, gres and node.
void set_job_columns(io::Record& record, const BatchJob& job);

/// The columns that all records of a rank share.
struct Origin {
  std::string host, run_id, commit;
  BatchJob job;
  std::int64_t rank = 0;
  std::int64_t device_index = -1;  ///< index of the GPU on its host; -1: no GPU
};

/// Returns the origin of this process as `rank` of the run `run_id`.
Origin this_origin(const std::string& run_id, int rank = 0);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchJob, id, partition, gres, node)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Origin, host, run_id, commit, job, rank, device_index)

}  // namespace gaussweep::driver
