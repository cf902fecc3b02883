#pragma once
/// Splits the trials of a plan into shards, one per run, by their keys (trial_key, a hash).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// Shard `number` (from 1) of `count`.
struct Shard {
  std::int64_t number = 1, count = 1;
};

/// Reads "I/N" with 1 <= I <= N; returns nothing for any other text.
std::optional<Shard> read_shard(const std::string& text);
/// Reads the value of the option --shard. @throws UsageError for any other text
Shard parse_shard(const std::string& text);
/// Returns true if a trial belongs to the shard. Only the key decides. Shards therefore need no coordination,
/// and adding a trial to the plan does not move other trials to another shard.
/// @param key the key of the trial's first round (repetition)
bool in_shard(const std::string& key, const Shard& shard);

/// Returns the trials of a shard, each with all of its rounds.
std::vector<Trial> shard_of(std::vector<Trial> trials, const Shard& shard);

}  // namespace gaussweep::driver
