#include "driver/sweep/rank_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/records/origin_rows.hpp"
#include "driver/system/batch_job.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/devices_listing.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/process.hpp"
#include "driver/system/visible_devices.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

// On a node of eight GPUs whose driver was not loaded it takes a minute until the first process is answered.
constexpr double devices_timeout = 300;

std::string text(const json& rank, const char* name) {
  return rank.at(name).get<std::string>();
}

/// Which of the GPUs, or parts of them, that a rank sees is its own: the only one, else that of its local
/// rank.
std::size_t own_of(std::size_t there, int local_rank) {
  return there == 1 ? 0 : static_cast<std::size_t>(local_rank);
}

std::string too_few(int ranks, std::size_t there, const char* what, const std::string& host) {
  return fmt::format("{} ranks but {} {} on {}", ranks, there, what, host);
}

}  // namespace

int worker_threads(const World& world) {
  const int cpus = usable_cpus();
  const bool bound = cpus < static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, bound ? cpus : cpus / world.local_size());
}

json rank_facts(const World& world, const std::string& backend) {
  io::HostRow host = host_facts();
  host.blas_threads = worker_threads(world);
  json mine = {{"host", host_name()},
               {"node", batch_job().node},
               {"uuid", ""},
               {"visible", ""},
               {"index", -1},
               {"capability", 0},
               {"why", ""},
               {"warnings", json::array()},
               {"host_row", to_json(host)}};
  if (backend != "auto" && backend != "cuda") return mine;
  const std::vector<std::string> parts = visible_parts(environment_value("CUDA_VISIBLE_DEVICES"));
  const std::size_t own = own_of(parts.size(), world.local_rank());
  if (!parts.empty() && own >= parts.size()) {
    mine["why"] = too_few(world.local_size(), parts.size(), "parts of GPUs", host_name());
    return mine;
  }
  const std::string part = parts.empty() ? "" : parts[own];
  std::vector<std::string> changes{"OPENBLAS_NUM_THREADS=1"};  // it computes nothing
  if (!part.empty()) changes.push_back("CUDA_VISIBLE_DEVICES=" + part);
  try {
    const json devices = json::parse(
        capture_self({"devices", "--untouched", "--format", "json", "--parent", std::to_string(::getpid())},
                     child_environment(changes), devices_timeout));
    mine.update(gpu_of_rank(devices, world.local_rank(), world.local_size(), host_name(), part));
    if (!part.empty()) mine["index"] = own;
  } catch (const std::exception& e) {
    mine["why"] = e.what();  // the other ranks wait for this one's facts: rank 0 decides what they are worth
  }
  return mine;
}

json gpu_of_rank(const json& devices, int local_rank, int local_size, const std::string& host,
                 const std::string& part) {
  const json& gpus = devices.at("gpus");
  const auto why = [](const std::string& words) { return json{{"why", words}}; };
  if (gpus.empty()) return why(devices.value("why", "no GPU") + (part.empty() ? "" : " (" + part + ")"));
  const std::size_t index = own_of(gpus.size(), local_rank);
  if (index >= gpus.size()) return why(too_few(local_size, gpus.size(), "GPUs", host));
  const json& gpu = gpus[index];
  const std::string error = gpu.value("error", "");
  if (!error.empty()) return why(fmt::format("GPU {} of {}: {}", index, host, error));
  // A part that nobody named (a container shows just one) has no name that could be given on.
  const std::string uuid = part.empty() ? gpu.at("uuid").get<std::string>() : part;
  return {{"uuid", uuid},
          {"visible", part.empty() && gpu.value("part", false) ? "" : uuid},
          {"index", gpu.at("index")},
          {"capability", gpu.at("capability")},
          {"warnings", gpu.value("warnings", json::array())},
          {"driver", devices.value("driver", "")}};
}

bool has_gpu(const json& rank) {
  return !text(rank, "uuid").empty();
}

std::string without_gpu(const std::vector<json>& ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (has_gpu(ranks[rank])) continue;
    return fmt::format("rank {} on {}: {}", rank, text(ranks[rank], "host"), text(ranks[rank], "why"));
  }
  return "";
}

Backend choose_backend(const std::string& wanted, const std::vector<json>& ranks, bool resume) {
  if (wanted == "emulated") return Backend::emulated;
  if (wanted == "host") return Backend::host;
  std::size_t with_gpu = 0;
  std::set<std::string> seen;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const json& facts = ranks[rank];
    if (!has_gpu(facts)) continue;
    ++with_gpu;
    const std::string place = text(facts, "host") + " " + text(facts, "uuid");
    if (!seen.insert(place).second) {
      throw UsageError(
          fmt::format("rank {} would share GPU {} with another rank: give every rank one GPU of its own "
                      "(CUDA_VISIBLE_DEVICES, --gpus-per-task), or start fewer ranks",
                      rank, place));
    }
  }
  if (with_gpu == 0 && wanted == "auto") return Backend::emulated;
  // A night's job that is started again must not stand still because a GPU died: its rank retires.
  if (with_gpu == ranks.size() || (with_gpu > 0 && resume)) return Backend::cuda;
  throw UsageError(
      fmt::format("--backend {}: every rank needs a GPU of its own, but {}. Start as many ranks as there "
                  "are GPUs, or give --backend emulated or host",
                  wanted, without_gpu(ranks)));
}

}  // namespace gaussweep::driver
