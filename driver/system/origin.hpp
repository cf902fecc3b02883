#pragma once
/// The origin of a rank's records: host, job, commit, run and GPU.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "driver/system/batch_job.hpp"

namespace gaussweep::driver {

/// The columns that all records of a rank share.
struct Origin {
  std::string host, run_id, commit;
  BatchJob job;
  std::int64_t rank = 0;
  std::int64_t device_index = -1;  ///< index of the GPU on its host; -1: no GPU
};

/// Returns the origin of this process as `rank` of the run `run_id`.
Origin this_origin(const std::string& run_id, int rank = 0);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Origin, host, run_id, commit, job, rank, device_index)

}  // namespace gaussweep::driver
