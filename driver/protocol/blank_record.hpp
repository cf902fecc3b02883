#pragma once
/// Records without results.

#include "driver/plan/trial.hpp"
#include "driver/system/origin.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Returns a record with the columns that are known before the trial runs.
io::Record blank_record(const Trial& trial, const Method* method, const Origin& origin);

}  // namespace gaussweep::driver
