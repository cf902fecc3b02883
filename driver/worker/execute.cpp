#include "driver/worker/execute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/base/for_now.hpp"
#include "driver/plan/shared_inputs.hpp"
#include "driver/records/blank_record.hpp"
#include "driver/records/judge.hpp"
#include "driver/records/statistics.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/nvml.hpp"
#include "driver/system/timed.hpp"
#include "driver/worker/energy.hpp"
#include "driver/worker/probe.hpp"
#include "driver/worker/stage_timer.hpp"
#include "io/records/status.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::driver {

namespace {

/// Trials that need no more, and there are many of them, share a look at the memory that is free.
constexpr double little_bytes = 0x1p26;
constexpr double look_seconds = 1;  // at most between two

/// From here on a warm-up is as good as a separate pass for the stages: loading a kernel takes milliseconds.
constexpr double long_run_seconds = 1;

void describe_device(io::Record& record, const DeviceInfo& info, const Origin& origin) {
  record.gpu_uuid = info.uuid;
  record.gpu_name = info.name;
  record.capability = info.capability;
  record.device_index = origin.device_index;
}

void add_words(std::string& message, const std::string& words) {
  if (!words.empty()) message += (message.empty() ? "" : "; ") + words;
}

}  // namespace

/// The inputs that this worker holds, and the vendor's answer for them.
template <class T>
struct Executor::Held {
  std::shared_ptr<Prepared<T>> prepared;
  std::string reference_identity;  ///< of the answer below: `comparison_identity`
  Answer<T> reference;
  double reference_norm = std::numeric_limits<double>::quiet_NaN();
  double reference_seconds = std::numeric_limits<double>::quiet_NaN();
  double reference_good_until = 0;  ///< by the clock: what drifts has drifted then
};

Executor::Executor(const Registry& registry, Context& context, StoreWriter& store, Origin origin,
                   std::function<void(const std::string&)> at)
    : registry_(registry),
      device_(context.device),
      host_device_(make_host_device(Backend::host, now_seconds)),
      device_info_(worker_device_info(context.device)),
      context_(context),
      host_context_(*host_device_),
      store_(store),
      origin_(std::move(origin)),
      at_(std::move(at)) {}

Executor::~Executor() = default;

io::Record Executor::blank(const Trial& trial) const {
  io::Record record = blank_record(trial, registry_.find(trial.problem, trial.method), origin_);
  if (trial.backend == Backend::cuda) describe_device(record, device_info_, origin_);
  return record;
}

template <>
Executor::Held<float>& Executor::held<float>() {
  if (!held_float_) held_float_ = std::make_unique<Held<float>>();
  held_double_.reset();
  return *held_float_;
}
template <>
Executor::Held<double>& Executor::held<double>() {
  if (!held_double_) held_double_ = std::make_unique<Held<double>>();
  held_float_.reset();
  return *held_double_;
}

Room Executor::room_of(const Device& device) const {
  const DeviceInfo info = device.info();
  Room room{info.name, static_cast<double>(info.free_bytes), static_cast<double>(info.total_bytes),
            memory_facts()};
  if (device.backend() == Backend::cuda) return room;
  room.device_free = std::min(room.device_free, room.host.free);
  room.device_total = std::min(room.device_total, room.host.most);
  return room;
}

bool Executor::is_plenty_for(const Footprint& need) const {
  return need.device_bytes + need.host_bytes <= little_bytes && now_seconds() < plenty_until_;
}

Placement Executor::placement_of(const Trial& trial, const Method& method) {
  const Footprint need = footprint(method, trial);
  if (is_plenty_for(need)) return {};
  const Device& device = context_of(trial.backend).device;
  Room room = room_of(device);
  if (need.host_bytes > room.host.free) {  // what is held of the last trial is not missed
    held_float_.reset();
    held_double_.reset();
    store_.finish([&] { at_("store"); });  // what is still to be stored neither
    room = room_of(device);
  }
  Placement placement = place(method, trial, room);
  if (placement.fit != Fit::fits) return placement;
  const auto free = std::min(static_cast<double>(device_.info().free_bytes), room.host.free);
  const bool plenty = std::min(free, room.device_free) > 16 * little_bytes;
  plenty_until_ = plenty ? now_seconds() + look_seconds : 0;
  return placement;
}

