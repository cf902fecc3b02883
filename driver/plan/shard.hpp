#pragma once
/// Shards of a plan: which trials are whose, by their keys alone.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// Number `number` (from 1) of `count`.
struct Shard {
  std::int64_t number = 1, count = 1;
};

/// "I/N" with 1 <= I <= N; nothing where it is not.
std::optional<Shard> read_shard(const std::string& text);
/// Whether the trial with this key is the shard's: it needs no coordination, and does not change when other
/// trials are added to the plan.
bool in_shard(const std::string& key, const Shard& shard);

/// The part of the trials that a shard does.
std::vector<Trial> shard_of(std::vector<Trial> trials, const Shard& shard);

}  // namespace gaussweep::driver
