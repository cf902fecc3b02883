#pragma once
/// What `gaussweep restore` leaves behind: pictures, restoration.h5, and its table.

#include <filesystem>
#include <string>

#include "apps/restore/restoration.hpp"
#include "driver/base/table.hpp"
#include "io/image/image.hpp"

namespace gaussweep::driver {

/// A finished restoration with where it came from.
struct Restoration {
  const RestoreJob& job;
  std::string image_path;
  std::string image_sha256;  ///< of what was read from there
  const io::GreyImage& image;
  const std::vector<double>& original;
  const Restored& restored;
  std::string started;  ///< ISO 8601, UTC
  std::string command_line;
};

/// @throws UsageError where there is anything but an empty directory, or it cannot be looked into; what is
/// missing is created later
void check_output_directory(const std::filesystem::path& directory);

/// Creates the directory and writes original.png, degraded.png and restored.png (rounded, clipped to 0 … 255)
/// and, last of all, restoration.h5. Where that fails nothing is left. A new directory gets its name when it
/// is complete. What was written into an empty one that was there is removed again.
/// @throws io::StorageError
void write_restoration_directory(const std::filesystem::path& directory, const Restoration& restoration);

/// One row: what was done, MSE and PSNR of degraded and restored, the verdict on the inverse.
Table restoration_table(const Restoration& restoration);

}  // namespace gaussweep::driver
