/// Loads NVIDIA's management library (NVML) at run time and reads clocks, power and identities of GPUs.

#include "driver/system/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <utility>

#include "driver/system/clock.hpp"

namespace gaussweep::driver {

namespace {

// Types and constants from NVML's API reference, declared here because nvml.h may be missing. Results and
// enums are int, devices are opaque pointers.
using Device = void*;
constexpr int success = 0, insufficient_size = 7;
constexpr int clock_sm = 1, clock_memory = 2, sensor_gpu = 0;

// The element type of nvmlDeviceGetComputeRunningProcesses_v2 and _v3.
struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance, compute_instance;
};

/// Calls a function of NVML. Returns false if the call fails or this version of the library lacks the
/// function (null).
template <class Function, class... Arguments>
bool succeeds(Function function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == success;
}

constexpr std::pair<std::uint64_t, const char*> throttle_bits[] = {{0x04, "sw_power_cap"},
                                                                   {0x08, "hw_slowdown"},
                                                                   {0x20, "sw_thermal"},
                                                                   {0x40, "hw_thermal"},
                                                                   {0x80, "hw_power_brake"}};

}  // namespace

struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device*) = nullptr;
  int (*by_uuid)(const char*, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*ecc_mode)(Device, int*, int*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;             // milliwatts
  int (*power_default)(Device, unsigned*) = nullptr;           // milliwatts
  int (*power_usage)(Device, unsigned*) = nullptr;             // milliwatts
  int (*total_energy)(Device, unsigned long long*) = nullptr;  // millijoules
  int (*clock)(Device, int, unsigned*) = nullptr;              // MHz
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
};

std::string throttle_names(std::uint64_t reasons) {
  std::string names;
  for (const auto& [bit, name] : throttle_bits) {
    if ((reasons & bit) != 0) names += (names.empty() ? "" : "+") + std::string(name);
  }
  return names;
}

std::vector<std::string> setup_warnings(const GpuSetup& setup) {
  std::vector<std::string> warnings;
  if (setup.ecc.has_value() && !*setup.ecc) {
    warnings.emplace_back("ECC is off: bit errors in memory go undetected");
  }
  if (setup.mig.has_value() && *setup.mig) {
    warnings.emplace_back("MIG is on: a trial gets a part of this GPU");
  }
  // 0.5 W tolerance: limits are reported in milliwatts and rounded differently.
  if (setup.power_limit_w < setup.power_default_w - 0.5) {
    warnings.push_back(fmt::format("the power cap is {:.0f} W, below the default of {:.0f} W",
                                   setup.power_limit_w, setup.power_default_w));
  }
  if (!setup.processes.empty()) {
    std::string process_list;
    for (const GpuProcess& process : setup.processes) {
      if (!process_list.empty()) process_list += ", ";
      process_list += fmt::format("pid {}", process.pid);
      if (process.bytes >= 0) process_list += fmt::format(" with {} MiB", process.bytes >> 20);
    }
    warnings.push_back(fmt::format("{} other process{} on this GPU: {}", setup.processes.size(),
                                   setup.processes.size() == 1 ? " is" : "es are", process_list));
  }
  return warnings;
}

