#include "driver/worker/execute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/base/for_now.hpp"
#include "driver/plan/demand.hpp"
#include "driver/records/blank_record.hpp"
#include "driver/records/judge.hpp"
#include "driver/records/statistics.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/nvml.hpp"
#include "driver/system/timed.hpp"
#include "driver/worker/energy.hpp"
#include "driver/worker/probe.hpp"
#include "driver/worker/sampling.hpp"
#include "driver/worker/stage_timer.hpp"
#include "io/records/status.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/core/method_run.hpp"

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

}  // namespace

/// The inputs that this worker holds, and the vendor's answer for them.
template <class T>
struct Executor::Held {
  std::shared_ptr<Prepared<T>> prepared;
  std::string reference_identity;  ///< of the answer below: inputs, problem, method
  Answer<T> reference;
  double reference_seconds = std::numeric_limits<double>::quiet_NaN();
  double reference_good_until = 0;  ///< by the clock: what drifts has drifted then
};

Executor::Executor(const Registry& registry, Device& device, StoreWriter& store, Origin origin,
                   std::function<void(const std::string&)> at)
    : registry_(registry),
      device_(device),
      host_device_(make_host_device(Backend::host, now_seconds)),
      device_info_(worker_device_info(device)),
      context_(device),
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

/// Why a trial will never fit into memory; empty where it may. @throws ForNow where it would fit, but others
/// hold the memory: that is no property of the trial
std::string Executor::misfit(const Trial& trial, const Method& method) {
  const Footprint need = footprint(method, trial);
  const double now = now_seconds();
  const bool little = need.device_bytes + need.host_bytes <= little_bytes;
  if (little && now < plenty_until_) return {};
  const DeviceInfo device = device_.info();
  const auto device_free = static_cast<double>(device.free_bytes);
  const auto device_total = static_cast<double>(device.total_bytes);
  const Fit fit = fit_of(need.device_bytes, device_free, device_total);
  if (trial.backend == Backend::cuda && fit != Fit::fits) {
    const std::string reason = fmt::format("needs {:.2f} GiB of GPU memory, {:.2f} GiB are free on {}",
                                           need.device_bytes / 0x1p30, device_free / 0x1p30, device.name);
    if (fit == Fit::never) return reason;
    throw ForNow(io::Status::oom, fmt::format("{} of {:.2f} GiB: another process holds the rest", reason,
                                              device_total / 0x1p30));
  }
  Memory host = memory_facts();
  if (need.host_bytes > host.free) {  // what is held of the last trial is not missed
    held_float_.reset();
    held_double_.reset();
    store_.finish([&] { at_("store"); });  // what is still to be stored neither
    host = memory_facts();
  }
  const Fit host_fit = fit_of(need.host_bytes, host.free, host.most);
  if (host_fit == Fit::fits) {
    const bool plenty =
        std::min(device_.backend() == Backend::cuda ? device_free : host.free, host.free) > 16 * little_bytes;
    plenty_until_ = plenty ? now + look_seconds : 0;
    return {};
  }
  const std::string reason = fmt::format("needs {:.2f} GiB of host memory, {:.2f} of {:.2f} GiB are free",
                                         need.host_bytes / 0x1p30, host.free / 0x1p30, host.most / 0x1p30);
  if (host_fit == Fit::not_now) throw ForNow(io::Status::oom, reason);
  return reason;
}

