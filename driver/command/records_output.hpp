#pragma once
/// Loads records (results of trials) for the commands that read them, selects them by options, and prints
/// tables of them.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/summary/summary.hpp"
#include "io/records/results.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// Adds the options that select records: --problem, --method, … @pre `filter` outlives `command`
void add_filter_options(CLI::App& command, Filter& filter);

/// Returns the run directories and files under all paths, without duplicates. Symbolic links are followed.
/// @param by_journal true: only directories with a journal count as run directories
/// @param repeated receives a message per run that was found under two names
std::vector<std::filesystem::path> runs_under(const std::vector<std::string>& paths, bool by_journal = false,
                                              std::vector<std::string>* repeated = nullptr);

/// Returns the run directories and files under all paths. Prints notes on standard error: about missing
/// shards (parts of a plan that were run separately), and about runs that were found under two names.
std::vector<std::filesystem::path> runs_with_notes(const std::vector<std::string>& paths);

/// The planned trials of all loaded runs that have no record. They are counted without regard to filter
/// options.
struct MissingTrials {
  bool is_known = false;  ///< true if at least one run recorded its number of trials
  std::size_t count = 0, total = 0;
  std::vector<std::string> without_records;  ///< names of shards and run directories without records
  /// Returns "40 of 83 trials missing (run --resume runs them; …); no records from shard 2 of 4". Returns an
  /// empty text if no trial is missing.
  std::string text() const;
};

/// Adds to `json` the number of missing trials, and the shards and run directories without records.
void add_missing(nlohmann::ordered_json& json, const MissingTrials& missing);

/// Loads all records, devices and hosts under the paths, and the attribute driver_version. Prints remarks and
/// missing shards on standard error.
/// @param with_details false: samples, stages and convergence histories may be left out
/// @param missing receives the trials that have no record
/// @param measured receives the devices with each run's own peak rates; the returned devices have the largest
/// peaks of all runs
/// @param peaks_of paths of further runs whose measured peaks are included in the largest peaks
io::Results load_all(const std::vector<std::string>& paths, bool with_details = false,
                     MissingTrials* missing = nullptr, std::vector<io::DeviceRow>* measured = nullptr,
                     const std::vector<std::string>& peaks_of = {});

/// Prints a table in the requested format. In JSON the table is the member `name` of an object.
void print_table(const Table& table, const char* name, Format format);

/// Prints groups (records of equal trials) as a table in text, Markdown or LaTeX, the number of hidden
/// groups, and an explanation of the columns.
void print_groups(const std::vector<Group>& groups, std::size_t hidden, Format format);

/// Prints tables of the failures and of doubtful results, and the number of records by status.
/// @param separator printed before the first table
void print_failures(const std::vector<io::Record>& records, const char* separator,
                    const MissingTrials& missing, Format format);

/// Prints the verdict grids of `records` and the failures. A verdict grid shows the fastest method per
/// problem and size on one device (verdict_grid.hpp). The comparison of the methods of one task (problem with
/// sizes and matrix) is called a race.
/// @param all provides devices and hosts
/// @param baseline the method that speedups refer to, such as "cusolver"; empty: the vendor's method
/// @param brief true: text, Markdown and LaTeX have only the grids and the missing trials
void print_verdict_grids(const std::vector<io::Record>& records, const io::Results& all, Format format,
                         const std::string& baseline, const MissingTrials& missing, bool brief);

}  // namespace gaussweep::driver
