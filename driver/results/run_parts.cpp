/// Counts the planned trials of runs, and finds shards and run directories without records.

#include "driver/results/run_parts.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "driver/base/printable.hpp"
#include "driver/plan/shard.hpp"
#include "driver/results/journal_results.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* shard_name = "shard {} of {}";

/// Reads "shard 3 of 4" or "shard-3-of-4".
std::optional<Shard> parse_shard_with_any_separator(const std::string& name) {
  const std::optional<Shard> shard = parse_shard_name(name, '-');
  return shard ? shard : parse_shard_name(name, ' ');
}

/// Returns a whole number from 0; -1 for any other text.
std::int64_t read_count(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() < 15 && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(text) : -1;
}

}  // namespace

std::optional<Shard> parse_shard_name(const std::string& name, char separator) {
  const std::string format = fmt::format("shard{0}%lld{0}of{0}%lld%n", separator);
  long long number = 0, count = 0;
  int end = 0;
  if (std::sscanf(name.c_str(), format.c_str(), &number, &count, &end) != 2 ||
      static_cast<std::size_t>(end) != name.size())
    return std::nullopt;
  return read_shard(fmt::format("{}/{}", number, count));
}

std::vector<Shard> shards_in(const io::Results& results) {
  std::vector<Shard> shards;
  std::istringstream words(attribute(results, "shard"));
  for (std::string word; std::getline(words >> std::ws, word, ',');) {
    if (const std::optional<Shard> shard = read_shard(word)) shards.push_back(*shard);
  }
  return shards;
}

void RunParts::add(const std::filesystem::path& path, const io::Results& results) {
  const std::int64_t total = expected_records(results);
  const auto records = static_cast<std::int64_t>(results.records.size());
  const std::vector<std::string> listed = listed_without_records(results);
  bool is_sharded = false;
  for (const Shard& shard : shards_in(results)) {
    if (shard.count == 1) continue;
    Shards& group = shards_[shard.count];
    ++group.run_counts[shard.number];
    const bool is_listed = std::find(listed.begin(), listed.end(),
                                     fmt::format(shard_name, shard.number, shard.count)) != listed.end();
    if (!is_listed && (records > 0 || total == 0)) group.with_records.insert(shard.number);
    group.plan_trials.insert(attribute(results, "plan_trials"));
    if (!is_sharded) group.trials += std::max(total, records);  // once for merged results of several shards
    is_sharded = true;
  }
  for (const std::string& name : listed) {
    if (const std::optional<Shard> shard = parse_shard_with_any_separator(name)) {
      shards_[shard->count].listed.insert(shard->number);
    } else {
      names_.insert(name);
    }
  }
  const bool is_file = path.extension() == ".h5" || path.extension() == ".jsonl";
  if (!is_sharded && records == 0 && total != 0)
    names_.insert((is_file ? path.parent_path() : path).filename().string());
}

void RunParts::add_absent(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (const std::optional<Shard> shard = parse_shard_with_any_separator(name)) {
    shards_[shard->count].listed.insert(shard->number);
  } else {
    names_.insert(name);
  }
}

std::int64_t RunParts::Shards::unstarted() const {
  const bool overlaps =
      std::any_of(run_counts.begin(), run_counts.end(), [](const auto& shard) { return shard.second > 1; });
  const std::int64_t plan = plan_trials.size() == 1 ? read_count(*plan_trials.begin()) : -1;
  return plan < 0 || overlaps ? 0 : plan - trials;
}

std::int64_t RunParts::unstarted() const {
  std::int64_t sum = 0;
  for (const auto& [count, shards] : shards_) sum += shards.unstarted();
  return sum;
}

std::vector<std::string> RunParts::without_records() const {
  constexpr std::int64_t max_shards = 100'000;
  std::vector<std::string> names;
  for (const auto& [count, shards] : shards_) {
    const bool are_complete = shards.plan_trials.count("") == 0 && shards.unstarted() == 0;
    for (std::int64_t number = 1; number <= std::min(count, max_shards); ++number) {
      if (shards.with_records.count(number) > 0) continue;
      // A shard that has not started may have no trials.
      const bool is_known = shards.run_counts.count(number) + shards.listed.count(number) > 0;
      if (is_known || !are_complete) names.push_back(fmt::format(shard_name, number, count));
    }
  }
  names.insert(names.end(), names_.begin(), names_.end());
  return names;
}

std::int64_t expected_records(const io::Results& results) {
  return read_count(attribute(results, "total"));
}

std::vector<std::string> listed_without_records(const io::Results& results) {
  std::vector<std::string> names;
  const nlohmann::json list =
      nlohmann::json::parse(attribute(results, "without_records"), nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return names;
  for (const nlohmann::json& name : list) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

std::string without_records_text(const std::vector<std::string>& names) {
  constexpr std::size_t max_named = 3;
  if (names.empty()) return {};
  const std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), max_named));
  return one_line_printable(fmt::format(
      "no records from {}{}", fmt::join(shown, ", "),
      names.size() > max_named ? fmt::format(" and {} more", names.size() - max_named) : std::string()));
}

}  // namespace gaussweep::driver
