/// Makes text from files safe for a terminal, which would execute control sequences in it.

#include "driver/base/printable.hpp"

#include <algorithm>
#include <string_view>

#include "io/files/utf8.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::string_view replacement = "\uFFFD";

/// Returns true for C1 controls (U+0080 to U+009F) and for characters that change the direction of writing
/// (U+202A to U+202E, U+2066 to U+2069).
bool is_hidden(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
}

/// Returns the length in bytes of the colour sequence that starts at `i`; 0 if there is none.
std::size_t colour_bytes(const std::string& text, std::size_t i) {
  if (text.compare(i, 2, "\033[") != 0) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", i + 2);
  return end != std::string::npos && text[end] == 'm' ? end + 1 - i : 0;
}

/// Replaces hidden characters except the white space in `kept_spaces`, and colour sequences unless
/// `with_colours` is set.
std::string sanitized(const std::string& text, std::string_view kept_spaces, bool with_colours = false) {
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t colour = with_colours ? colour_bytes(text, i) : 0; colour > 0) {
      out += text.substr(i, colour);
      i += colour;
      continue;
    }
    const std::size_t length = io::character_bytes(text, i);  // 0: malformed UTF-8 or a control character
    const std::string_view character = std::string_view(text).substr(i, std::max<std::size_t>(length, 1));
    const bool is_space = character == "\n" || character == "\t" || character == "\r";
    const bool is_shown = is_space ? kept_spaces.find(character) != std::string_view::npos
                                   : length > 0 && !is_hidden(character);
    out += is_shown ? character : replacement;
    i += character.size();
  }
  return out;
}

}  // namespace

std::string one_line_printable(const std::string& text) {
  return sanitized(text, "");
}

std::string printable_lines(const std::string& text) {
  return sanitized(text, "\n\t");
}

std::string terminal_text(const std::string& text) {
  return sanitized(text, "\n\t", true);
}

}  // namespace gaussweep::driver