Placement Executor::reference_placement(const Trial& trial, const Method& vendor) const {
  if (is_plenty_for(footprint(vendor, trial))) return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Room room = room_of(trial.backend == Backend::host ? *host_device_ : device_);
  room.host = {infinity, infinity};
  return place(vendor, trial, room);
}

io::Record Executor::run(const Trial& trial) {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr || !method->runs_on(trial.backend)) {
    throw std::runtime_error(describe(trial) + " cannot run in this build");
  }
  const Placement placement = placement_of(trial, *method);
  if (placement.fit == Fit::not_now) throw ForNow(io::Status::oom, placement.reason);
  if (placement.fit == Fit::never) {
    io::Record record = blank(trial);
    record.status = word(io::Status::skipped);
    record.message = placement.reason;
    return record;
  }
  return trial.precision == Precision::float32 ? run_typed<float>(trial, *method, placement)
                                               : run_typed<double>(trial, *method, placement);
}

Peaks peaks_of(Backend trial, Backend device, const Peaks& measured) {
  return trial == Backend::host && device == Backend::cuda ? Peaks{} : measured;
}

GpuSampler& Executor::sampler() {
  if (!sampler_) sampler_.emplace(nvml_, device_info_.uuid);
  return *sampler_;
}

namespace {

void note_times(io::Record& record, const Statistics& s, const Peaks& peaks, Precision precision) {
  record.seconds_min = s.min;
  record.seconds_q1 = s.q1;
  record.seconds_median = s.median;
  record.seconds_mean = s.mean;
  record.seconds_q3 = s.q3;
  record.seconds_max = s.max;
  record.seconds_stdev = s.stdev;
  record.samples = static_cast<std::int64_t>(record.sample_list.size());
  // a method that stopped early did not do the work that a rate would claim
  if (!(s.median > 0) || record.info != 0 || !std::isfinite(record.residual_ratio)) return;
  record.gflops = record.flops / s.median * 1e-9;
  // the share of the roofline: the least time that the measured peaks allow over the time it took
  const double peak_flops =
      precision == Precision::float32 ? peaks.gemm_flops_float : peaks.gemm_flops_double;
  if (peak_flops > 0 && peaks.copy_bytes_per_second > 0) {
    record.peak_share =
        std::max(record.flops / peak_flops, record.bytes / peaks.copy_bytes_per_second) / s.median;
  }
}

void note_reading(io::Record& record, io::Sample& sample, const GpuReading& reading) {
  sample.clock_mhz = reading.sm_clock_mhz;
  sample.memory_clock_mhz = reading.memory_clock_mhz;
  sample.power_w = reading.power_w;
  sample.temperature_c = reading.temperature_c;
  sample.throttled = reading.throttled;
  record.sm_clock_mhz = reading.sm_clock_mhz;
  record.memory_clock_mhz = reading.memory_clock_mhz;
  record.power_w = reading.power_w;
  record.temperature_c = reading.temperature_c;
  if (reading.throttled) {
    record.throttled += 1;
    record.throttle_reason = reading.throttle_reason;
  }
}

/// The stages of one run, measured as the trial asks.
template <class T>
void note_stages(io::Record& record, const Trial& trial, MethodRun<T>& run, Device& device) {
  StageTimer timer(device, trial.stages == Stages::calls);
  run.observed_run(timer);
  record.stages = timer.finish();
  if (device.backend() == Backend::cuda && timer.launches() > 0) record.kernels = timer.launches();
}

/// So that nothing of a first run shows in the samples.
template <class T>
void warm_up(MethodRun<T>& run, const Sampling& sampling, std::int64_t done) {
  const double start = now_seconds();
  for (; done < sampling.warmup; ++done) run.warm_up();
  while (now_seconds() - start < sampling.warmup_seconds) run.warm_up();
}

/// Whether the host's queueing is what took the time, and where it may be, what the GPU needs without it.
template <class T>
void note_launches(io::Record& record, MethodRun<T>& run, const Sampling& sampling, double median) {
  constexpr double may_be_bound = 0.5;    // of the run's time is spent on queueing it
  constexpr double short_seconds = 5e-4;  // the way of the first launch to the GPU shows
  constexpr double bound = 1.1;           // times as long as the GPU alone
  const bool queued_for_long = record.queue_seconds >= may_be_bound * median;
  if (!queued_for_long && median > short_seconds) {
    record.launch_bound = 0;
    return;
  }
  if (!run.record()) return;
  record.kernels = run.recorded_kernels();
  run.replayed_run();
  const auto take = [&] {
    io::Sample sample;
    sample.seconds = run.replayed_run();
    return sample;
  };
  const Statistics replay = take_samples(sampling, take, now_seconds).times();
  record.replay_q1 = replay.q1;
  record.replay_median = replay.median;
  record.replay_q3 = replay.q3;
  record.launch_bound = median > bound * replay.median ? 1 : 0;
}

template <class T>
void note_energy(io::Record& record, MethodRun<T>& run, const Trial& trial, Device& device,
                 const GpuSampler& sampler, double median) {
  const EnergyMeter meter{[&] { return sampler.total_joules(); }, [&] { return sampler.watts(); }, {}};
  const auto runs = static_cast<double>(trial.inner_repeats);
  const Energy energy =
      measure_energy(meter, trial.energy_seconds, median * runs, [&](std::int64_t count, bool with_runs) {
        run.queue(count, with_runs);
        device.synchronize();
      });
  record.energy_joules = energy.joules / runs;
  record.energy_uncertainty = energy.uncertainty / runs;
  record.energy_source = energy.source;
  record.energy_power_w = energy.busy_watts;
  record.idle_power_w = energy.idle_watts;
}

}  // namespace

