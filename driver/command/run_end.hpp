#pragma once
/// What `run` says at its end: who won, what changed since the last run of the plan, what to type next.

#include <filesystem>
#include <string>

#include "io/records/journal.hpp"

namespace gaussweep::driver {

/// The newest run of the same plan and shard beside a run directory: `runs/*` of `runs/b`; of dated nights
/// (`nights/DATE/sweep`) also those of the same name. Empty where there is none.
std::filesystem::path last_run_before(const std::filesystem::path& run, const io::JournalContents& journal);

/// A line or more, without a line break at the end.
/// @param program, run as the user named them: the words that follow begin with them
std::string run_end_words(const std::string& program, const std::string& run,
                          const io::JournalContents& journal);

}  // namespace gaussweep::driver
