#pragma once
/// Files that hold a matrix in a form that no reader takes: packed files, archives, other programs' formats.

#include <filesystem>
#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// Returns a sentence that names the format and the command that makes a readable file of it; empty for an
/// unknown format.
std::string container_advice(const std::filesystem::path& path, const Descriptor& file);

}  // namespace gaussweep::io
