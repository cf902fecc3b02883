#pragma once
/// From a journal to the contents of results.h5.

#include <string>

#include "io/records/journal.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Everything of a journal as results: records, devices, hosts, and the last start's provenance as
/// attributes, "record_count" among them. Records that vanished from the plan say so in their message.
io::Results results_of(io::JournalContents journal);

}  // namespace gaussweep::driver
