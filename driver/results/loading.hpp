#pragma once
/// Loads records from a run directory, a journal or a results file.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The loaded records, with remarks about the source.
struct Loaded {
  io::Results results;
  std::filesystem::path path;        ///< the path as given by the caller
  bool has_notes = false;            ///< true if a journal with notes was read
  std::vector<std::string> remarks;  ///< warnings: torn or damaged journal, no checksums, several builds
};

/// Loads records. From a run directory: its journal; if lines of the journal are damaged, a results.h5 that
/// agrees with the undamaged ones; without a journal, results.h5. From a file: results.h5 or a journal,
/// recognised by content. HDF5 files are read in a child process, because a damaged one may crash HDF5.
/// @param with_details false: samples, stages and histories may be left out
/// @pre this process has not initialised MPI
/// @throws io::InputError if there is nothing to read, or the file is not one of gaussweep
Loaded load(const std::filesystem::path& path, bool with_details);

/// Counts the records of a results file that `others` lack, by key and run. Replacing the file by `others`
/// would lose them. Returns 0 if the file does not exist or cannot be read.
/// @param others is called after the file was read, so that a growing journal contains all records of the
/// file
/// @pre this process has not initialised MPI
std::size_t records_only_in(const std::filesystem::path& results,
                            const std::function<const std::vector<io::Record>&()>& others);

/// Returns the run directories at or below a path, at most three levels deep, such as the shards of a sweep
/// or the nights of a plan. They are sorted by name, with numbers compared by value. Returns the path itself
/// if there are none, so that reading it gives the error.
/// @param by_journal a directory with only a results.h5 (merged shards) is not a run directory
std::vector<std::filesystem::path> runs_under(const std::filesystem::path& path, bool by_journal = false);
/// Returns which shards are missing next to "shard-2-of-3" among the directories found below the `asked`
/// paths: "shard-3-of-3 is not there". Shards that `asked` names directly do not count.
std::vector<std::string> missing_shards(const std::vector<std::filesystem::path>& directories,
                                        const std::vector<std::string>& asked);

}  // namespace gaussweep::driver
