#pragma once
/// Grey pictures: read from PNG (libpng) and PGM (libnetpbm), written as PNG.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gaussweep::io {

struct GreyImage {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  ///< 0 black to 255 white, row after row from the top
};

/// Reads a PNG or PGM, told apart by content. What is not 8-bit grey becomes so. Colours go by luminance,
/// transparent pixels as if on black, finer or coarser levels scaled to 0 … 255. `notices` gets a sentence on
/// each. The file is read once: `digest` gets the SHA-256 of the very bytes the image is made from.
/// @throws InputError: no such file, neither PNG nor PGM, damaged, more than `most_pixels` pixels
GreyImage read_image(const std::filesystem::path& path, std::int64_t most_pixels,
                     std::vector<std::string>* notices = nullptr, std::string* digest = nullptr);

/// Writes an 8-bit grey PNG, whole or not at all. @throws StorageError
void write_png(const std::filesystem::path& path, const GreyImage& image);

}  // namespace gaussweep::io
