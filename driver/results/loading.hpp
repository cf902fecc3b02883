#pragma once
/// Records from wherever they are: a run directory, its journal, a results file.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

struct Loaded {
  io::Results results;
  std::filesystem::path path;  ///< as it was asked for
  bool has_notes = false;      ///< of a journal; none where only a results file was read
  std::vector<std::string>
      remarks;  ///< what the reader should know: torn, damaged, out of date, of two builds
};

/// Reads records. A run directory: its journal; where lines of that are damaged, a results.h5 that agrees
/// with the others; where there is none, results.h5. A file: results.h5 or a journal, told apart by content.
/// `with_details == false` may leave out samples, stages and histories. An HDF5 file is read in a child
/// process: one that is damaged may crash HDF5, not this process.
/// @pre this process is no rank of MPI
/// @throws io::InputError where there is nothing to read, or it is not ours
Loaded load(const std::filesystem::path& path, bool with_details);

/// Counts the records of a results file that others lack, by key and run. Replacing the file by those others
/// would lose them. Returns 0 if the file is absent or cannot be read.
/// @param others is called after the file was read: a journal that grows meanwhile has all that the file has
/// @pre this process is no rank of MPI
std::size_t records_only_in(const std::filesystem::path& results,
                            const std::function<const std::vector<io::Record>&()>& others);

/// The run directories under a path. It is itself one or a file, or a directory of them, at most three levels
/// below. They are the shards of a sweep, the nights of a plan. In the order of their names, numbers in them
/// by value. The path itself where nothing is there: who reads it says what is wrong with it.
/// @param by_journal a results.h5 alone makes no run directory, as that of merged shards
std::vector<std::filesystem::path> runs_under(const std::filesystem::path& path, bool by_journal = false);
/// What of "shard-2-of-3" is missing among directories that were found under the `asked` ones: "shard-3-of-3
/// is not there". Who asks for a shard by its name does not ask for the others.
std::vector<std::string> missing_shards(const std::vector<std::filesystem::path>& directories,
                                        const std::vector<std::string>& asked);

}  // namespace gaussweep::driver
