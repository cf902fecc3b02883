#pragma once
/// What several commands print of records.

#include <filesystem>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/summary/summary.hpp"
#include "io/records/results.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// The options that choose records: --problem, --method, … @pre `filter` outlives the command
void add_filter_options(CLI::App& command, Filter& filter);

/// The run directories and files that paths name (runs_under of each), each once.
std::vector<std::filesystem::path> runs_under(const std::vector<std::string>& paths, bool by_journal = false);

/// All records, devices and hosts of what paths name; remarks, missing shards too, go to standard error.
/// `with_details == false` may leave out samples, stages and histories.
io::Results load_all(const std::vector<std::string>& paths, bool with_details = false);

/// Groups as a table, how many more there are, and what its columns mean.
void print_groups(const std::vector<Group>& groups, std::size_t hidden);

/// What did not pass, and the count of all. `between` comes before what is printed first.
void print_failures(const std::vector<io::Record>& records, const char* between);

/// The verdict grids of `records` and what did not pass.
/// @param all for its devices and hosts
/// @param baseline as of verdict_grids
void print_races(const std::vector<io::Record>& records, const io::Results& all, Format format,
                 const std::string& baseline);

}  // namespace gaussweep::driver
