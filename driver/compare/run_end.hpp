#pragma once
/// The summary that `gaussweep run` prints when it ends.

#include <string>

#include "io/records/journal.hpp"

namespace gaussweep::driver {

/// Returns the summary: the fastest methods, changes since the last run of the plan, and commands to continue
/// with. No line feed at the end.
/// @param program, run the program's name and the run directory as the user typed them; the commands in the
/// text contain both
std::string run_end_text(const std::string& program, const std::string& run,
                         const io::JournalContents& journal);

}  // namespace gaussweep::driver
