#pragma once
/// The worker process: owns one GPU (by CUDA_VISIBLE_DEVICES) or CPU cores, runs the trials that its
/// supervisor sends over descriptor 3, one at a time, and dies with it. No MPI here.
///
/// Messages, each an object with "type":
///   to the worker:   setup {backend, matrices, origin, device}, then trial {trial}
///   from the worker: hello {device row}, at {step}, record {record, end}, storage_failed {message}, unfit
///   {message, busy}
/// `device`: the row that an earlier worker said, whose peaks need not be measured again, or null.
/// `busy`: the device is there, but others use it, or it is not ready yet: a later start may succeed.
/// `end`: "" (it waits for the next trial), "fatal" (this process can do no more, and a fresh one may fare
/// better with the trial), "spent" (the trial is done, but memory may be lost in this process, which ends).

#include <nlohmann/json.hpp>

#include "driver/worker/probe.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"
#include "kernels/core/method.hpp"

namespace gaussweep::driver {

/// Serves until the supervisor closes the channel. Returns the process's exit code.
int serve_trials(int descriptor, const Registry& registry, const DeviceMaker& make_device);

}  // namespace gaussweep::driver
