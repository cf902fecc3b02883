#pragma once
/// What each rank has, and which backend follows from it.

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/base/json_words.hpp"
#include "driver/sweep/world.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The GPU that a rank will own: the only one it sees, else the one of its local rank.
struct RankGpu {
  std::string uuid;     ///< empty: there is none
  std::string visible;  ///< what CUDA_VISIBLE_DEVICES must say for it; empty: what it says already
  std::int64_t index = -1;
  int capability = 0;
  std::string why;  ///< why there is none
  std::vector<std::string> warnings;
  std::optional<std::string> driver;  ///< the driver's version, where there is a GPU
  std::string name{};                 ///< the model's

  bool is_there() const { return !uuid.empty(); }
};

/// What a rank has.
struct RankFacts {
  io::HostRow host;
  RankGpu gpu;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankGpu, uuid, visible, index, capability, why, warnings, driver, name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, host, gpu)

/// What the first rank tells the others before a sweep.
struct Decision {
  bool goes_on = false;  ///< false: there is nothing to do for anybody
  Backend backend = Backend::host;
  std::string directory;  ///< the run's
  std::string run_id;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Decision, goes_on, backend, directory, run_id)

/// The listing of the GPUs that this process sees, asked for from a child, which takes as long as MPI takes
/// to start. Nothing where no GPU is asked for, or where the rank's number decides what it is to see.
using AskedDevices = std::optional<std::future<std::string>>;

/// Begins to ask. `backend`: as the user wants it; GPUs are asked for only where it may be cuda. To be called
/// before MPI starts, which changes the environment.
AskedDevices ask_for_devices(const std::string& backend);

/// What this rank has. GPUs are not touched: one that is full or in exclusive use is for its worker to wait
/// for. Does not throw where a GPU fails.
/// @param asked as `ask_for_devices(backend)` began it
RankFacts rank_facts(const World& world, const std::string& backend, AskedDevices asked);

/// How many threads OpenBLAS has in each worker: this rank's part of the CPUs. The rank shares them with
/// those ranks of its host that are not bound to others. @pre the rank is not kept to its share yet
int worker_threads(const World& world);

/// Of `devices_json`, what a rank takes. `part`: the name of the part that was made visible, or empty.
RankGpu gpu_of_rank(const nlohmann::json& devices, int local_rank, int local_size, const std::string& host,
                    const std::string& part);

/// The first rank that has no GPU, and why: "rank 1 on n2: no NVIDIA driver is loaded"; empty where all have
/// one.
std::string without_gpu(const std::vector<RankFacts>& ranks);

/// Which backend the sweep runs on. With `resume`, ranks may lack a GPU as long as one has it: they retire.
/// @throws UsageError where the ranks cannot have what is wanted
Backend choose_backend(const std::string& wanted, const std::vector<RankFacts>& ranks, bool resume);

}  // namespace gaussweep::driver