Nvml::Nvml(const char* library) : functions_(std::make_unique<Functions>()) {
  library_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    const char* error = dlerror();
    why_ = error != nullptr ? error : "NVML cannot be loaded";
    return;
  }
  Functions& f = *functions_;
  const auto find = [this](auto& pointer, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (pointer == nullptr)
        pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(dlsym(library_, name));
    }
  };
  find(f.init, {"nvmlInit_v2"});
  find(f.shutdown, {"nvmlShutdown"});
  find(f.error_string, {"nvmlErrorString"});
  find(f.driver_version, {"nvmlSystemGetDriverVersion"});
  find(f.count, {"nvmlDeviceGetCount_v2"});
  find(f.by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find(f.by_uuid, {"nvmlDeviceGetHandleByUUID"});
  find(f.uuid, {"nvmlDeviceGetUUID"});
  find(f.name, {"nvmlDeviceGetName"});
  find(f.ecc_mode, {"nvmlDeviceGetEccMode"});
  find(f.mig_mode, {"nvmlDeviceGetMigMode"});
  find(f.power_limit, {"nvmlDeviceGetPowerManagementLimit"});
  find(f.power_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find(f.power_usage, {"nvmlDeviceGetPowerUsage"});
  find(f.total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(f.clock, {"nvmlDeviceGetClockInfo"});
  find(f.temperature, {"nvmlDeviceGetTemperature"});
  // Drivers since 535 have the first name, older ones the second.
  find(f.throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(f.processes, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  if (f.init == nullptr || f.shutdown == nullptr) {
    why_ = fmt::format("{} lacks nvmlInit_v2 or nvmlShutdown", library);
    return;
  }
  const int code = f.init();
  if (code != success) {
    why_ = fmt::format("nvmlInit_v2: {}",
                       f.error_string != nullptr ? f.error_string(code) : std::to_string(code));
    return;
  }
  available_ = true;
}

Nvml::~Nvml() {
  if (available_) functions_->shutdown();
  if (library_ != nullptr) dlclose(library_);
}

std::string Nvml::driver_version() const {
  char text[96] = "";
  return available_ && succeeds(functions_->driver_version, text, unsigned{sizeof text}) ? text : "";
}

std::vector<GpuSetup> Nvml::setups() const {
  std::vector<GpuSetup> result;
  const Functions& f = *functions_;
  unsigned count = 0;
  if (!available_ || !succeeds(f.count, &count)) return result;
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    if (!succeeds(f.by_index, index, &device)) continue;
    GpuSetup setup;
    char text[96] = "";
    if (succeeds(f.uuid, device, text, unsigned{sizeof text})) setup.uuid = text;
    if (succeeds(f.name, device, text, unsigned{sizeof text})) setup.name = text;
    int ecc = 0, pending_ecc = 0;
    if (succeeds(f.ecc_mode, device, &ecc, &pending_ecc)) setup.ecc = ecc != 0;
    unsigned mig = 0, pending_mig = 0, milliwatts = 0;
    if (succeeds(f.mig_mode, device, &mig, &pending_mig)) setup.mig = mig != 0;
    if (succeeds(f.power_limit, device, &milliwatts)) setup.power_limit_w = milliwatts / 1e3;
    if (succeeds(f.power_default, device, &milliwatts)) setup.power_default_w = milliwatts / 1e3;
    std::vector<ProcessInfo> list(64);
    auto found = static_cast<unsigned>(list.size());
    int code = f.processes != nullptr ? f.processes(device, &found, list.data()) : -1;
    if (code == insufficient_size) {  // the list was too short; 16 places are added for new processes
      list.resize(found + 16);
      found = static_cast<unsigned>(list.size());
      code = f.processes(device, &found, list.data());
    }
    for (unsigned i = 0; code == success && i < found; ++i) {
      // If all bits are 1, the number is not available, as in a container or on Windows.
      const bool is_known = list[i].used_bytes != ~0ULL;
      setup.processes.push_back({list[i].pid, is_known ? static_cast<std::int64_t>(list[i].used_bytes) : -1});
    }
    result.push_back(std::move(setup));
  }
  return result;
}

GpuSampler::GpuSampler(const Nvml& nvml, const std::string& uuid) : nvml_(nvml) {
  const Nvml::Functions& f = *nvml.functions_;
  Device device = nullptr;
  if (nvml.available_ && !uuid.empty() && succeeds(f.by_uuid, uuid.c_str(), &device)) device_ = device;
}

GpuReading GpuSampler::read() {
  constexpr double max_age_seconds = 5e-3;  // an older reading is not used again
  if (device_ == nullptr) return {};
  const double now = now_seconds();
  if (read_at_ >= 0 && now - read_at_ < max_age_seconds) return last_;
  read_at_ = now;
  GpuReading reading;
  const Nvml::Functions& f = *nvml_.functions_;
  unsigned value = 0;
  if (succeeds(f.clock, device_, clock_sm, &value)) reading.sm_clock_mhz = value;
  if (succeeds(f.clock, device_, clock_memory, &value)) reading.memory_clock_mhz = value;
  reading.power_w = watts();
  if (succeeds(f.temperature, device_, sensor_gpu, &value)) reading.temperature_c = value;
  unsigned long long reasons = 0;
  if (succeeds(f.throttle_reasons, device_, &reasons)) {
    reading.throttle_reason = throttle_names(reasons);
    reading.throttled = !reading.throttle_reason.empty();
  }
  last_ = reading;
  return reading;
}

double GpuSampler::watts() const {
  unsigned milliwatts = 0;
  const bool is_known = device_ != nullptr && succeeds(nvml_.functions_->power_usage, device_, &milliwatts);
  return is_known ? milliwatts / 1e3 : std::numeric_limits<double>::quiet_NaN();
}

double GpuSampler::total_joules() const {
  unsigned long long millijoules = 0;
  const bool is_known = device_ != nullptr && succeeds(nvml_.functions_->total_energy, device_, &millijoules);
  return is_known ? static_cast<double>(millijoules) / 1e3 : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gaussweep::driver
