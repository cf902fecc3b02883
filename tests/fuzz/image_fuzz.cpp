/// Fuzzes the reader of PNG and PGM: it must return an image of the announced size or an InputError.

#include <cstdint>
#include <cstdlib>

#include "io/files/errors.hpp"
#include "io/image/image.hpp"
#include "tests/fuzz/memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gaussweep;
  const fuzz::MemoryFile file(data, size);
  constexpr std::int64_t max_pixels = 10000;
  try {
    const io::GreyImage image = io::read_image(file.path(), max_pixels);
    if (image.width < 1 || image.height < 1 || image.width * image.height > max_pixels) std::abort();
    if (static_cast<std::int64_t>(image.pixels.size()) != image.width * image.height) std::abort();
  } catch (const io::InputError&) {
  }
  return 0;
}
