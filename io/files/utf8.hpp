#pragma once
/// UTF-8 decoding.

#include <cstddef>
#include <string>

namespace gaussweep::io {

/// Returns the length of the UTF-8 sequence at `text[i]`; 0 if it is malformed or a control character other
/// than tab, line feed and carriage return. @pre i < text.size()
std::size_t character_bytes(const std::string& text, std::size_t i);

}  // namespace gaussweep::io
