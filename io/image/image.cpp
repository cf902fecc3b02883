/// Reads PNG and PGM images as 8-bit grey, and writes PNG.

#include "io/image/image.hpp"

#include <png.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"
#include "io/image/pgm.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {
namespace {

constexpr std::uintmax_t max_file_bytes = std::uintmax_t{64} << 20;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw InputError("Cannot read the image '" + path.string() + "': " + why + ".");
}

std::string bytes_of(const std::filesystem::path& path) {
  const Opened opened = open_regular(path);
  if (!opened) refuse(path, opened.why);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) refuse(path, error.message());
  if (size > max_file_bytes) refuse(path, "it has " + std::to_string(size) + " bytes; allowed: 64 MiB");
  std::ifstream file(opened.file.path(), std::ios::binary);
  if (!file) refuse(path, std::strerror(errno));
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) refuse(path, "reading it failed");
  return bytes;
}

void check_size(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
                std::int64_t most_pixels) {
  if (width >= 1 && height >= 1 && width <= most_pixels / height) return;
  refuse(path, "it is " + std::to_string(width) + " x " + std::to_string(height) + "; allowed: 1 to " +
                   std::to_string(most_pixels) + " pixels");
}

/// libpng's simplified interface; frees libpng's memory.
struct Png {
  Png() {
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
  }
  ~Png() { png_image_free(&image); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  png_image image;
};

GreyImage read_png(const std::filesystem::path& path, const std::string& bytes, std::int64_t most_pixels,
                   std::vector<std::string>& notices) {
  Png png;
  if (png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size()) == 0) {
    refuse(path, std::string("damaged PNG (") + png.image.message + ")");
  }
  check_size(path, png.image.width, png.image.height, most_pixels);
  const png_uint_32 format = png.image.format;
  if ((format & PNG_FORMAT_FLAG_COLOR) != 0)
    notices.emplace_back("colours were turned into grey by their luminance");
  if ((format & PNG_FORMAT_FLAG_ALPHA) != 0) notices.emplace_back("transparent pixels were laid on black");
  if ((format & PNG_FORMAT_FLAG_LINEAR) != 0) notices.emplace_back("16-bit levels were rounded to 8 bits");
  // Without this flag, libpng would assume linear levels in 16-bit files without colour information, but sRGB
  // in 8-bit files.
  png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  png.image.format = PNG_FORMAT_GRAY;
  GreyImage image{png.image.width, png.image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png.image))};
  const png_color black = {0, 0, 0};
  if (png_image_finish_read(&png.image, &black, image.pixels.data(), 0, nullptr) == 0) {
    refuse(path, std::string("damaged PNG (") + png.image.message + ")");
  }
  return image;
}

#ifdef GAUSSWEEP_HAS_NETPBM

GreyImage read_pgm(const std::filesystem::path& path, const std::string& bytes, std::int64_t most_pixels,
                   std::vector<std::string>& notices) {
  PgmReader reader(bytes);
  if (!reader.ok()) refuse(path, "damaged PGM (" + reader.error() + ")");
  check_size(path, reader.width(), reader.height(), most_pixels);
  GreyImage image{reader.width(), reader.height(), {}};
  image.pixels.reserve(static_cast<std::size_t>(image.width * image.height));
  const std::uint64_t top = reader.top_level();
  std::vector<unsigned> row(static_cast<std::size_t>(image.width));
  for (std::int64_t y = 0; y < image.height; ++y) {
    if (!reader.read_row(row.data())) refuse(path, "damaged PGM (" + reader.error() + ")");
    for (const unsigned level : row) {
      if (level > top) refuse(path, "damaged PGM (a level above the highest that it announces)");
      image.pixels.push_back(static_cast<std::uint8_t>((level * std::uint64_t{255} + top / 2) / top));
    }
  }
  if (top != 255) notices.push_back("levels 0 to " + std::to_string(top) + " were scaled to 0 to 255");
  return image;
}

#else

GreyImage read_pgm(const std::filesystem::path& path, const std::string&, std::int64_t,
                   std::vector<std::string>&) {
  refuse(path, "this build has no libnetpbm and so reads no PGM; give a PNG");
}

#endif

}  // namespace

GreyImage read_image(const std::filesystem::path& path, std::int64_t most_pixels,
                     std::vector<std::string>* notices, std::string* digest) {
  const std::string bytes = bytes_of(path);
  if (digest != nullptr) *digest = sha256(bytes);
  std::vector<std::string> ignored;
  std::vector<std::string>& used_notices = notices != nullptr ? *notices : ignored;
  if (bytes.compare(0, 8, "\x89PNG\r\n\x1a\n") == 0) return read_png(path, bytes, most_pixels, used_notices);
  const std::string magic = bytes.substr(0, 2);
  if (magic == "P2" || magic == "P5") return read_pgm(path, bytes, most_pixels, used_notices);
  refuse(path, "it is neither PNG nor PGM (P2, P5)");
}

void write_png(const std::filesystem::path& path, const GreyImage& image) {
  Png png;
  png.image.width = static_cast<png_uint_32>(image.width);
  png.image.height = static_cast<png_uint_32>(image.height);
  png.image.format = PNG_FORMAT_GRAY;
  png_alloc_size_t size = 0;
  std::vector<char> bytes;
  bool done = png_image_write_get_memory_size(png.image, size, 0, image.pixels.data(), 0, nullptr) != 0;
  if (done) {
    bytes.resize(size);
    done =
        png_image_write_to_memory(&png.image, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) != 0;
  }
  if (!done) throw StorageError("Cannot write the image '" + path.string() + "': " + png.image.message + ".");
  write_atomically(path, bytes.data(), size);
}

}  // namespace gaussweep::io
