#pragma once
/// Methods that misbehave, one way each: for tests of what the pipeline does then. They exist only in the
/// executable `gaussweep_faulty`, never in `gaussweep`.

#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::faults {

/// gesv rows on the backend host: `fault_none` (a good answer after `milliseconds`), `fault_abort`,
/// `fault_segfault`, `fault_exit`, `fault_hang`, `fault_throw`, `fault_leak`, `fault_nan`, `fault_lie`,
/// `fault_once` (dies the first time, works the second), `fault_device_killer` (see failing_device.hpp).
std::vector<Method> host_methods();

/// gesv rows on the backends emulated and cuda: `fault_endless_kernel`, `fault_illegal_address` (cuda only),
/// `fault_device_memory`, `fault_barrier` (emulated only), `fault_good_kernel`.
std::vector<Method> device_methods();

/// Rows on the backends emulated and cuda that are right by other means than by computing, or only where
/// somebody looks: one each way that the judge must see through.
std::vector<Method> cheats();

/// `gemm/fault_changed`: takes longer, launches more or waits more where GAUSSWEEP_FAULT_CHANGE says so
/// (changed.cu).
Method changed_method();

}  // namespace gaussweep::faults
