#pragma once
/// Reads the properties of matrix files that a plan needs. A damaged file causes an error, never a crash.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/needs.hpp"

namespace gaussweep::driver {

/// Size and digest of a matrix file, and properties of the matrix.
struct FileFacts {
  std::string path;  ///< absolute
  std::int64_t rows = 0, cols = 0;
  std::string sha256;
  std::vector<double> values = {};  ///< column-major; only for files as small as a point-spread function
  /// Properties of the matrix; empty if it is too large to be read here. For small matrices, includes the
  /// result of a factorisation.
  std::optional<InspectedMatrix> inspected = std::nullopt;
};
/// Returns the facts about a file; relative paths start at the plan's folder. @throws io::InputError
using FileLookup = std::function<FileFacts(const std::string& file, const std::string& dataset)>;

/// Returns the facts about a matrix file. Files for the HDF5 library are read in a child process, because the
/// library crashes on some damaged files. The child is a new program, because this process may be an MPI
/// rank, which must not fork. @throws io::InputError
FileFacts facts_of_file(const std::filesystem::path& path, const std::string& dataset);

/// Returns the output of the child process that `facts_of_file` starts, `gaussweep matrix info --facts`:
/// {"rows", "cols", "sha256", "values", "seen"}, or {"refused"} with the reason.
/// @pre this process is not an MPI rank
nlohmann::ordered_json facts_json(const std::filesystem::path& path, const std::string& dataset);

}  // namespace gaussweep::driver
