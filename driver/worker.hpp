#pragma once
/// The worker process: owns one GPU (by CUDA_VISIBLE_DEVICES) or CPU cores, runs the trials that its
/// supervisor sends over descriptor 3, one at a time, and dies with it. No MPI here.
///
/// Messages, each an object with "type":
///   to the worker:   setup {backend, site…}, then trial {trial}
///   from the worker: hello {device row}, at {step}, record {record, fatal}, storage_failed {message}, unfit
///   {message}
/// `fatal`: the worker's process can do no more work and ends.

#include <nlohmann/json.hpp>

#include "io/record.hpp"
#include "io/results.hpp"
#include "kernels/core/method.hpp"

namespace gaussweep::driver {

/// Serves until the supervisor closes the channel. Returns the process's exit code.
int serve_trials(int descriptor, const Registry& registry);

nlohmann::json to_json(const io::DeviceRow& row);
io::DeviceRow device_row_from_json(const nlohmann::json& json);
nlohmann::json to_json(const io::HostRow& row);
io::HostRow host_row_from_json(const nlohmann::json& json);

}  // namespace gaussweep::driver
