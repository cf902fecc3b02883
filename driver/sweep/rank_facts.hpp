#pragma once
/// What each rank has, and which backend follows from it.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/sweep/world.hpp"
#include "kernels/core/enums.hpp"

namespace gaussweep::driver {

/// What this rank has: its host, and the GPU it will own (the only one it sees, else the one of its local
/// rank): {host, node, uuid, visible, index, capability, why, warnings, host_row, driver?}; `visible` is what
/// CUDA_VISIBLE_DEVICES must say for it (empty: what it says already), `why` says why `uuid` is empty.
/// `backend`: as the user wants it; GPUs are asked for only where it may be cuda. GPUs are not touched: one
/// that is full or in exclusive use is for its worker to wait for. Does not throw where a GPU fails.
nlohmann::json rank_facts(const World& world, const std::string& backend);

/// How many threads OpenBLAS has in each worker: the cores of this process, shared with the other ranks of
/// its host where they are not bound to cores of their own.
int worker_threads(const World& world);

/// Of `devices_json`, what a rank takes. `part`: the name of the part that was made visible, or empty.
/// @return {uuid, visible, index, capability, warnings, driver}, or {why}
nlohmann::json gpu_of_rank(const nlohmann::json& devices, int local_rank, int local_size,
                           const std::string& host, const std::string& part);

/// Whether a rank's facts name a GPU.
bool has_gpu(const nlohmann::json& rank);

/// The first rank that has no GPU, and why: "rank 1 on n2: no NVIDIA driver is loaded"; empty where all have
/// one.
std::string without_gpu(const std::vector<nlohmann::json>& ranks);

/// Which backend the sweep runs on. With `resume`, ranks may lack a GPU as long as one has it: they retire.
/// @throws UsageError where the ranks cannot have what is wanted
Backend choose_backend(const std::string& wanted, const std::vector<nlohmann::json>& ranks, bool resume);

}  // namespace gaussweep::driver
