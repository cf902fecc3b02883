#pragma once
/// Methods that misbehave, one way each: for tests of what the pipeline does then. They exist only in the
/// executable `gaussweep_faulty`, never in `gaussweep`.

#include <vector>

#include "driver/worker/probe.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::faults {

/// gesv rows on the backend host: `fault_none` (a good answer after `milliseconds`), `fault_abort`,
/// `fault_segfault`, `fault_exit`, `fault_hang`, `fault_throw`, `fault_leak`, `fault_nan`, `fault_lie`. Also
/// `fault_once` (dies the first time, works the second), `fault_device_killer` (see `make_failing_device`).
std::vector<Method> host_methods();

/// gesv rows on the backends emulated and cuda: `fault_endless_kernel`, `fault_illegal_address` (cuda only),
/// `fault_device_memory`, `fault_barrier` (emulated only), `fault_good_kernel`.
std::vector<Method> device_methods();

/// Rows on the backends emulated and cuda that are right by other means than by computing, or only where
/// somebody looks. There is one each way that the judge must see through.
std::vector<Method> cheats();

/// `gemm/fault_changed`: takes longer, launches more or waits more where GAUSSWEEP_FAULT_CHANGE says so
/// (changed.cu).
Method changed_method();

/// Makes workers' devices, which fail after a while: for tests of what becomes of their rank.
/// GAUSSWEEP_FAULT_DEVICE="RANK FETCHES HOW FILE": the device of rank RANK fails after FETCHES copies to the
/// host (the probe's are 4, a trial's 3). With HOW "dies" every call is an error that ends the process, with
/// "refuses" one that does not. With "lies" results change on their way to the host, without an error. With
/// "full" no memory can be had. FILE is made when it happens. While it exists, later workers of the rank find
/// the device as it is. HOW "aborts" or "hangs" is what they do when they make it. Without the variable: no
/// faults.
std::unique_ptr<Device> make_failing_device(Backend backend);

}  // namespace gaussweep::faults
