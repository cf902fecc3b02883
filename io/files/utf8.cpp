/// Decodes UTF-8.

#include "io/files/utf8.hpp"

namespace gaussweep::io {

std::size_t character_bytes(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t at) {
    return static_cast<unsigned char>(at < text.size() ? text[at] : 0);
  };
  const unsigned first = byte(i);
  if (first < 0x80)
    return (first >= 0x20 && first != 0x7f) || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;  // bytes that never begin a sequence
  for (std::size_t j = 1; j < length; ++j) {
    if ((byte(i + j) & 0xc0u) != 0x80) return 0;
  }
  const unsigned second = byte(i + 1);
  // Overlong: a shorter sequence exists. Outside: a surrogate (U+D800 to U+DFFF), or beyond U+10FFFF.
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

}  // namespace gaussweep::io
