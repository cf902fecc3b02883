#pragma once
/// Finds the GPUs and the CPU of this machine, for `gaussweep devices` and for the MPI ranks of `gaussweep
/// run`.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/system/nvml.hpp"
#include "io/records/results.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep::driver {

/// The way to query a GPU. Creating a CUDA context shows if the GPU works and how much memory is free. A
/// context needs GPU memory, and cannot be created if another process uses the GPU in exclusive mode.
enum class GpuQuery { with_context, without_context };

/// One GPU. If `error` is not empty, the GPU cannot be used and the other facts are not set.
struct GpuFacts {
  int index = 0;
  DeviceInfo info;
  bool is_mig = false;  ///< true for a MIG device, which is a part of a GPU
  std::vector<std::string> warnings;
  std::string error;
};

/// The devices of this machine.
struct MachineFacts {
  std::vector<GpuFacts> gpus;
  std::string why;     ///< the reason if there is no GPU
  std::string driver;  ///< NVIDIA's driver version, if known
  io::HostRow host;
};

/// Returns the host name, CPU model, number of usable cores, memory and operating system.
io::HostRow host_facts();

/// Queries CUDA and NVML. Does not throw if a GPU fails; that GPU's `error` is set. @pre MPI is not
/// initialised in this process
MachineFacts machine_facts(GpuQuery query = GpuQuery::with_context);

/// Returns {"gpus": [{index, name, uuid, part, capability, multiprocessors, total_bytes, free_bytes, …,
/// warnings, error}], "why": "…", "driver": "…", "host": {host, cpu, cores, memory_bytes, os}}. "part" is
/// true for a MIG device. free_bytes is null without a context.
nlohmann::ordered_json devices_json(const MachineFacts& machine);
/// Returns a table of the GPUs with warnings, and a line about the CPU.
std::string devices_text(const MachineFacts& machine, std::size_t width);

}  // namespace gaussweep::driver
