#pragma once
/// Numbers in canonical texts and messages.

#include <charconv>
#include <string>

namespace gaussweep {

/// The shortest text that reads back as the same number, in no locale.
inline std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace gaussweep
