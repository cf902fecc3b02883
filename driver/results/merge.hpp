#pragma once
/// Merges the records (results of trials) of several files, such as those of shards, machines or
/// architectures. Merging a single journal rebuilds its results.h5.

#include <filesystem>
#include <string>
#include <vector>

#include "driver/results/loading.hpp"

namespace gaussweep::driver {

/// One input of a merge.
struct MergeInput {
  std::string path;
  std::int64_t records = 0;    ///< number of records of the input
  std::int64_t dropped = 0;    ///< number of these records that are not kept
  std::int64_t expected = -1;  ///< number of trials of the input's plan or shard; -1: unknown
};

/// The result of a merge.
struct Merged {
  io::Results results;
  std::vector<MergeInput> inputs;
  std::vector<std::string> remarks;
};

/// Merges loaded records in the given order. Records with equal key, run id, GPU model, capability and commit
/// are of the same trial; the record that started last is kept. Devices and hosts are listed once. Attributes
/// with equal values in all inputs are kept. Different values of an attribute are joined by ", ". The plan's
/// text is that of the first input. The attribute "merged_from" lists the inputs, "total" is the number of
/// planned trials, and "without_records" lists shards and run directories without records.
/// @param absent paths of runs that do not exist
/// @param force also merges results of differently named plans
/// @throws io::InputError if the plans' names differ
Merged merge(std::vector<Loaded> inputs, bool force, const std::vector<std::filesystem::path>& absent = {});

}  // namespace gaussweep::driver
