#pragma once
/// The output of `gaussweep restore`: images, restoration.h5, and its table.

#include <filesystem>
#include <string>

#include "apps/restore/restoration.hpp"
#include "driver/base/table.hpp"
#include "io/image/image.hpp"

namespace gaussweep::driver {

/// A finished restoration with its inputs and provenance.
struct Restoration {
  const RestoreJob& job;
  std::string image_path;
  std::string image_sha256;  ///< of the bytes read from there
  const io::GreyImage& image;
  const std::vector<double>& original;
  const Restored& restored;
  std::string started;  ///< ISO 8601, UTC
  std::string command_line;
};

/// @throws UsageError if the path exists and is no empty directory, or cannot be read; missing directories
/// are created later
void check_output_directory(const std::filesystem::path& directory);

/// Creates the directory and writes original.png, degraded.png and restored.png (rounded, clipped to 0 … 255)
/// and, last, restoration.h5. A failure leaves nothing: a new directory gets its name only when it is
/// complete, and files written to an existing empty directory are removed again.
/// @throws io::StorageError
void write_restoration_directory(const std::filesystem::path& directory, const Restoration& restoration);

/// Returns one row: the parameters, MSE and PSNR of the degraded and restored image, and the verdict on the
/// inverse.
Table restoration_table(const Restoration& restoration);

}  // namespace gaussweep::driver
