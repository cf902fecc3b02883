#pragma once
/// NVIDIA's management library (NVML), loaded at run time, so that gaussweep builds and runs without it.
/// Values that NVML does not report are NaN or empty.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gaussweep::driver {

/// The current state of a GPU.
struct GpuReading {
  double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
  double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN();
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
  bool throttled = false;
  std::string throttle_reason;  ///< names joined by "+", e.g. "sw_power_cap"; empty if not throttled
};

/// A process that uses memory of a GPU.
struct GpuProcess {
  std::int64_t pid = 0;
  std::int64_t bytes = -1;  ///< -1: not reported
};

/// The configuration of a GPU.
struct GpuSetup {
  std::string uuid, name;
  std::optional<bool> ecc, mig;  ///< absent: not supported or not reported
  double power_limit_w = std::numeric_limits<double>::quiet_NaN();
  double power_default_w = std::numeric_limits<double>::quiet_NaN();
  std::vector<GpuProcess> processes;
};

/// Returns the names of the throttling reasons in NVML's bit mask that slow a sample down: sw_power_cap,
/// hw_slowdown, sw_thermal, hw_thermal, hw_power_brake. Ignores the bits for an idle GPU and for clocks that
/// a user has set.
std::string throttle_names(std::uint64_t reasons);

/// Returns warnings about a GPU: ECC off, MIG on, a power cap below the default, other processes.
std::vector<std::string> setup_warnings(const GpuSetup& setup);

/// The loaded and initialised library; closed by the destructor. Any thread may call the const functions.
class Nvml {
 public:
  /// Loads `library`. If that fails, all queries return "unknown" and `why` returns the reason.
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return available_; }
  const std::string& why() const { return why_; }
  /// Returns the driver's version, "580.65.06"; empty if unknown.
  std::string driver_version() const;
  /// Returns all GPUs of the machine, even if this process may not use them.
  std::vector<GpuSetup> setups() const;

 private:
  friend class GpuSampler;
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* library_ = nullptr;
  bool available_ = false;
  std::string why_;
};

/// Reads the sensors of one GPU. A reading takes tens of microseconds, so it can be taken once per sample.
class GpuSampler {
 public:
  /// @param uuid "GPU-…" or "MIG-…", as CUDA reports it
  /// @pre `nvml` outlives the sampler
  GpuSampler(const Nvml& nvml, const std::string& uuid);
  /// Returns false if NVML is missing or does not know this GPU; then all readings are empty.
  bool available() const { return device_ != nullptr; }
  /// Reads the sensors, or returns the last reading if it is less than 5 ms old.
  GpuReading read();
  /// Returns the power in watts, as averaged by the GPU; NaN if not reported.
  double watts() const;
  /// Returns the joules since the driver was loaded (Volta and later); NaN if not reported. The counter
  /// advances in steps of some milliseconds.
  double total_joules() const;

 private:
  const Nvml& nvml_;
  void* device_ = nullptr;
  GpuReading last_;
  double read_at_ = -1;  ///< time of the last reading; negative: none yet
};

}  // namespace gaussweep::driver
