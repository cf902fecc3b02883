#pragma once
/// The table of statuses that `verify` changed.

#include "driver/base/table.hpp"
#include "driver/judge/verify.hpp"
#include "driver/summary/trial_columns.hpp"

namespace gaussweep::driver {

/// Returns a table of the records whose status changed.
Table change_table(const Verification& verification, Reader reader);

}  // namespace gaussweep::driver
