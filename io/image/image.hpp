#pragma once
/// Grey images: read from PNG (libpng) and PGM (libnetpbm), written as PNG.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gaussweep::io {

/// An 8-bit grey image.
struct GreyImage {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  ///< 0 black to 255 white, row after row from the top
};

/// Reads a PNG or PGM, recognized by its content. Converts every other format to 8-bit grey: colours by
/// luminance, transparent pixels on black, other depths scaled to 0 … 255. `notices` gets a sentence per
/// conversion. The file is read once: `digest` gets the SHA-256 of exactly the bytes that the image is
/// decoded from.
/// @throws InputError if there is no such file, it is neither PNG nor PGM, damaged, or has more than
/// `most_pixels` pixels
GreyImage read_image(const std::filesystem::path& path, std::int64_t most_pixels,
                     std::vector<std::string>* notices = nullptr, std::string* digest = nullptr);

/// Writes an 8-bit grey PNG atomically. @throws StorageError
void write_png(const std::filesystem::path& path, const GreyImage& image);

}  // namespace gaussweep::io
