#pragma once
/// How a trial ended, as a type and as the word that records and plans have.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gaussweep::io {

/// In the order of the contract (io/SCHEMA.md): pass first, then ever worse, with `skipped` between.
enum class Status { pass, suspect, failed, diverged, skipped, timeout, crashed, oom, error };

/// The word of a status.
const char* word(Status status);
/// The status of a word; nothing where there is none of that name.
std::optional<Status> status_named(std::string_view name);
/// All words, in the order of the enum.
const std::vector<std::string>& status_words();

/// A record says its status by a word, which may be one that a later version knows and this one does not.
inline bool operator==(std::string_view name, Status status) {
  return name == word(status);
}
inline bool operator==(Status status, std::string_view name) {
  return name == status;
}
inline bool operator!=(std::string_view name, Status status) {
  return !(name == status);
}
inline bool operator!=(Status status, std::string_view name) {
  return !(name == status);
}

}  // namespace gaussweep::io
