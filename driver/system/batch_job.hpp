#pragma once
/// What the batch system says of the job that a process belongs to.

#include <string>

#include <nlohmann/json.hpp>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// All empty outside a batch job, except `node`.
struct BatchJob {
  std::string id;         ///< "4711", or "4711_3" for task 3 of the array 4711, as squeue writes them
  std::string partition;  ///< the queue
  /// The GPUs that the job asked for, "gpu:h200:2"; else how many its node gave it, "gpu:2".
  std::string gres;
  std::string node;  ///< the batch system's name of the machine; outside a job the host's name
};

/// Of this process, from Slurm's environment variables. SLURM_JOB_GRES is what jobs/slurm/job.sh exports:
/// Slurm itself tells a job its GPUs, but not always what was asked for.
BatchJob batch_job();

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchJob, id, partition, gres, node)

/// Sets the record's columns job_id, partition, gres and node.
void stamp(io::Record& record, const BatchJob& job);

}  // namespace gaussweep::driver
