#pragma once
/// What is known of a record before its trial runs.

#include "driver/plan/trial.hpp"
#include "driver/system/origin.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// The columns of a record that are known before a trial runs.
io::Record blank_record(const Trial& trial, const Method* method, const Origin& origin);

}  // namespace gaussweep::driver
