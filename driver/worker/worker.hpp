#pragma once
/// The worker process, a child of its rank's supervisor. It owns the rank's GPUs (by CUDA_VISIBLE_DEVICES) or
/// CPU cores, and does not use MPI. It runs the trials (one method on one matrix each) that the supervisor
/// sends over file descriptor 3, one at a time. It ends if the supervisor ends. The messages are in
/// protocol/messages.hpp. File descriptor 4 is shared memory, to which the worker writes the current step of
/// a trial (system/step_note.hpp).

#include "driver/worker/probe.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Runs trials until the supervisor closes the channel. Returns the process's exit code.
/// @param descriptor file descriptor of the channel to the supervisor
/// @param step_descriptor file descriptor of the shared memory for the current step
int serve_trials(int descriptor, int step_descriptor, const Registry& registry,
                 const DeviceMaker& make_device);

}  // namespace gaussweep::driver
