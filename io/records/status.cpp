/// Converts the status of a finished trial between the enum and its name in records and plans.

#include "io/records/status.hpp"

#include <stdexcept>
#include <utility>

namespace gaussweep::io {
namespace {

constexpr std::pair<Status, const char*> table[] = {
    {Status::pass, "pass"},         {Status::suspect, "suspect"}, {Status::failed, "failed"},
    {Status::diverged, "diverged"}, {Status::skipped, "skipped"}, {Status::timeout, "timeout"},
    {Status::crashed, "crashed"},   {Status::oom, "oom"},         {Status::error, "error"}};

}  // namespace

const char* name_of(Status status) {
  for (const auto& [value, name] : table) {
    if (value == status) return name;
  }
  throw std::logic_error("a status without a name");
}

std::optional<Status> status_named(std::string_view name) {
  for (const auto& [value, status_name] : table) {
    if (name == status_name) return value;
  }
  return std::nullopt;
}

const std::vector<std::string>& status_names() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (const auto& [value, name] : table) all.emplace_back(name);
    return all;
  }();
  return words;
}

}  // namespace gaussweep::io
