/// Finds the hardware of each rank, and the backend that follows from it.

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
constexpr double devices_timeout = 300;  // seconds

/// Returns the index of this rank's GPU or MIG device among the `count` visible ones: the local rank, but 0
/// if there is only one.
std::size_t index_of_rank(std::size_t count, int local_rank) {
  return count == 1 ? 0 : static_cast<std::size_t>(local_rank);
}

/// Returns true if the option --backend allows GPUs.
bool may_be_cuda(const std::string& backend) {
  return backend == "auto" || backend == "cuda";
}

/// Returns the MIG devices (parts of GPUs: NVIDIA's Multi-Instance GPU) that this process may use.
std::vector<std::string> own_mig_devices() {
  return visible_mig_devices(environment_value("CUDA_VISIBLE_DEVICES"));
}

/// Starts a child that lists the given MIG device, or all devices if `mig_device` is empty.
std::future<std::string> start_listing(const std::string& mig_device) {
  std::vector<std::string> changes{"OPENBLAS_NUM_THREADS=1"};  // the child computes nothing
  if (!mig_device.empty()) changes.push_back("CUDA_VISIBLE_DEVICES=" + mig_device);
  return std::async(std::launch::async, [environment = child_environment(changes)] {
    // --untouched: creates no CUDA context. --parent: the child ends with this process.
    return captured_output(
        {"devices", "--untouched", "--format", "json", "--parent", std::to_string(::getpid())}, environment,
        devices_timeout);
  });
}

/// Returns a text such as "4 ranks but 2 GPUs on node7". @param what such as "GPUs"
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
  const std::vector<std::string> mig_devices = own_mig_devices();
  if (!may_be_cuda(backend) || mig_devices.size() > 1) return std::nullopt;
  return start_listing(mig_devices.empty() ? "" : mig_devices.front());
}

RankFacts rank_facts(const World& world, const std::string& backend, PendingListing listing, int gpus) {
  RankFacts facts;
  facts.host = host_facts();
  facts.host.blas_threads = worker_threads(world);
  if (!may_be_cuda(backend)) return facts;
  const std::vector<std::string> mig_devices = own_mig_devices();
  const std::size_t index = index_of_rank(mig_devices.size(), world.local_rank());
  if (!mig_devices.empty() && index >= mig_devices.size()) {
    facts.gpu.missing_because =
        too_few_devices(world.local_size(), mig_devices.size(), "parts of GPUs", facts.host.host);
    return facts;
  }
  const std::string mig_device = mig_devices.empty() ? "" : mig_devices[index];
  try {
    if (!listing) listing = start_listing(mig_device);
    const json devices = json::parse(listing->get());
    facts.gpu =
        gpu_of_rank(devices, world.local_rank(), world.local_size(), facts.host.host, mig_device, gpus);
    if (!mig_device.empty()) facts.gpu.index = static_cast<std::int64_t>(index);
  } catch (const std::exception& e) {
    facts.gpu = {};
    facts.gpu.missing_because =
        e.what();  // rank 0 waits for the facts of all ranks and decides if the failure matters
  }
  return facts;
}

RankGpu gpu_of_rank(const json& devices, int local_rank, int local_size, const std::string& host,
                    const std::string& mig_device, int count) {
  const json& gpus = devices.at("gpus");
  const auto no_gpu = [](const std::string& why) {
    RankGpu gpu;
    gpu.missing_because = why;
    return gpu;
  };
  if (gpus.empty()) {
    const std::string suffix = mig_device.empty() ? "" : " (" + mig_device + ")";
    return no_gpu(devices.value("why", "no GPU") + suffix);
  }
  const auto per_rank = static_cast<std::size_t>(count);
  const std::size_t index = gpus.size() == per_rank ? 0 : index_of_rank(gpus.size(), local_rank) * per_rank;
  if (index + per_rank > gpus.size()) {
    if (per_rank == 1) return no_gpu(too_few_devices(local_size, gpus.size(), "GPUs", host));
    return no_gpu(
        fmt::format("{} ranks of {} GPUs but {} GPUs on {}", local_size, per_rank, gpus.size(), host));
  }
  RankGpu gpu;
  for (std::size_t each = index; each < index + per_rank; ++each) {
    const std::string error = gpus[each].value("error", "");
    if (!error.empty()) return no_gpu(fmt::format("GPU {} of {}: {}", each, host, error));
    if (each > index) gpu.further.push_back(gpus[each].at("uuid"));
  }
  const json& device = gpus[index];
  gpu.uuid = mig_device.empty() ? device.at("uuid").get<std::string>() : mig_device;
  // A container may show one MIG device without naming it in the environment; then `visible` stays empty.
  const bool is_unnamed_mig = mig_device.empty() && device.value("part", false);
  gpu.visible = is_unnamed_mig ? "" : gpu.uuid;
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
    return fmt::format("rank {} on {}: {}", rank, ranks[rank].host.host, ranks[rank].gpu.missing_because);
  }
  return "";
}

Backend choose_backend(const std::string& wanted, const std::vector<RankFacts>& ranks, bool resume) {
  if (wanted == "emulated") return Backend::emulated;
  if (wanted == "host") return Backend::host;
  std::size_t with_gpu = 0;
  std::set<std::string> used_gpus;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankFacts& facts = ranks[rank];
    if (!facts.gpu.exists()) continue;
    ++with_gpu;
    std::vector<std::string> uuids = facts.gpu.further;
    uuids.push_back(facts.gpu.uuid);
    for (const std::string& uuid : uuids) {
      const std::string gpu = facts.host.host + " " + uuid;
      if (used_gpus.insert(gpu).second) continue;
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
