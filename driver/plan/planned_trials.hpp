#pragma once
/// Expands a plan file to its trials, with the matrix files and method libraries that the plan names.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "driver/plan/expand.hpp"
#include "driver/plan/file_facts.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// Keeps the facts of matrix files, so that each file is read once for all trials of all rounds.
class MatrixFileCache {
 public:
  void add(const std::filesystem::path& path, const std::string& dataset, FileFacts facts);
  /// Returns the facts about a file. @throws io::InputError
  const FileFacts& facts(const std::filesystem::path& path, const std::string& dataset);
  /// Returns a message for the user if reading the files took long; otherwise an empty text.
  std::string note() const;

 private:
  std::map<std::pair<std::string, std::string>, FileFacts> files_;  ///< by path and dataset
  std::size_t read_ = 0;                                            ///< number of files that were read
  double seconds_ = 0;                                              ///< time that reading took
};

/// Returns the paths of the plan's shared libraries. Relative paths start at the folder of `path`, the plan's
/// file.
std::vector<std::string> libraries_of(const io::Plan& plan, const std::string& path);

/// Adds the methods of a plan's libraries, and of the libraries in `more`, to a registry. @throws UsageError
/// as add_libraries
void add_libraries_of(Registry& registry, const io::Plan& plan, const std::string& path,
                      const std::vector<std::string>& more);

/// Expands a plan. Paths of matrix files are relative to the folder of `path`, the plan's file.
/// @param files the matrix files that were read before; receives those that are read now
Expansion expand_plan(const io::Plan& plan, const std::string& path, const Registry& registry,
                      Backend requested, int capability, MatrixFileCache& files);

}  // namespace gaussweep::driver
