#pragma once
/// A device that fails after a while: for tests of what becomes of its rank.

#include "driver/worker/probe.hpp"

namespace gaussweep::faults {

/// Makes workers' devices. GAUSSWEEP_FAULT_DEVICE="RANK FETCHES HOW FILE": the device of rank RANK fails
/// after FETCHES copies to the host (the probe's are 4, a trial's 3). With HOW "dies" every call is an error
/// that ends the process, with "refuses" one that does not. With "lies" results change on their way to the
/// host, without an error. With "full" no memory can be had. FILE is made when it happens. While it exists,
/// later workers of the rank find the device as it is. HOW "aborts" or "hangs" is what they do when they make
/// it. Without the variable: no faults.
std::unique_ptr<Device> make_failing_device(Backend backend);

}  // namespace gaussweep::faults
