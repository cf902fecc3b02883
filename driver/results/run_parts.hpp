#pragma once
/// Counts the planned trials of a sweep that is split into several runs, such as shards, and finds parts
/// without records.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/shard.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Reads the name of a shard, such as "shard-3-of-4" with the separator '-'; nothing for any other text.
std::optional<Shard> parse_shard_name(const std::string& name, char separator);
/// Returns the shards (separately run parts of a plan) that the attribute `shard` lists. Merged results have
/// several: "1/4, 2/4".
std::vector<Shard> shards_in(const io::Results& results);

/// Counts the planned trials of runs, and finds shards and run directories without records.
class RunParts {
 public:
  /// Adds a run, or the merged results of several.
  void add(const std::filesystem::path& path, const io::Results& results);
  /// Adds a run that does not exist.
  void add_absent(const std::filesystem::path& path);
  /// Returns the number of trials of shards that have not started: the planned trials minus the sum of the
  /// runs' trials (`expected_records`). Returns 0 if it is unknown. The result is negative if a shard was
  /// added twice: alone and in merged results.
  std::int64_t unstarted() const;
  /// Returns the parts without records: shards as "shard 3 of 4", other runs by the name of their directory.
  std::vector<std::string> without_records() const;

 private:
  /// The shards of a plan that is split into a fixed number of shards.
  struct Shards {
    std::map<std::int64_t, int> run_counts;  ///< number of added runs per shard number
    std::set<std::int64_t> with_records;     ///< numbers of the shards that have records
    std::set<std::int64_t> listed;           ///< shards known to have no records
    /// The plan's numbers of trials that the runs recorded; one if they agree.
    std::set<std::string> plan_trials;
    std::int64_t trials = 0;  ///< sum over the runs
    std::int64_t unstarted() const;
  };
  std::map<std::int64_t, Shards> shards_;  ///< by the number of shards
  std::set<std::string> names_;            ///< names of other run directories without records
};

/// Returns the number of trials of a run's plan or shard, or of merged runs; -1 if it is unknown.
std::int64_t expected_records(const io::Results& results);

/// Returns the attribute "without_records" of merged results (io/SCHEMA.md).
std::vector<std::string> listed_without_records(const io::Results& results);

/// Returns "no records from shard 3 of 4, hopper and 2 more"; empty if there are no names.
std::string without_records_text(const std::vector<std::string>& names);

}  // namespace gaussweep::driver
