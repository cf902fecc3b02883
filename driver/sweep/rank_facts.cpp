#include "driver/sweep/rank_facts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/system/blas.hpp"
#include "driver/system/devices_listing.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/process.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

// On a node with eight GPUs whose driver is not loaded, the first query takes about a minute.
constexpr double devices_timeout = 300;

/// Returns the index of this rank's GPU or MIG part among `count` visible ones: 0 if there is only one.
std::size_t own_index(std::size_t count, int local_rank) {
  return count == 1 ? 0 : static_cast<std::size_t>(local_rank);
}

bool may_be_cuda(const std::string& backend) {
  return backend == "auto" || backend == "cuda";
}

std::vector<std::string> visible_mig_parts() {
  return visible_parts(environment_value("CUDA_VISIBLE_DEVICES"));
}

/// Starts a child that lists the devices in `part`; all devices if `part` is empty.
std::future<std::string> listing_of(const std::string& part) {
  std::vector<std::string> changes{"OPENBLAS_NUM_THREADS=1"};  // the child computes nothing
  if (!part.empty()) changes.push_back("CUDA_VISIBLE_DEVICES=" + part);
  return std::async(std::launch::async, [environment = child_environment(changes)] {
    return captured_output(
        {"devices", "--untouched", "--format", "json", "--parent", std::to_string(::getpid())}, environment,
        devices_timeout);
  });
}

std::string too_few_devices(int ranks, std::size_t count, const char* what, const std::string& host) {
  return fmt::format("{} ranks but {} {} on {}", ranks, count, what, host);
}

}  // namespace

int worker_threads(const World& world) {
  const int share = std::max(1, usable_cpus() / world.cpu_parts());
  const int requested = requested_threads().threads;
  return requested > 0 ? std::min(requested, share) : share;
}

PendingListing start_device_listing(const std::string& backend) {
  const std::vector<std::string> parts = visible_mig_parts();
  if (!may_be_cuda(backend) || parts.size() > 1) return std::nullopt;
  return listing_of(parts.empty() ? "" : parts.front());
}

RankFacts rank_facts(const World& world, const std::string& backend, PendingListing listing, int gpus) {
  RankFacts mine;
  mine.host = host_facts();
  mine.host.blas_threads = worker_threads(world);
  if (!may_be_cuda(backend)) return mine;
  const std::vector<std::string> parts = visible_mig_parts();
  const std::size_t own = own_index(parts.size(), world.local_rank());
  if (!parts.empty() && own >= parts.size()) {
    mine.gpu.why = too_few_devices(world.local_size(), parts.size(), "parts of GPUs", mine.host.host);
    return mine;
  }
  const std::string part = parts.empty() ? "" : parts[own];
  try {
    if (!listing) listing = listing_of(part);
    const json devices = json::parse(listing->get());
    mine.gpu = gpu_of_rank(devices, world.local_rank(), world.local_size(), mine.host.host, part, gpus);
    if (!part.empty()) mine.gpu.index = static_cast<std::int64_t>(own);
  } catch (const std::exception& e) {
    mine.gpu = {};
    mine.gpu.why = e.what();  // rank 0 waits for the facts of all ranks and decides if the failure matters
  }
  return mine;
}

RankGpu gpu_of_rank(const json& devices, int local_rank, int local_size, const std::string& host,
                    const std::string& part, int count) {
  const json& gpus = devices.at("gpus");
  const auto none = [](const std::string& why) {
    RankGpu gpu;
    gpu.why = why;
    return gpu;
  };
  if (gpus.empty()) return none(devices.value("why", "no GPU") + (part.empty() ? "" : " (" + part + ")"));
  const auto own = static_cast<std::size_t>(count);
  const std::size_t index = gpus.size() == own ? 0 : own_index(gpus.size(), local_rank) * own;
  if (index + own > gpus.size()) {
    if (own == 1) return none(too_few_devices(local_size, gpus.size(), "GPUs", host));
    return none(fmt::format("{} ranks of {} GPUs but {} GPUs on {}", local_size, own, gpus.size(), host));
  }
  RankGpu gpu;
  for (std::size_t each = index; each < index + own; ++each) {
    const std::string error = gpus[each].value("error", "");
    if (!error.empty()) return none(fmt::format("GPU {} of {}: {}", each, host, error));
    if (each > index) gpu.further.push_back(gpus[each].at("uuid"));
  }
  const json& device = gpus[index];
  // A container may show one MIG part without naming it in the environment; then there is no name to pass on.
  gpu.uuid = part.empty() ? device.at("uuid").get<std::string>() : part;
  gpu.visible = part.empty() && device.value("part", false) ? "" : gpu.uuid;
  if (!gpu.visible.empty()) {
    for (const std::string& uuid : gpu.further) gpu.visible += "," + uuid;
  }
  gpu.index = device.at("index");
  gpu.name = device.value("name", "");
  gpu.capability = device.at("capability");
  gpu.warnings = device.value("warnings", std::vector<std::string>());
  gpu.driver = devices.value("driver", "");
  return gpu;
}

std::string without_gpu(const std::vector<RankFacts>& ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].gpu.exists()) continue;
    return fmt::format("rank {} on {}: {}", rank, ranks[rank].host.host, ranks[rank].gpu.why);
  }
  return "";
}

Backend choose_backend(const std::string& wanted, const std::vector<RankFacts>& ranks, bool resume) {
  if (wanted == "emulated") return Backend::emulated;
  if (wanted == "host") return Backend::host;
  std::size_t with_gpu = 0;
  std::set<std::string> seen;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankFacts& facts = ranks[rank];
    if (!facts.gpu.exists()) continue;
    ++with_gpu;
    std::vector<std::string> uuids = facts.gpu.further;
    uuids.push_back(facts.gpu.uuid);
    for (const std::string& uuid : uuids) {
      const std::string gpu = facts.host.host + " " + uuid;
      if (seen.insert(gpu).second) continue;
      throw UsageError(
          fmt::format("rank {} would share GPU {} with another rank: give every rank GPUs of its own "
                      "(CUDA_VISIBLE_DEVICES, --gpus-per-task), or start fewer ranks",
                      rank, gpu));
    }
  }
  if (with_gpu == 0 && wanted == "auto") return Backend::emulated;
  // A resumed job must continue if one of its GPUs has died: the rank of that GPU retires.
  if (with_gpu == ranks.size() || (with_gpu > 0 && resume)) return Backend::cuda;
  throw UsageError(
      fmt::format("--backend {}: every rank needs a GPU of its own, but {}. Start as many ranks as there "
                  "are GPUs, or give --backend emulated or host",
                  wanted, without_gpu(ranks)));
}

}  // namespace gaussweep::driver
