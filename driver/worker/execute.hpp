#pragma once
/// Runs one trial (one method on one matrix) in the worker process: inputs, warm-up, timed samples, stages,
/// verification, and the comparison with the vendor's method. Stages are the parts of a run that the method
/// marks. The vendor's method is a library routine, such as cuSOLVER's. The result is a record.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "driver/system/nvml.hpp"
#include "driver/system/origin.hpp"
#include "driver/worker/admission.hpp"
#include "driver/worker/cached_inputs.hpp"
#include "io/records/record.hpp"
#include "kernels/device/device_group.hpp"
#include "kernels/vendor/peaks.hpp"

namespace gaussweep::driver {

/// Runs trials. Keeps the devices, the last trial's inputs, and the reference: the vendor's answer for these
/// inputs.
class Executor {
 public:
  /// @param context of the worker's device; must outlive the executor
  /// @param store writes new matrices to the run directory
  /// @param begin_step called with the name of each step (such as "samples") that begins; errors and records
  /// name the step
  Executor(const Registry& registry, Context& context, StoreWriter& store, Origin origin,
           std::function<void(const std::string&)> begin_step);
  ~Executor();
  /// Runs a trial and returns its record. A numerical failure is recorded, not thrown.
  /// @throws the exceptions of the method or the device; the caller turns them into a record
  io::Record run(const Trial& trial);
  /// Returns a record of the trial without results, for a trial that threw.
  io::Record blank(const Trial& trial) const;
  /// Sets the device's measured peak rates. A record's `peak_share` is a fraction of one of them.
  void set_peaks(const Peaks& peaks) { peaks_ = peaks; }
  /// Sets the devices for methods that use several devices. The first one is the worker's device.
  void use_group(DeviceGroup& group) { group_ = &group; }
  Context& context() { return context_; }

 private:
  /// Checks that a trial can run on `gpus` GPUs. The worker must have enough GPUs with peer access, and
  /// several GPUs must support the trial's settings.
  /// @throws NotOffered otherwise; the trial is then recorded as skipped
  void require_gpus(const Trial& trial, int gpus) const;
  template <class T>
  io::Record run_typed(const Trial& trial, const Method& method, const Admission& admission);
  /// Returns the inputs of a trial; makes or reads the inputs unless the last trial had the same ones.
  template <class T>
  CachedInputs<T>& cache_inputs(const Trial& trial, io::Record& record);
  template <class T>
  class Measurement;
  /// Runs and verifies a trial and fills the record (measurement.cpp). Returns the answer of the last sample
  /// (timed run).
  template <class T>
  HeldAnswer<T> measure(const Trial& trial, const Method& method, CachedInputs<T>& cached, Pristine pristine,
                        io::Record& record);
  /// Records the difference from the vendor's answer; runs the vendor's method unless `cached_inputs` has its
  /// answer.
  template <class T>
  void compare_with_reference(const Trial& trial, const Method& method, CachedInputs<T>& cached,
                              HeldAnswer<T>& trial_answer, io::Record& record);
  /// Runs the vendor's method on the held inputs and sets `cached_inputs.reference`. Returns false if memory
  /// does not suffice.
  template <class T>
  bool run_vendor(const Trial& trial, const Method& vendor, CachedInputs<T>& cached, io::Record& record);
  /// Returns the cached inputs and reference in precision T; frees the cache of the other precision.
  template <class T>
  CachedInputs<T>& cached_inputs() {
    if (!std::holds_alternative<CachedInputs<T>>(cached_inputs_))
      cached_inputs_.template emplace<CachedInputs<T>>();
    return std::get<CachedInputs<T>>(cached_inputs_);
  }
  Context& context_of(Backend backend) { return backend == Backend::host ? host_context_ : context_; }
  /// Decides if the trial fits into memory and where its pristine (unmodified) inputs are kept. If necessary,
  /// frees memory that is held for earlier trials.
  /// @param is_reference true for the vendor's run, during which the trial's inputs and answer stay in memory
  Admission admit_run(const Trial& trial, const Method& method, bool is_reference);
  /// Returns the reader of the sensors (clocks, power, temperature) of the worker's GPU.
  GpuSampler& sampler();

  const Registry& registry_;
  Device& device_;
  std::unique_ptr<Device> host_device_;
  DeviceInfo device_info_;  ///< queried at the start, because a device that fails later cannot be queried
  Nvml nvml_;
  std::optional<GpuSampler> sampler_;  ///< of the worker's device
  double ample_memory_until_ = 0;  ///< time until which small trials run without a query of the free memory
  Context& context_;
  Context host_context_;
  DeviceGroup* group_ = nullptr;
  StoreWriter& store_;
  Origin origin_;
  Peaks peaks_;
  std::function<void(const std::string&)> begin_step_;
  std::variant<std::monostate, CachedInputs<float>, CachedInputs<double>> cached_inputs_;
};

/// Returns the peak rates for a record's `peak_share`: the peaks `measured` on the worker's device. A method
/// that runs on the CPU of a worker with a GPU has no known peaks; then all are 0.
Peaks peaks_of(Backend trial, Backend device, const Peaks& measured);

}  // namespace gaussweep::driver
