/// Implements the immutable text of a record, which has reference-counted storage.

#include "io/files/text.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace gaussweep::io {
namespace {

// The shared storage: the reference count, followed by the characters.
using ReferenceCount = std::atomic<std::size_t>;

ReferenceCount* count_of(const char* characters) {
  return std::launder(
      reinterpret_cast<ReferenceCount*>(const_cast<char*>(characters) - sizeof(ReferenceCount)));
}

/// Copies the characters behind a new reference count of 1. @return the characters
const char* allocate_copy(std::string_view text) {
  char* block = static_cast<char*>(::operator new(sizeof(ReferenceCount) + text.size()));
  new (block) ReferenceCount(1);
  std::memcpy(block + sizeof(ReferenceCount), text.data(), text.size());
  return block + sizeof(ReferenceCount);
}

}  // namespace

Text::Text(std::string_view text)
    : std::string_view(text.empty() ? std::string_view()
                                    : std::string_view(allocate_copy(text), text.size())) {}

Text::Text(const Text& other) noexcept : std::string_view(other) {
  if (!empty()) count_of(data())->fetch_add(1, std::memory_order_relaxed);
}

Text::Text(Text&& other) noexcept : std::string_view(other) {
  static_cast<std::string_view&>(other) = {};
}

Text& Text::operator=(Text other) noexcept {
  std::swap(static_cast<std::string_view&>(*this), static_cast<std::string_view&>(other));
  return *this;
}

Text::~Text() {
  if (empty() || count_of(data())->fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  ::operator delete(const_cast<char*>(data()) - sizeof(ReferenceCount));
}

Text TextPool::of(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t pair = std::hash<std::string_view>{}(text) % (slots_.size() / 2);
  Text &first = slots_[2 * pair], &second = slots_[2 * pair + 1];
  // A two-way cache with least-recently-used replacement. A hit in the second slot moves to the first. A miss
  // moves the more recent text to the second slot and replaces the other one.
  if (first != text) std::swap(first, second);
  if (first != text) first = text;
  return first;
}

}  // namespace gaussweep::io
