#pragma once
/// The hardware of each rank, and the backend (GPU, CPU or emulated GPU) that follows from it.

#include <cstdint>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/json_conversions.hpp"
#include "driver/sweep/world.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The GPU that a rank will use: the only visible GPU, otherwise the one whose index is the local rank. The
/// local rank is the rank's index among the ranks of its host. A rank with k GPUs uses all visible ones if
/// exactly k are visible, otherwise the k GPUs from index local_rank * k on. The members describe the rank's
/// first GPU.
struct RankGpu {
  std::string uuid;         ///< empty: no GPU
  std::string visible;      ///< the CUDA_VISIBLE_DEVICES that selects it; empty: leave the variable as it is
  std::int64_t index = -1;  ///< index among the visible GPUs or MIG devices; -1: no GPU
  int capability = 0;       ///< compute capability, 90 for 9.0
  std::string missing_because;  ///< the reason if there is no GPU
  std::vector<std::string> warnings;
  std::optional<std::string> driver;   ///< the driver's version, if there is a GPU
  std::string name{};                  ///< the model's name
  std::vector<std::string> further{};  ///< UUIDs of the rank's GPUs after the first one

  bool exists() const { return !uuid.empty(); }
};

/// The hardware of one rank.
struct RankFacts {
  io::HostRow host;
  RankGpu gpu;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankGpu, uuid, visible, index, capability, missing_because, warnings,
                                   driver, name, further)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, host, gpu)

/// The message that rank 0 broadcasts before a sweep.
struct SweepStart {
  bool has_work = false;  ///< false: there is nothing to run, so all ranks end
  Backend backend = Backend::host;
  std::string directory;  ///< the run directory
  std::string run_id;
  /// The run's shared libraries with their methods, from `library_rows`.
  nlohmann::json libraries = nlohmann::json::array();
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SweepStart, has_work, backend, directory, run_id, libraries)

/// The listing of the visible GPUs, which a child process computes while MPI starts. Empty if no GPU is
/// wanted, or if several MIG devices (parts of a GPU) are visible. In that case the local rank selects the
/// MIG device, and it is known only after MPI_Init.
using PendingListing = std::optional<std::future<std::string>>;

/// Starts the child that lists the GPUs, if `backend` (the user's option) is "auto" or "cuda". Call before
/// MPI_Init, which changes the environment.
PendingListing start_device_listing(const std::string& backend);

/// Returns this rank's hardware. Creates no CUDA context, because a GPU may be full or in exclusive use. The
/// worker, the process that runs the rank's trials, waits for such a GPU. Does not throw if a GPU fails.
/// @param listing result of `start_device_listing(backend)`
/// @param gpus number of GPUs per rank
RankFacts rank_facts(const World& world, const std::string& backend, PendingListing listing, int gpus = 1);

/// Returns the number of OpenBLAS threads per worker: the usable CPUs divided by the number of local ranks
/// that share them. Returns fewer if the environment requests fewer.
/// @pre the rank is not bound to its part of the CPUs yet
int worker_threads(const World& world);

/// Selects this rank's GPUs from the listing `devices`.
/// @param mig_device name of the MIG device that the listing's child process could see; empty for whole GPUs
/// @param count number of GPUs per rank
RankGpu gpu_of_rank(const nlohmann::json& devices, int local_rank, int local_size, const std::string& host,
                    const std::string& mig_device, int count = 1);

/// Returns the first rank without a GPU and the reason, such as "rank 1 on n2: no NVIDIA driver is loaded".
/// Returns "" if every rank has a GPU.
std::string without_gpu(const std::vector<RankFacts>& ranks);

/// Returns the backend of the sweep. A resumed sweep runs on GPUs if at least one rank has a GPU; ranks
/// without a GPU then retire, i.e. run no trials.
/// @param wanted the option --backend: "auto" or a backend
/// @throws UsageError if the ranks cannot provide `wanted`
Backend choose_backend(const std::string& wanted, const std::vector<RankFacts>& ranks, bool resume);

}  // namespace gaussweep::driver
