#pragma once
/// Where records come from: what every record of a rank says of its origin.

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "driver/system/batch_job.hpp"

namespace gaussweep::driver {

struct Origin {
  std::string host, run_id, commit;
  BatchJob job;
  std::int64_t rank = 0;
  std::int64_t device_index = -1;  ///< of the GPU on its host; -1: none
};

/// This process's host, job and program, as `rank` of the run `run_id`.
Origin this_origin(const std::string& run_id, int rank = 0);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Origin, host, run_id, commit, job, rank, device_index)

}  // namespace gaussweep::driver
