#pragma once
/// Recognises files that no reader accepts: compressed files, archives and other programs' formats.

#include <filesystem>
#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// Returns a sentence that names the format and a command that converts the file to a readable one; empty for
/// an unknown format.
std::string container_advice(const std::filesystem::path& path, const Descriptor& file);

}  // namespace gaussweep::io
