#pragma once
/// What each rank has, and which backend follows from it.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/link.hpp"
#include "kernels/core/enums.hpp"

namespace gaussweep::driver {

/// What this rank has: its host, and the GPU it will own (the only one it sees, else the one of its local
/// rank): {host, node, uuid, index, capability, why, warnings, host_row, driver?}; `why` says why `uuid` is
/// empty. `backend`: as the user wants it; GPUs are asked for only where it may be cuda. Does not throw where
/// a GPU fails.
nlohmann::json rank_facts(const World& world, const std::string& backend);

/// Whether a rank's facts name a GPU.
bool has_gpu(const nlohmann::json& rank);

/// Which backend the sweep runs on. With `resume`, ranks may lack a GPU as long as one has it: they retire.
/// @throws UsageError where the ranks cannot have what is wanted
Backend choose_backend(const std::string& wanted, const std::vector<nlohmann::json>& ranks, bool resume);

}  // namespace gaussweep::driver
