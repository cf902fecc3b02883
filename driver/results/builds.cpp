#include "driver/results/builds.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <string_view>

#include "io/records/status.hpp"

namespace gaussweep::driver {

std::string mixed_builds(const std::vector<io::Record>& records, const std::string& commit) {
  std::map<std::string_view, std::int64_t> counts;
  for (const io::Record& record : records) {
    if (!record.commit.empty() && record.status != io::Status::skipped) ++counts[record.commit];
  }
  const bool is_new = !commit.empty() && counts.try_emplace(commit).second;
  if (counts.size() < 2) return {};
  std::string list;
  for (const auto& [name, count] : counts) {
    const std::string words = is_new && name == commit ? "this one" : fmt::to_string(count);
    list += fmt::format("{}commit {} ({})", list.empty() ? "" : ", ", name, words);
  }
  return fmt::format("the records are from {} builds: {}", counts.size(), list);
}

}  // namespace gaussweep::driver
