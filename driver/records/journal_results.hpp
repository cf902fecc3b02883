#pragma once
/// From a journal to the contents of results.h5. The journal's note lines carry what is no record:
///   {"note": "run", "run_id": …, "total": …, "plan": text, "plan_name": …, "started": …, …}   a start
///   {"note": "device", "row": {…}}, {"note": "host", "row": {…}}
///   {"note": "vanished", "keys": […]}   trials that the edited plan no longer has
///   {"note": "retired", "rank": …, "reason": …}   a rank whose device failed
///   {"note": "end", "exit_code": …, "reason": …, "time": …}

#include <string>

#include "io/records/journal.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Everything of a journal as results: records (those that vanished from the plan say so in their message),
/// devices, hosts, and the last start's provenance as attributes, "record_count" among them.
io::Results results_of(const io::JournalContents& journal);

}  // namespace gaussweep::driver
