#pragma once
/// Immutable text of a record with reference-counted storage.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gaussweep::io {

/// A view of text whose storage is shared by all copies. A million records contain few different names of
/// methods, GPUs and matrices, so copies cost only 16 bytes each. Threads may copy and destroy copies of the
/// same text concurrently.
class Text : public std::string_view {
 public:
  Text() noexcept = default;
  Text(std::string_view text);
  Text(const std::string& text) : Text(std::string_view(text)) {}
  Text(const char* text) : Text(std::string_view(text)) {}
  Text(const Text& other) noexcept;
  Text(Text&& other) noexcept;
  Text& operator=(Text other) noexcept;
  ~Text();
  operator std::string() const { return std::string(data(), size()); }
  Text& operator+=(std::string_view more) { return *this = std::string(*this).append(more); }
  void clear() { *this = Text(); }
  // These functions of string_view would change the pointer from which the reference count is found.
  void remove_prefix(size_type) = delete;
  void remove_suffix(size_type) = delete;
  void swap(std::string_view&) = delete;
};

inline std::string operator+(std::string before, const Text& text) {
  return before.append(text);
}
inline std::string operator+(const Text& text, const char* after) {
  return std::string(text) + after;
}

/// Gives equal texts the same storage. A cache of fixed size keeps recent texts; `of` returns a copy of the
/// cached text that equals its argument, and otherwise a new text, which it adds to the cache.
class TextPool {
 public:
  Text of(std::string_view text);

 private:
  std::vector<Text> slots_ = std::vector<Text>(4096);  // two slots per hash, the most recent text first
};

}  // namespace gaussweep::io
