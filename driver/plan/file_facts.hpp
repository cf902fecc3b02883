#pragma once
/// What a plan must know of the matrix files that it names, learnt without being hurt by them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gaussweep::driver {

/// A matrix file's size and digest.
struct FileFacts {
  std::string path;  ///< absolute
  std::int64_t rows = 0, cols = 0;
  std::string sha256;
  std::vector<double> values = {};  ///< column-major; only of files as small as a point-spread function
};
/// Looks a file up (relative paths: beside the plan). @throws io::InputError
using FileLookup = std::function<FileFacts(const std::string& file, const std::string& dataset)>;

/// What is to know of a matrix file. A process of its own looks at one for the HDF5 library, for this one may
/// be a rank of MPI. The library crashes on some damaged files. @throws io::InputError
FileFacts facts_of_file(const std::filesystem::path& path, const std::string& dataset);

/// What that process, `gaussweep matrix info --facts`, prints: {"rows", "cols", "sha256", "values"}, or why
/// the file is refused: {"refused"}. @pre no rank of MPI
nlohmann::ordered_json facts_json(const std::filesystem::path& path, const std::string& dataset);

}  // namespace gaussweep::driver
