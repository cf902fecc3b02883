#include "driver/batch_job.hpp"

#include <cstdlib>
#include <initializer_list>

#include <nlohmann/json.hpp>

#include "driver/process.hpp"

namespace gaussweep::driver {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string gres_of_job() {
  std::string gres = environment("SLURM_JOB_GRES");
  if (!gres.empty()) return gres;
  // What --gpus-per-node and its kin asked for, "2" or "h200:2"; last what there is on this node.
  for (const char* name :
       {"SLURM_GPUS_PER_NODE", "SLURM_GPUS", "SLURM_GPUS_PER_TASK", "SLURM_GPUS_ON_NODE"}) {
    const std::string gpus = environment(name);
    if (!gpus.empty()) return "gpu:" + gpus;
  }
  return {};
}

}  // namespace

BatchJob batch_job() {
  BatchJob job;
  job.id = environment("SLURM_JOB_ID");
  const std::string array = environment("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) job.id = array + "_" + environment("SLURM_ARRAY_TASK_ID");
  job.partition = environment("SLURM_JOB_PARTITION");
  job.gres = gres_of_job();
  job.node = environment("SLURMD_NODENAME");
  if (job.node.empty()) job.node = host_name();
  return job;
}

nlohmann::json to_json(const BatchJob& job) {
  return {{"id", job.id}, {"partition", job.partition}, {"gres", job.gres}, {"node", job.node}};
}

BatchJob batch_job_from_json(const nlohmann::json& json) {
  return {json.at("id"), json.at("partition"), json.at("gres"), json.at("node")};
}

void stamp(io::Record& record, const BatchJob& job) {
  record.job_id = job.id;
  record.partition = job.partition;
  record.gres = job.gres;
  record.node = job.node;
}

}  // namespace gaussweep::driver