template <class T>
Executor::Held<T>& Executor::hold_inputs(const Trial& trial, io::Record& record) {
  Held<T>& held = this->held<T>();
  if (!held.prepared || held.prepared->identity != inputs_identity(trial)) {
    at_("inputs");
    std::shared_ptr<Prepared<T>> last = std::move(held.prepared);
    held = Held<T>();  // frees the old answers first
    held.prepared = prepare_inputs<T>(context_, store_, trial, std::move(last), at_);
    record.load_seconds = held.prepared->load_seconds;
    record.generate_seconds = held.prepared->generate_seconds;
  }
  // Trials of one potrf matrix share it whatever their triangle: the judge must look at this trial's.
  held.prepared->inputs.shape = trial.shape;
  return held;
}

template <class T>
struct Executor::Measured {
  Answer<T> answer;  ///< of the last sample
  Verdict verdict;
  Convergence convergence = Convergence::none;  ///< likewise
  Statistics times;                             ///< of the samples that count
};

template <class T>
Samples Executor::sample(const Trial& trial, MethodRun<T>& run, io::Record& record) {
  const StoreWriter::Pause pause(store_);
  std::optional<CacheFlush> flush;
  if (trial.sampling.cold) run.run_cold(flush.emplace(context_of(trial.backend).device));
  const bool on_gpu = trial.backend == Backend::cuda;
  GpuSampler& sampler = this->sampler();
  if (on_gpu) run.watch_queue(now_seconds);
  std::vector<double> queueing;
  Samples samples = take_samples(
      trial.sampling,
      [&] {
        io::Sample sample;
        sample.seconds = run.timed_run();
        queueing.push_back(run.queue_seconds());
        if (on_gpu) note_reading(record, sample, sampler.read());
        return sample;
      },
      now_seconds);
  record.sample_list = samples.all;
  record.enough = samples.enough;
  if (on_gpu) record.queue_seconds = summarise(queueing).median;
  return samples;
}

