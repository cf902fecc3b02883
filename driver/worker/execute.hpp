#pragma once
/// Runs one trial in this process: inputs, warm-up, samples, stages, verification, reference. The worker's
/// heart.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "driver/plan/demand.hpp"
#include "driver/system/nvml.hpp"
#include "driver/system/origin.hpp"
#include "driver/worker/inputs.hpp"
#include "driver/worker/sampling.hpp"
#include "driver/worker/verdict.hpp"
#include "io/records/record.hpp"
#include "kernels/check/check.hpp"
#include "kernels/staging/method_run.hpp"
#include "kernels/vendor/peaks.hpp"

namespace gaussweep::driver {

template <class T>
struct Held;
template <class T>
struct Placed;
template <class T>
struct Measured;

/// Holds what trials share: the devices, the inputs of the last trial, the reference's answer for them.
class Executor {
 public:
  /// @param context of the worker's device; outlives this
  /// @param at called at the beginning of every step, so that the cause of an end can name the last one
  Executor(const Registry& registry, Context& context, StoreWriter& store, Origin origin,
           std::function<void(const std::string&)> at);
  ~Executor();
  /// The record of a trial. Numeric failure is in the record.
  /// @throws what the method or the machine threw: the caller turns it into a record
  io::Record run(const Trial& trial);
  /// A record of this origin and trial without results: for what failed.
  io::Record blank(const Trial& trial) const;
  /// What `peak_share` is measured against.
  void set_peaks(const Peaks& peaks) { peaks_ = peaks; }
  Context& context() { return context_; }

 private:
  template <class T>
  io::Record run_typed(const Trial& trial, const Method& method, const Placement& placement);
  /// The inputs of a trial, made or read unless the last trial had the same.
  template <class T>
  Held<T>& hold_inputs(const Trial& trial, io::Record& record);
  /// The runs of a trial as steps.
  template <class T>
  class Measurement;
  /// Warm-up, samples, the answer of the last sample, what the judge says of it, and the passes after them.
  template <class T>
  Measured<T> measure(const Trial& trial, const Method& method, Held<T>& held, Pristine pristine,
                      io::Record& record);
  /// What the judge says of the answer of a working set, where it lies if `run` is there.
  /// @param digest of the pristine inputs on the device (judge_in_place)
  template <class T>
  Judgement judge_answer(const Trial& trial, const Method& method, MethodRun<T>* run, int copy,
                         std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer);
  template <class T>
  void compare_with_reference(const Trial& trial, const Method& method, Held<T>& held, Placed<T>& own,
                              io::Record& record);
  /// The vendor's run that `own` is compared with, where it is not that itself. False where there is no room.
  template <class T>
  bool run_vendor(const Trial& trial, const Method& vendor, Held<T>& held, io::Record& record);
  template <class T>
  Held<T>& held();
  Context& context_of(Backend backend) { return backend == Backend::host ? host_context_ : context_; }
  Room room_of(const Device& device) const;
  /// Whether a trial of this footprint fits for certain.
  bool is_plenty_for(const Footprint& need) const;
  Placement placement_of(const Trial& trial, const Method& method);
  /// Of the vendor's run beside the inputs and the answer of a trial, which are there.
  Placement reference_placement(const Trial& trial, const Method& vendor);
  /// Frees what is held on the worker's device.
  void leave_device();
  GpuSampler& sampler();

  const Registry& registry_;
  Device& device_;
  std::unique_ptr<Device> host_device_;
  DeviceInfo device_info_;  ///< as it was at the start: a broken device cannot be asked any more
  Nvml nvml_;
  std::optional<GpuSampler> sampler_;  ///< of the worker's device
  double plenty_until_ = 0;  ///< by the clock: so long, memory is free for a trial that needs little
  Context& context_;
  Context host_context_;
  StoreWriter& store_;
  Origin origin_;
  Peaks peaks_;
  std::function<void(const std::string&)> at_;
  std::unique_ptr<Held<float>> held_float_;
  std::unique_ptr<Held<double>> held_double_;
};

/// The peaks that a trial's share is taken of. `measured` are those of the worker's device. They say nothing
/// of a method that runs on the CPU beside a GPU (all 0: unknown).
Peaks peaks_of(Backend trial, Backend device, const Peaks& measured);

}  // namespace gaussweep::driver
