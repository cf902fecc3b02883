#pragma once
/// The status of a finished trial, as an enum and as its name in records and plans.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gaussweep::io {

/// In the order of io/SCHEMA.md: pass, then increasingly bad, except for `skipped`.
enum class Status { pass, suspect, failed, diverged, skipped, timeout, crashed, oom, error };

/// Returns the name of a status.
const char* name_of(Status status);
/// Returns the status with this name; nothing if there is none.
std::optional<Status> status_named(std::string_view name);
/// Returns all names in the order of the enum.
const std::vector<std::string>& status_names();

/// Compare a name with a status. A record keeps the name, because a later version may have a status that is
/// unknown here.
inline bool operator==(std::string_view name, Status status) {
  return name == name_of(status);
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
