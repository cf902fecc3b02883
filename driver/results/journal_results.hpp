#pragma once
/// Converts a journal to the contents of results.h5. The journal is the primary file of a run: its lines are
/// records (results of trials) and notes about the run.

#include <optional>
#include <string>

#include "io/records/journal.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Returns the records, devices and hosts of a journal. The attributes are the provenance of the run's last
/// start (a run starts again when it is resumed) and "record_count". If the plan was edited and no longer has
/// a record's trial, adds this fact to the record's message.
io::Results results_of(io::JournalContents journal);

/// Returns true if `results_of` marked the record's trial as no longer in the plan.
bool is_unplanned(const io::Record& record);

/// Returns the journal's note about the last start of the run; an empty note if there is none.
io::note::Run last_start(const io::JournalContents& journal);

/// Returns the note about the plan's files at the last start of the run. Empty if there is none, because an
/// earlier version wrote the journal.
std::optional<io::note::Inputs> last_inputs(const io::JournalContents& journal);

/// Returns an attribute; empty if the results do not have it.
std::string attribute(const io::Results& results, const std::string& name);

}  // namespace gaussweep::driver