template <class T>
void Executor::measure_apart(const Trial& trial, MethodRun<T>& run, bool stages_known, double median,
                             io::Record& record) {
  Device& device = context_of(trial.backend).device;
  const bool stages_left = trial.stages != Stages::never && !stages_known;
  const bool on_gpu = trial.backend == Backend::cuda;
  if (stages_left || on_gpu) at_("stages");
  if (stages_left) note_stages(record, trial, run, device);
  if (on_gpu) {
    at_("launches");
    const StoreWriter::Pause pause(store_);
    note_launches(record, run, trial.sampling, median);
  }
  // Operands from the host would take most of the time, and of the energy.
  if (on_gpu && trial.energy_seconds > 0 && run.pristine() == Pristine::on_device) {
    at_("energy");
    const StoreWriter::Pause pause(store_);
    note_energy(record, run, trial, device, sampler(), median);
  }
}

template <class T>
Executor::Measured<T> Executor::measure(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                                        Pristine pristine, io::Record& record) {
  Context& context = context_of(trial.backend);
  Device& device = context.device;
  at_("allocate");
  std::optional<MethodRun<T>> run;
  record.allocate_seconds = timed(device, [&] {
    run.emplace(context, method, trial.backend, trial.parameters, trial.shape, trial.inner_repeats, pristine);
  });
  at_("upload");
  const bool again = pristine == Pristine::on_host;
  const bool pinned = trial.pinned && !again;
  record.host_memory = host_memory_word(pinned);
  if (pinned) run->lay_out(inputs);
  record.h2d_seconds = timed(device, [&] { pinned ? run->upload_laid_out() : run->upload(inputs); });
  const std::uint64_t digest = again ? 0 : digest_of_uploaded(context, run->staging());

  at_("warm-up");
  const Sampling& sampling = trial.sampling;
  // Where a run is so long that a cold start does not show in it, the last warm-up measures the stages too.
  const bool stages_too = trial.stages != Stages::never && sampling.warmup > 0 &&
                          sampling.warmup_seconds == 0 && trial.inner_repeats == 1;
  warm_up(*run, sampling, stages_too ? 1 : 0);
  const bool stages_known =
      stages_too && timed(device, [&] { note_stages(record, trial, *run, device); }) > long_run_seconds;

  at_("samples");
  Measured<T> measured;
  measured.times = sample(trial, *run, record).times();
  measured.convergence = run->report().convergence;
  record.convergence = to_string(measured.convergence);
  record.iterations = run->report().iterations;
  record.history = run->report().history;

  at_("download");
  record.d2h_seconds = timed(device, [&] {
    if (pinned) return run->fetch();
    measured.answer = run->download();
  });
  if (pinned) measured.answer = run->fetched();
  record.info = measured.answer.info;

  if (again) {  // the judge needs the memory of the runs
    measure_apart(trial, *run, stages_known, measured.times.median, record);
    run.reset();
  }
  at_("verify");  // in place, before anything else runs in the answer's memory
  const double verify_start = now_seconds();
  if (device.backend() == Backend::cuda && run) {
    measured.verdict = judge_in_place(context, trial, method, run->staging(), run->last_copy(), digest,
                                      inputs, measured.answer);
  } else if (device.backend() == Backend::cuda || (device_.backend() == Backend::cuda && !is_small(trial))) {
    measured.verdict = judge_by_upload(context_, trial, method, inputs, measured.answer);
  } else {
    measured.verdict.findings = check(method, inputs, measured.answer, trial.tolerance);
  }
  record.verify_seconds = now_seconds() - verify_start;
  if (run) measure_apart(trial, *run, stages_known, measured.times.median, record);
  return measured;
}

