#pragma once
/// Records of several files as one: shards, machines, architectures, and a journal whose results.h5 is to be
/// rebuilt.

#include <string>
#include <vector>

#include "driver/results/loading.hpp"

namespace gaussweep::driver {

struct MergeInput {
  std::string path;
  std::int64_t records = 0, dropped = 0;
  std::int64_t expected = -1;  ///< trials of its plan or shard; -1: not told
};

struct Merged {
  io::Results results;
  std::vector<MergeInput> inputs;
  std::vector<std::string> remarks;
};

/// Joins what was loaded, in that order. Two records are the same only if key, run id, GPU model, capability
/// and commit agree; of those the one that started last is kept. Devices and hosts are listed once. An
/// attribute that all inputs agree on is kept, others are joined by ", "; the plan's text is the first one's;
/// "merged_from" names the inputs.
/// @param force joins results of differently named plans too
/// @throws io::InputError where the inputs do not belong together
Merged merge(std::vector<Loaded> inputs, bool force);

}  // namespace gaussweep::driver
