#pragma once
/// Methods that each misbehave in one way, to test how the pipeline handles them. They exist only in the
/// executable `gaussweep_faulty`, never in `gaussweep`.

#include <vector>

#include "driver/worker/probe.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::faults {

/// gesv rows on the backend host: `fault_none` (a good answer after `milliseconds`), `fault_abort`,
/// `fault_segfault`, `fault_exit`, `fault_hang`, `fault_throw`, `fault_leak`, `fault_nan`, `fault_lie`. Also
/// `fault_once` (dies the first time, works the second).
std::vector<Method> host_methods();

/// gesv rows on the backends emulated and cuda: `fault_endless_kernel`, `fault_illegal_address` (cuda only),
/// `fault_device_memory`, `fault_barrier` (emulated only), `fault_good_kernel`.
std::vector<Method> device_methods();

/// Rows on the backends emulated and cuda that cheat: right without computing, or right only in some runs.
/// The verification must detect each of them.
std::vector<Method> cheats();

/// `gemm/fault_changed`: takes longer, launches more or waits more, as GAUSSWEEP_FAULT_CHANGE requests
/// (changed.cu).
Method changed_method();

/// Makes workers' devices. GAUSSWEEP_FAULT_DEVICE="RANK FETCHES HOW FILE": the device of rank RANK fails
/// after FETCHES copies to the host (the probe makes 4, a trial 3) and creates FILE. HOW "dies": every call
/// is an error that ends the process; "refuses": an error that does not end it; "lies": results change
/// silently on their way to the host; "full": no memory is available. While FILE exists, later workers of the
/// rank have the failed device. HOW "aborts" or "hangs": a worker does so while it makes the device. Without
/// the variable there are no faults.
std::unique_ptr<Device> make_failing_device(Backend backend);

}  // namespace gaussweep::faults
