#pragma once
/// The GPUs and the CPU of this machine as `gaussweep devices` shows them, and as `gaussweep run` asks for
/// them.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/system/nvml.hpp"
#include "io/records/results.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep::driver {

/// How a GPU is asked. Starting on it shows whether it works and how much memory is free. Asking without
/// needs neither memory nor a turn on it.
enum class Ask { started, untouched };

/// One GPU. `error` is not empty where it is there but cannot be used; the other facts are then unset.
struct GpuFacts {
  int index = 0;
  DeviceInfo info;
  bool part = false;  ///< of a GPU with MIG on
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
MachineFacts machine_facts(Ask ask = Ask::started);

/// {"gpus": [{index, name, uuid, part, capability, multiprocessors, total_bytes, free_bytes, …, warnings,
///  error}] (free_bytes: null where it was not asked),
///  "why": "…", "driver": "…", "host": {host, cpu, cores, memory_bytes, os}}
nlohmann::ordered_json devices_json(const MachineFacts& machine);
std::string devices_text(const MachineFacts& machine, std::size_t width);

}  // namespace gaussweep::driver
