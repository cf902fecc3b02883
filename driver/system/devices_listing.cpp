/// Lists the GPUs and the CPU of this machine, for `gaussweep devices` and for the ranks of `gaussweep run`.

#include "driver/system/devices_listing.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "kernels/device/device_facts.hpp"

namespace gaussweep::driver {

namespace {

using Json = nlohmann::ordered_json;

// If MIG (Multi-Instance GPU) is on, CUDA reports the UUID of a MIG device, and NVML that of the whole GPU. A
// device that CUDA reports and NVML does not list is therefore a MIG device.
void add_setup_warnings(GpuFacts& gpu, const std::vector<GpuSetup>& setups) {
  const auto same = [&](const GpuSetup& setup) { return setup.uuid == gpu.info.uuid; };
  const auto setup = std::find_if(setups.begin(), setups.end(), same);
  if (setup != setups.end()) {
    gpu.is_mig = setup->mig.value_or(false);
    for (std::string& warning : setup_warnings(*setup)) gpu.warnings.push_back(std::move(warning));
    return;
  }
  const auto has_mig = [](const GpuSetup& s) { return s.mig.value_or(false); };
  if (std::any_of(setups.begin(), setups.end(), has_mig)) {
    gpu.is_mig = true;
    gpu.warnings.emplace_back("MIG is on: this is a part of a GPU");
  }
  if (!gpu.info.ecc) gpu.warnings.emplace_back("ECC is off: bit errors in memory go undetected");
}

}  // namespace

io::HostRow host_facts() {
  io::HostRow row;
  row.host = host_name();
  row.cpu = cpu_model();
  row.cores = usable_cpus();
  row.memory_bytes = total_memory_bytes();
  row.os = operating_system();
  return row;
}

MachineFacts machine_facts(GpuQuery query) {
  MachineFacts machine;
  machine.host = host_facts();
  // NVML is queried before CUDA; otherwise it would list this process as a user of the GPUs.
  const Nvml nvml;
  machine.driver = nvml.driver_version();
  const std::vector<GpuSetup> setups = nvml.setups();
  const int count = cuda_device_count(&machine.why);
  if (count > 0) machine.why.clear();
  for (int index = 0; index < count; ++index) {
    GpuFacts& gpu = machine.gpus.emplace_back();
    gpu.index = index;
    try {
      gpu.info = query == GpuQuery::with_context ? make_cuda_device(index)->info() : cuda_device_info(index);
      add_setup_warnings(gpu, setups);
    } catch (const std::exception& e) {
      gpu.error = e.what();
    }
  }
  return machine;
}

Json devices_json(const MachineFacts& machine) {
  Json gpus = Json::array();
  for (const GpuFacts& gpu : machine.gpus) {
    Json json;
    json["index"] = gpu.index;
    json["name"] = gpu.info.name;
    json["uuid"] = gpu.info.uuid;
    json["part"] = gpu.is_mig;
    json["capability"] = gpu.info.capability;
    json["multiprocessors"] = gpu.info.multiprocessors;
    json["total_bytes"] = gpu.info.total_bytes;
    json["free_bytes"] = gpu.info.free_bytes > 0 ? Json(gpu.info.free_bytes) : Json(nullptr);
    json["shared_bytes_per_block"] = gpu.info.shared_bytes_per_block;
    json["max_threads_per_block"] = gpu.info.max_threads_per_block;
    json["sm_clock_khz"] = gpu.info.sm_clock_khz;
    json["memory_clock_khz"] = gpu.info.memory_clock_khz;
    json["driver_version"] = gpu.info.driver_version;
    json["runtime_version"] = gpu.info.runtime_version;
    json["ecc"] = gpu.info.ecc;
    json["warnings"] = gpu.warnings;
    json["error"] = gpu.error;
    gpus.push_back(std::move(json));
  }
  Json json;
  json["gpus"] = std::move(gpus);
  json["why"] = machine.why;
  json["driver"] = machine.driver;
  json["host"] = {{"host", machine.host.host},
                  {"cpu", machine.host.cpu},
                  {"cores", machine.host.cores},
                  {"memory_bytes", machine.host.memory_bytes},
                  {"os", machine.host.os}};
  return json;
}

std::string devices_text(const MachineFacts& machine, std::size_t width) {
  Table table;
  table.columns = {{"index", "GPU"},
                   {"name", "NAME"},
                   {"capability", "CAPABILITY"},
                   {"multiprocessors", "SMS"},
                   {"total_bytes", "MEMORY", Style::bytes},
                   {"free_bytes", "FREE", Style::bytes},
                   {"uuid", "UUID"}};
  std::string notes;
  for (const GpuFacts& gpu : machine.gpus) {
    if (!gpu.error.empty()) {
      notes += fmt::format("GPU {} cannot be used: {}\n", gpu.index, gpu.error);
      continue;
    }
    table.rows.push_back(
        {std::int64_t{gpu.index}, gpu.info.name, capability_text(gpu.info.capability),
         std::int64_t{gpu.info.multiprocessors}, static_cast<std::int64_t>(gpu.info.total_bytes),
         gpu.info.free_bytes > 0 ? Cell(static_cast<std::int64_t>(gpu.info.free_bytes)) : Cell(),
         gpu.info.uuid});
    for (const std::string& warning : gpu.warnings)
      notes += fmt::format("warning: GPU {}: {}\n", gpu.index, warning);
  }
  table.droppable = {"free_bytes", "multiprocessors"};
  std::string text = render_text(table, width) + notes;
  if (machine.gpus.empty()) {
    text += fmt::format("No GPU: {}\n", machine.why.empty() ? "the reason is unknown" : machine.why);
  }
  text += fmt::format("CPU: {}, {} core{}, {} memory ({}, {})\n",
                      machine.host.cpu.empty() ? "unknown model" : machine.host.cpu, machine.host.cores,
                      machine.host.cores == 1 ? "" : "s",
                      bytes_text(static_cast<double>(machine.host.memory_bytes)), machine.host.host,
                      machine.host.os);
  return text;
}

}  // namespace gaussweep::driver
