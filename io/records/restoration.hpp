#pragma once
/// restoration.h5: one image, its degraded and its restored version, with all data about them (io/SCHEMA.md).

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// The contents of restoration.h5. Images are in grey levels, 0 black to 255 white, neither rounded nor
/// clipped, row by row from the top.
struct Restoration {
  std::int64_t width = 0, height = 0;
  std::vector<double> original, degraded, restored;
  Dense<double> psf;  ///< the weights of the point-spread function
  /// The root's attributes by type.
  std::map<std::string, std::string> texts;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, double> reals;
};

/// Writes the file atomically. @throws StorageError
void write_restoration(const std::filesystem::path& path, const Restoration& restoration);

}  // namespace gaussweep::io
