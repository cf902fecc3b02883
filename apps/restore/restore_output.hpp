#pragma once
/// The output of `gaussweep restore`: images, the file restoration.h5, and a table for the terminal.

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
  std::string image_sha256;  ///< of the bytes read from image_path
  const io::GreyImage& image;
  const std::vector<double>& original;  ///< the grey levels of `image`
  const Restored& restored;
  std::string started;  ///< ISO 8601, UTC
  std::string command_line;
};

/// Checks that results can be written to the path: it does not exist yet (write_restoration_directory creates
/// it), or is an empty directory. @throws UsageError if not, or if the path cannot be read
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
