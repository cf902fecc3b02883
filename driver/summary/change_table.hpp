#pragma once
/// What `verify` changed, as a table.

#include "driver/base/table.hpp"
#include "driver/judge/verify.hpp"
#include "driver/summary/trial_columns.hpp"

namespace gaussweep::driver {

/// The records whose status changed.
Table change_table(const Verification& verification, Reader reader);

}  // namespace gaussweep::driver
