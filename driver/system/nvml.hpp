#pragma once
/// NVIDIA's management library, loaded at run time: gaussweep neither needs it to be built nor to run. What
/// it does not tell stays NaN or empty.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gaussweep::driver {

/// What a GPU is doing at this moment.
struct GpuReading {
  double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();
  double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN();
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
  bool throttled = false;
  std::string throttle_reason;  ///< names joined by "+", e.g. "sw_power_cap"; empty where not throttled
};

/// A process that holds memory of a GPU.
struct GpuProcess {
  std::int64_t pid = 0;
  std::int64_t bytes = -1;  ///< -1: not told
};

/// How a GPU is set up.
struct GpuSetup {
  std::string uuid, name;
  std::optional<bool> ecc, mig;  ///< absent: not supported or not told
  double power_limit_w = std::numeric_limits<double>::quiet_NaN();
  double power_default_w = std::numeric_limits<double>::quiet_NaN();
  std::vector<GpuProcess> processes;
};

/// The names of the throttling reasons in NVML's bit mask that make a sample slower than the hardware could
/// be: sw_power_cap, hw_slowdown, sw_thermal, hw_thermal, hw_power_brake. An idle GPU and clocks that
/// somebody set are no throttling.
std::string throttle_names(std::uint64_t reasons);

/// What to warn of in how a GPU is set up: ECC off, MIG on, a power cap below the default, other processes.
std::vector<std::string> setup_warnings(const GpuSetup& setup);

/// The library, loaded and initialised; closed with the object. Not copyable; any thread may read.
class Nvml {
 public:
  /// Loads `library`. Where that fails, the object stands for "unknown" and `why` says the reason.
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const { return available_; }
  const std::string& why() const { return why_; }
  /// "580.65.06"; empty where unknown.
  std::string driver_version() const;
  /// All GPUs of the machine, whether this process may use them or not.
  std::vector<GpuSetup> setups() const;

 private:
  friend class GpuSampler;
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* library_ = nullptr;
  bool available_ = false;
  std::string why_;
};

/// Reads one GPU, cheaply (tens of microseconds): for one reading a sample, or a few short ones.
class GpuSampler {
 public:
  /// @param uuid "GPU-…" or "MIG-…", as CUDA gives it. @pre `nvml` outlives the sampler
  GpuSampler(const Nvml& nvml, const std::string& uuid);
  /// False where NVML is absent or does not know this GPU: every reading is then empty.
  bool available() const { return device_ != nullptr; }
  /// What there is to read now, or was at most 5 ms ago.
  GpuReading read();
  /// Watts of this moment, as averaged by the GPU; NaN where not told.
  double watts() const;
  /// Joules since the driver was loaded (Volta and later); NaN where not told. It goes on in steps of some
  /// milliseconds.
  double total_joules() const;

 private:
  const Nvml& nvml_;
  void* device_ = nullptr;
  GpuReading last_;
  double read_at_ = -1;  ///< by the clock; negative: never
};

}  // namespace gaussweep::driver
