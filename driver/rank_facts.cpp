#include "driver/rank_facts.hpp"

#include <set>

#include <fmt/format.h>

#include "driver/batch_job.hpp"
#include "driver/cli.hpp"
#include "driver/devices_listing.hpp"
#include "driver/machine.hpp"
#include "driver/process.hpp"
#include "driver/worker.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr double devices_timeout = 120;

std::string text(const json& rank, const char* name) {
  return rank.at(name).get<std::string>();
}

}  // namespace

json rank_facts(const World& world, const std::string& backend) {
  json mine = {{"host", host_name()},
               {"node", batch_job().node},
               {"uuid", ""},
               {"index", -1},
               {"capability", 0},
               {"why", ""},
               {"warnings", json::array()},
               {"host_row", to_json(host_facts())}};
  if (backend != "auto" && backend != "cuda") return mine;
  json devices;
  try {
    devices =
        json::parse(capture_self({"devices", "--format", "json"}, child_environment({}), devices_timeout));
  } catch (const std::exception& e) {
    mine["why"] = e.what();  // the other ranks wait for this one's facts: rank 0 decides what they are worth
    return mine;
  }
  const json& gpus = devices.at("gpus");
  if (gpus.empty()) {
    mine["why"] = devices.value("why", "no GPU");
    return mine;
  }
  const std::size_t index = gpus.size() == 1 ? 0 : static_cast<std::size_t>(world.local_rank());
  if (index >= gpus.size()) {
    mine["why"] = fmt::format("{} ranks but {} GPUs on {}", world.local_size(), gpus.size(), host_name());
    return mine;
  }
  const json& gpu = gpus[index];
  const std::string error = gpu.value("error", "");
  if (!error.empty()) {
    mine["why"] = fmt::format("GPU {} of {}: {}", index, host_name(), error);
    return mine;
  }
  mine["uuid"] = gpu.at("uuid");
  mine["index"] = gpu.at("index");
  mine["capability"] = gpu.at("capability");
  mine["warnings"] = gpu.value("warnings", json::array());
  mine["driver"] = devices.value("driver", "");
  return mine;
}

bool has_gpu(const json& rank) {
  return !text(rank, "uuid").empty();
}

Backend choose_backend(const std::string& wanted, const std::vector<json>& ranks, bool resume) {
  if (wanted == "emulated") return Backend::emulated;
  if (wanted == "host") return Backend::host;
  std::size_t with_gpu = 0;
  std::string without;
  std::set<std::string> seen;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const json& facts = ranks[rank];
    if (!has_gpu(facts)) {
      if (without.empty())
        without = fmt::format("rank {} on {}: {}", rank, text(facts, "host"), text(facts, "why"));
      continue;
    }
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
                  wanted, without));
}

}  // namespace gaussweep::driver
