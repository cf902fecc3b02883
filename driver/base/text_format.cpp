/// Converts numbers to text for people, breaks lines, and quotes words for a shell.

#include "driver/base/text_format.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/matrix/shortest.hpp"

namespace gaussweep::driver {
namespace {

/// Returns true if a byte begins a UTF-8 character.
bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

/// Returns the number of bytes that fit on a line of `width` columns, for a word that is wider than the line.
/// @pre 0 < width < width of the word
std::size_t bytes_that_fit(const std::string& word, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t characters = 0; end < word.size(); ++end) {
    if (begins_character(word[end]) && ++characters > width) break;
  }
  // Breaks the word after punctuation, unless the line would be less than half full.
  const std::size_t mark = word.find_last_of("/_-,=:.", end - 1);
  return mark == std::string::npos || 2 * (mark + 1) < end ? end : mark + 1;
}

}  // namespace

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string range_text(std::int64_t low, std::int64_t high) {
  return low == high ? fmt::to_string(low) : fmt::format("{} to {}", low, high);
}

std::string seconds_text(double seconds) {
  if (std::isnan(seconds)) return {};
  const double size = std::fabs(seconds);
  // A unit is used from 0.9995 on, because three digits round 0.9995 to 1.
  if (size == 0) return "0 s";
  if (size >= 0.9995) return fmt::format("{:.4g} s", seconds);
  if (size >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (size >= 0.9995e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::fabs(bytes) >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string capability_text(int capability) {
  return capability == 0 ? std::string() : fmt::format("{}.{}", capability / 10, capability % 10);
}

std::string parameters_for_people(const std::string& parameters) {
  const nlohmann::ordered_json json =
      nlohmann::ordered_json::parse(parameters, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return parameters;
  std::string text;
  for (const auto& [name, value] : json.items()) {
    const std::string word = value.is_string()         ? value.get<std::string>()
                             : value.is_number_float() ? shortest(value.get<double>())
                                                       : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, word);
  }
  return text;
}

std::string significant_text(double value, int digits) {
  constexpr int min_exponent = -7, max_exponent = 9;  // outside this range an exponent is shorter
  if (value == 0) return "0";
  if (!std::isfinite(value)) return fmt::format("{}", value);
  // Uses the exponent of the rounded number, because 9.996 with three digits is 10.0.
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  if (exponent < min_exponent || exponent > max_exponent) return fmt::format("{:.{}g}", value, digits);
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines;
  std::string line;
  bool is_empty = true;  // apart from its indent
  const auto end_line = [&] {
    lines.push_back(std::exchange(line, std::string(indent, ' ')));
    is_empty = true;
  };
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    std::string word = text.substr(start, end - start);
    start = end + 1;
    if (!is_empty && width_of(line) + 1 + width_of(word) > width) end_line();
    while (is_empty && width_of(word) > width - width_of(line)) {
      const std::size_t cut = bytes_that_fit(word, width - width_of(line));
      line += word.substr(0, cut);
      word.erase(0, cut);
      end_line();
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  if (!is_empty || lines.empty()) lines.push_back(line);
  return lines;
}

std::string paragraph(const std::string& text, std::size_t width) {
  return fmt::format("{}\n", fmt::join(wrapped(text, width), "\n"));
}

std::string shell_quoted(const std::string& name) {
  return shell_word(name.size() > 1 && name.front() == '-' ? "./" + name : name);
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-./:,+@%=", c) != nullptr;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace gaussweep::driver
