#pragma once
/// Converts a journal to the contents of results.h5.

#include <string>

#include "io/records/journal.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Returns the records, devices and hosts of a journal, and the last start's provenance as attributes, plus
/// "record_count". If an edited plan no longer has the trial of a record, this is noted in the record's
/// message.
io::Results results_of(io::JournalContents journal);

/// Returns true if `results_of` has noted in the record's message that the plan no longer has its trial.
bool is_unplanned(const io::Record& record);

/// Returns the note of the journal's last start; without one, an empty note.
io::note::Run last_start(const io::JournalContents& journal);

/// Returns an attribute; empty if the results lack it.
std::string attribute(const io::Results& results, const std::string& name);

}  // namespace gaussweep::driver
