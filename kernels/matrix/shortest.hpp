#pragma once
/// Formats numbers for canonical texts (MatrixSpec::canonical) and messages.

#include <charconv>
#include <string>

namespace gaussweep {

/// Returns the shortest text that reads back as the same number, independently of the locale.
inline std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace gaussweep
