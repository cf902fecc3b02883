#pragma once
/// The GPUs and the CPU of this machine as `gaussweep devices` shows them, and as `gaussweep run` asks for
/// them.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/nvml.hpp"
#include "io/results.hpp"
#include "kernels/core/device.hpp"

namespace gaussweep::driver {

/// One GPU. `error` is not empty where it is there but cannot be used; the other facts are then unset.
struct GpuFacts {
  int index = 0;
  DeviceInfo info;
  std::vector<std::string> warnings;
  std::string error;
};

struct MachineFacts {
  std::vector<GpuFacts> gpus;
  std::string why;     ///< why there is no GPU
  std::string driver;  ///< NVIDIA's driver version, where known
  io::HostRow host;
};

/// The CPU's model name, cores that this process may use, memory, system, host name.
io::HostRow host_facts();

/// Asks CUDA and NVML. Never throws because of a GPU: what is wrong with one is said in its `error`.
/// @pre MPI is not in this process
MachineFacts machine_facts();

/// {"gpus": [{index, name, uuid, capability, multiprocessors, total_bytes, free_bytes, …, warnings, error}],
///  "why": "…", "driver": "…", "host": {host, cpu, cores, memory_bytes, os}}
nlohmann::ordered_json devices_json(const MachineFacts& machine);
std::string devices_text(const MachineFacts& machine);

}  // namespace gaussweep::driver