template <class T>
io::Record Executor::run_typed(const Trial& trial, const Method& method, const Placement& placement) {
  io::Record record = blank(trial);
  Held<T>& held = hold_inputs<T>(trial, record);
  const Inputs<T>& inputs = held.prepared->inputs;
  std::string how = placement.reason;
  Measured<T> measured;
  try {
    io::Record filled = record;
    measured = measure(trial, method, inputs, placement.pristine, filled);
    record = std::move(filled);
  } catch (const NoPinnedMemory&) {  // less on the device would not help
    throw;
  } catch (const OutOfMemory&) {  // what a library takes is known only when it is called
    if (placement.pristine == Pristine::on_host || !is_smaller_uploaded_again(method, trial)) throw;
    measured = measure(trial, method, inputs, Pristine::on_host, record);
    how = uploaded_again;
  }
  const Findings& found = measured.verdict.findings;

  record.residual_ratio = found.ratio;
  record.backward_error = found.backward_error;
  record.forward_error = found.forward_error;
  record.pivot_growth = found.pivot_growth;
  record.first_row_percent = found.first_row_percent;
  note_times(record, measured.times, peaks_of(trial.backend, device_.backend(), peaks_), trial.precision);
  const Evidence evidence{trial.problem, found.ratio,          trial.tolerance,
                          record.info,   measured.convergence, found.flaw};
  record.status = word(judge(evidence));
  record.message = finding_words(evidence);
  if (!measured.verdict.disagreement.empty()) {
    record.status = word(io::Status::error);
    record.message = measured.verdict.disagreement;
  }
  add_words(record.message, how);
  if (trial.pinned && record.host_memory != host_memory_word(true)) add_words(record.message, not_pinned);
  compare_with_reference(trial, method, held, measured.answer, record);
  return record;
}

template <class T>
void Executor::compare_with_reference(const Trial& trial, const Method& method, Held<T>& held,
                                      Answer<T>& answer, io::Record& record) {
  const Method* vendor = registry_.reference(trial.problem, trial.backend);
  if (vendor == nullptr) return;
  const bool vendor_on_host = !vendor->runs_on(trial.backend);
  Context& vendor_context = vendor_on_host ? host_context_ : context_of(trial.backend);
  const std::string identity = comparison_identity(trial, *vendor);
  const double start = now_seconds();
  const bool is_vendor = &method == vendor;
  const bool is_new = is_vendor || held.reference_identity != identity || start > held.reference_good_until;
  if (is_vendor) {
    held.reference = std::move(answer);
    held.reference_seconds = record.seconds_median;
    held.reference_identity = identity;
  } else if (is_new) {
    at_("reference");
    Trial as_vendor = trial;
    if (vendor_on_host) as_vendor.backend = Backend::host;
    as_vendor.parameters = defaults_of(*vendor);
    as_vendor.inner_repeats = 1;
    as_vendor.pinned = false;
    const Placement placement = reference_placement(as_vendor, *vendor);
    if (placement.fit != Fit::fits) {
      add_words(record.message, fmt::format("no reference: {} {}", vendor->id(), placement.reason));
      return;
    }
    MethodRun<T> run(vendor_context, *vendor, as_vendor.backend, as_vendor.parameters, trial.shape, 1,
                     placement.pristine);
    run.upload(held.prepared->inputs);
    const StoreWriter::Pause pause(store_);
    // As carefully as the method that it is compared with.
    warm_up(run, trial.sampling, trial.sampling.warmup_seconds > 0 ? 0 : trial.sampling.warmup - 1);
    std::optional<CacheFlush> flush;
    if (trial.sampling.cold) run.run_cold(flush.emplace(vendor_context.device));
    GpuSampler& sampler = this->sampler();
    const Samples samples = take_samples(
        trial.sampling,
        [&] {
          io::Sample sample;
          sample.seconds = run.timed_run();
          if (!vendor_on_host) sample.throttled = sampler.read().throttled;
          return sample;
        },
        now_seconds);
    held.reference = run.download();
    held.reference_seconds = samples.times().median;
    held.reference_identity = identity;
  }
  at_("compare");
  if (is_new) {  // not for ever; but to take it again must not become what the night is spent on
    constexpr double least_seconds = 60, times_its_cost = 20;
    const double end = now_seconds();
    held.reference_good_until = end + std::max(least_seconds, times_its_cost * (end - start));
    held.reference_norm = norm_of_answer(trial.problem, trial.shape, held.reference);
  }
  record.reference_method = vendor->variant;
  record.reference_seconds = held.reference_seconds;
  const Answer<T>& own = is_vendor ? held.reference : answer;
  const Difference apart = difference(trial.problem, trial.shape, own, held.reference, held.reference_norm);
  record.reference_difference = apart.largest;
  record.largest_relative_difference = apart.largest_relative;
  record.mean_relative_difference = apart.mean_relative;
  record.mean_absolute_difference = apart.mean_absolute;
}

}  // namespace gaussweep::driver
