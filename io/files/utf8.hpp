#pragma once
/// Text of files, character by character.

#include <cstddef>
#include <string>

namespace gaussweep::io {

/// Length of the UTF-8 sequence at `text[i]`; 0 where it is malformed or a control character other than tab,
/// line feed and carriage return. @pre i < text.size()
std::size_t character_bytes(const std::string& text, std::size_t i);

}  // namespace gaussweep::io
