#pragma once
/// The text at the end of `gaussweep run`.

#include <string>

#include "io/records/journal.hpp"

namespace gaussweep::driver {

/// Returns the text at the end of `run`: winners, changes since the last run of the plan, commands to
/// continue. No line feed at the end.
/// @param program, run as the user typed them; the commands in the text contain them
std::string run_end_words(const std::string& program, const std::string& run,
                          const io::JournalContents& journal);

}  // namespace gaussweep::driver
