#pragma once
/// What a plan must know of the matrix files that it names, learnt without being hurt by them.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "driver/plan/expand.hpp"

namespace gaussweep::driver {

/// What is to know of a matrix file. One for the HDF5 library, which crashes on some damaged files, is looked
/// at by a process of its own: this one may be a rank of MPI. @throws io::InputError
FileFacts facts_of_file(const std::filesystem::path& path, const std::string& dataset);

/// What that process, `gaussweep matrix info --facts`, prints: {"rows", "cols", "sha256", "values"}, or why
/// the file is refused: {"refused"}. @pre no rank of MPI
nlohmann::ordered_json facts_json(const std::filesystem::path& path, const std::string& dataset);

}  // namespace gaussweep::driver