io::Record Executor::run(const Trial& trial) {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr || !method->runs_on(trial.backend)) {
    throw std::runtime_error(describe(trial) + " cannot run in this build");
  }
  const std::string reason = misfit(trial, *method);
  if (!reason.empty()) {
    io::Record record = blank(trial);
    record.status = word(io::Status::skipped);
    record.message = reason;
    return record;
  }
  return trial.precision == Precision::float32 ? run_typed<float>(trial, *method)
                                               : run_typed<double>(trial, *method);
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
Executor::Measured<T> Executor::measure(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                                        Context& context, io::Record& record) {
  Device& device = context.device;
  at_("allocate");
  std::optional<MethodRun<T>> run;
  record.allocate_seconds = timed(device, [&] {
    run.emplace(context, method, trial.backend, trial.parameters, trial.shape, trial.inner_repeats);
  });
  at_("upload");
  record.h2d_seconds = timed(device, [&] { run->upload(inputs); });
  const std::uint64_t digest = digest_of_uploaded(context, run->staging());

  at_("warm-up");
  const Sampling& sampling = trial.sampling;
  // Where a run is so long that a cold start does not show in it, the last warm-up measures the stages too.
  const bool stages_too = trial.stages != Stages::never && sampling.warmup > 0 &&
                          sampling.warmup_seconds == 0 && trial.inner_repeats == 1;
  warm_up(*run, sampling, stages_too ? 1 : 0);
  const bool stages_known =
      stages_too && timed(device, [&] { note_stages(record, trial, *run, device); }) > long_run_seconds;

  at_("samples");
  std::optional<StoreWriter::Pause> pause(std::in_place, store_);
  std::optional<CacheFlush> flush;
  if (sampling.cold) run->run_cold(flush.emplace(device));
  const bool on_gpu = trial.backend == Backend::cuda;
  GpuSampler& sampler = this->sampler();
  if (on_gpu) run->watch_queue(now_seconds);
  std::vector<double> queueing;
  const Samples samples = take_samples(
      sampling,
      [&] {
        io::Sample sample;
        sample.seconds = run->timed_run();
        queueing.push_back(run->queue_seconds());
        if (on_gpu) note_reading(record, sample, sampler.read());
        return sample;
      },
      now_seconds);
  record.sample_list = samples.all;
  record.enough = samples.enough;
  if (on_gpu) record.queue_seconds = summarise(queueing).median;
  pause.reset();
  Measured<T> measured;
  measured.times = samples.times();
  measured.convergence = run->report().convergence;
  record.convergence = to_string(measured.convergence);
  record.iterations = run->report().iterations;
  record.history = run->report().history;

  at_("download");
  record.d2h_seconds = timed(device, [&] { measured.answer = run->download(); });
  record.info = measured.answer.info;

  at_("verify");  // before anything else runs in the answer's memory
  const double verify_start = now_seconds();
  if (device.backend() == Backend::cuda) {
    measured.verdict = judge_in_place(context, trial, method, run->staging(), run->last_copy(), digest,
                                      inputs, measured.answer);
  } else if (device_.backend() == Backend::cuda && !is_small(trial)) {
    measured.verdict = judge_by_upload(context_, trial, method, inputs, measured.answer);
  } else {
    measured.verdict.findings = check(method, inputs, measured.answer, trial.tolerance);
  }
  record.verify_seconds = now_seconds() - verify_start;

  const bool stages_left = trial.stages != Stages::never && !stages_known;
  if (stages_left || on_gpu) at_("stages");
  if (stages_left) {
    note_stages(record, trial, *run, device);
  }
  if (on_gpu) {
    at_("launches");
    const StoreWriter::Pause pause_again(store_);
    note_launches(record, *run, sampling, measured.times.median);
  }
  if (on_gpu && trial.energy_seconds > 0) {
    at_("energy");
    const StoreWriter::Pause pause_again(store_);
    note_energy(record, *run, trial, device, sampler, measured.times.median);
  }
  return measured;
}

template <class T>
io::Record Executor::run_typed(const Trial& trial, const Method& method) {
  io::Record record = blank(trial);
  Context& context = trial.backend == Backend::host ? host_context_ : context_;
  Held<T>& held = hold_inputs<T>(trial, record);
  Measured<T> measured = measure(trial, method, held.prepared->inputs, context, record);
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
  compare_with_reference(trial, method, held, measured.answer, record, context);
  return record;
}

template <class T>
void Executor::compare_with_reference(const Trial& trial, const Method& method, Held<T>& held,
                                      Answer<T>& answer, io::Record& record, Context& context) {
  const Method* vendor = registry_.reference(trial.problem, trial.backend);
  if (vendor == nullptr) return;
  const bool vendor_on_host = !vendor->runs_on(trial.backend);
  Context& vendor_context = vendor_on_host ? host_context_ : context;
  const std::string identity = fmt::format("{} {} {} {}", held.prepared->identity, vendor->id(),
                                           to_string(trial.shape.uplo), record.cache);
  const double start = now_seconds();
  // Not for ever; but to take it again must not become what the night is spent on.
  const auto note_when = [&] {
    constexpr double least_seconds = 60, times_its_cost = 20;
    const double end = now_seconds();
    held.reference_good_until = end + std::max(least_seconds, times_its_cost * (end - start));
  };
  if (&method == vendor) {
    held.reference = std::move(answer);
    held.reference_seconds = record.seconds_median;
    held.reference_identity = identity;
    note_when();
  } else if (held.reference_identity != identity || start > held.reference_good_until) {
    at_("reference");
    const Parameters defaults = defaults_of(*vendor);
    MethodRun<T> run(vendor_context, *vendor, vendor_on_host ? Backend::host : trial.backend, defaults,
                     trial.shape);
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
    note_when();
  }
  at_("compare");
  record.reference_method = vendor->variant;
  record.reference_seconds = held.reference_seconds;
  const Answer<T>& own = &method == vendor ? held.reference : answer;
  const Difference apart = difference(trial.problem, trial.shape, own, held.reference);
  record.reference_difference = apart.largest;
  record.largest_relative_difference = apart.largest_relative;
  record.mean_relative_difference = apart.mean_relative;
  record.mean_absolute_difference = apart.mean_absolute;
}

}  // namespace gaussweep::driver
