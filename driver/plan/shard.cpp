/// Splits the trials of a plan into shards by their keys.

#include "driver/plan/shard.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <regex>

#include "driver/base/errors.hpp"

namespace gaussweep::driver {
namespace {

std::string key_of_first_round(const Trial& trial) {
  if (trial.round == 1) return trial.key;
  Trial first = trial;
  first.round = 1;
  return trial_key(first);
}

}  // namespace

std::optional<Shard> read_shard(const std::string& text) {
  static const std::regex form(R"((\d{1,6})/(\d{1,6}))");
  std::smatch match;
  if (!std::regex_match(text, match, form)) return std::nullopt;
  const Shard shard{std::stoll(match[1]), std::stoll(match[2])};
  if (shard.number < 1 || shard.number > shard.count) return std::nullopt;
  return shard;
}

Shard parse_shard(const std::string& text) {
  if (const std::optional<Shard> shard = read_shard(text)) return *shard;
  throw UsageError(fmt::format("--shard {}: give I/N with 1 <= I <= N, e.g. 2/4", text));
}

bool in_shard(const std::string& key, const Shard& shard) {
  // The first 15 hexadecimal digits of the key determine the shard, because they fit into `value`. An empty
  // key counts as 0.
  constexpr std::size_t digits = 15;
  std::uint64_t value = 0;
  std::from_chars(key.data(), key.data() + std::min(key.size(), digits), value, 16);
  return static_cast<std::int64_t>(value % static_cast<std::uint64_t>(shard.count)) == shard.number - 1;
}

std::vector<Trial> shard_of(std::vector<Trial> trials, const Shard& shard) {
  if (shard.count == 1) return trials;
  std::vector<Trial> selected;
  for (Trial& trial : trials) {
    if (in_shard(key_of_first_round(trial), shard)) selected.push_back(std::move(trial));
  }
  return selected;
}

}  // namespace gaussweep::driver
