#include "driver/worker/execute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/base/for_now.hpp"
#include "driver/base/words.hpp"
#include "driver/plan/shared_inputs.hpp"
#include "driver/records/blank_record.hpp"
#include "driver/records/judge.hpp"
#include "driver/records/statistics.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/nvml.hpp"
#include "driver/system/timed.hpp"
#include "driver/worker/energy.hpp"
#include "driver/worker/held.hpp"
#include "driver/worker/placed.hpp"
#include "driver/worker/probe.hpp"
#include "driver/worker/stage_timer.hpp"
#include "driver/worker/warm_up.hpp"
#include "io/records/status.hpp"
#include "kernels/check/device_reductions.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::driver {

namespace {

/// Trials that need no more, and there are many of them, share a look at the memory that is free.
constexpr double little_bytes = 0x1p26;
constexpr double look_seconds = 1;  // at most between two

/// Of host memory, beside two matrices.
constexpr std::size_t kept_bytes = std::size_t{1} << 30;

/// From here on a warm-up is as good as a separate pass for the stages: loading a kernel takes milliseconds.
constexpr double long_run_seconds = 1;

void describe_device(io::Record& record, const DeviceInfo& info, const Origin& origin) {
  record.gpu_uuid = info.uuid;
  record.gpu_name = info.name;
  record.capability = info.capability;
  record.device_index = origin.device_index;
}

}  // namespace

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
      at_(std::move(at)) {
  LargeBlocks::of_process().keep(kept_bytes);
}

Executor::~Executor() {
  LargeBlocks::of_process().keep_none();
}

io::Record Executor::blank(const Trial& trial) const {
  io::Record record = blank_record(trial, registry_.find(trial.problem, trial.method), origin_);
  if (trial.backend == Backend::cuda) describe_device(record, device_info_, origin_);
  return record;
}

template <>
Held<float>& Executor::held<float>() {
  if (!held_float_) held_float_ = std::make_unique<Held<float>>();
  held_double_.reset();
  return *held_float_;
}
template <>
Held<double>& Executor::held<double>() {
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
  if (need.device_bytes > room.device_free) {  // what is held of earlier trials is not missed
    leave_device();
    room = room_of(device);
  }
  if (need.host_bytes > room.host.free) {
    held_float_.reset();
    held_double_.reset();
    store_.finish([&] { at_("store"); });  // what is still to be stored neither
    LargeBlocks::of_process().trim();
    room = room_of(device);
  }
  Placement placement = place(method, trial, room);
  if (placement.fit != Fit::fits) return placement;
  const auto free = std::min(static_cast<double>(device_.info().free_bytes), room.host.free);
  // Of what a trial takes, as much may be held afterwards.
  const bool plenty = std::min(free, room.device_free) > need.device_bytes + 16 * little_bytes;
  plenty_until_ = plenty ? now_seconds() + look_seconds : 0;
  return placement;
}

void Executor::leave_device() {
  if (held_float_) held_float_->leave_device();
  if (held_double_) held_double_->leave_device();
}

Placement Executor::reference_placement(const Trial& trial, const Method& vendor) {
  const Footprint need = footprint(vendor, trial);
  if (is_plenty_for(need)) return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Device& device = trial.backend == Backend::host ? *host_device_ : device_;
  Room room = room_of(device);
  if (need.device_bytes > room.device_free) {
    leave_device();
    room = room_of(device);
  }
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

/// Whether the host's queueing is what took the time, and where it may be, what the GPU needs without it.
template <class T>
void note_launches(io::Record& record, MethodRun<T>& run, const Sampling& sampling, double median,
                   StoreWriter& store) {
  constexpr double may_be_bound = 0.5;    // of the run's time is spent on queueing it
  constexpr double short_seconds = 5e-4;  // the way of the first launch to the GPU shows
  constexpr double bound = 1.1;           // times as long as the GPU alone
  const bool queued_for_long = record.queue_seconds >= may_be_bound * median;
  if (!queued_for_long && median > short_seconds) {
    record.launch_bound = 0;
    return;
  }
  StoreWriter::Pause pause(store, StoreWriter::Pause::Later{});
  if (!run.record()) return;
  record.kernels = run.recorded_kernels();
  pause.settle(patience_for(Backend::cuda));
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
Held<T>& Executor::hold_inputs(const Trial& trial, io::Record& record) {
  Held<T>& held = this->held<T>();
  if (!held.prepared || held.prepared->identity != inputs_identity(trial)) {
    at_("inputs");
    std::shared_ptr<Prepared<T>> last = std::move(held.prepared);
    held.reference = {};  // frees the old answers first
    held.residence.keep_only(trial.matrix.digest);
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
  Placed<T> placed;  ///< the answer of the last sample
  Judgement verdict;
  Convergence convergence = Convergence::none;  ///< likewise
  Statistics times;                             ///< of the samples that count
};

template <class T>
Samples Executor::sample(const Trial& trial, MethodRun<T>& run, io::Record& record) {
  if (trial.sampling.cold) run.run_cold();
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
    note_launches(record, run, trial.sampling, median, store_);
  }
  // Operands from the host would take most of the time, and of the energy.
  if (on_gpu && trial.energy_seconds > 0 && run.pristine() == Pristine::on_device) {
    at_("energy");
    const StoreWriter::Pause pause(store_);
    note_energy(record, run, trial, device, sampler(), median);
  }
}

template <class T>
Executor::Measured<T> Executor::measure(const Trial& trial, const Method& method, Held<T>& held,
                                        Pristine pristine, io::Record& record) {
  Context& context = context_of(trial.backend);
  Device& device = context.device;
  const Inputs<T>& inputs = held.prepared->inputs;
  const bool again = pristine == Pristine::on_host;
  const bool pinned = trial.pinned && !again;
  const bool on_device = &device == &device_ && !again;
  at_("allocate");
  Residence<T>& residence = held.residence;
  if (&device == &device_ && (pinned || again)) residence.clear();  // its memory is wanted
  Resident<T> there = on_device ? residence.take(context, *held.prepared) : Resident<T>();
  const double earlier = there.has_a() ? residence.upload_seconds() : 0;
  std::optional<MethodRun<T>> run;
  record.allocate_seconds = timed(device, [&] {
    run.emplace(context, method, trial.backend, trial.parameters, trial.shape, trial.inner_repeats, pristine,
                std::move(there));
  });
  at_("upload");
  record.host_memory = host_memory_word(pinned);
  if (pinned) run->lay_out(inputs);
  const bool is_there = run->staging().is_there();
  const double seconds = timed(device, [&] { pinned ? run->upload_laid_out() : run->upload(inputs); });
  record.h2d_seconds = is_there ? earlier : earlier + seconds;
  const std::uint64_t digest = is_there    ? residence.digest()
                               : on_device ? device_digest(context, run->staging().pristine().data(),
                                                           run->staging().pristine().bytes())
                                           : 0;

  at_("warm-up");
  std::optional<StoreWriter::Pause> pause(std::in_place, store_, StoreWriter::Pause::Later{});
  const Sampling& sampling = trial.sampling;
  // Where a run is so long that a cold start does not show in it, the last warm-up measures the stages too.
  const bool stages_too = trial.stages != Stages::never && sampling.warmup > 0 &&
                          sampling.warmup_seconds == 0 && trial.inner_repeats == 1;
  warm_up(*run, sampling, stages_too ? 1 : 0);
  const bool stages_known =
      stages_too && timed(device, [&] { note_stages(record, trial, *run, device); }) > long_run_seconds;

  at_("samples");
  pause->settle(patience_for(trial.backend));
  Measured<T> measured;
  measured.times = sample(trial, *run, record).times();
  pause.reset();
  measured.convergence = run->report().convergence;
  record.convergence = to_string(measured.convergence);
  record.iterations = run->report().iterations;
  record.history = run->report().history;

  at_("download");
  Answer<T>& answer = measured.placed.answer;
  Buffer& on_both = measured.placed.x;
  const auto keep_on_device = [&] {
    if (run && on_device && on_both.data() == nullptr)
      on_both =
          copy_on_device(context, run->staging().answer(run->last_copy()), trial.problem->x(trial.shape));
  };
  record.d2h_seconds = timed(device, [&] {
    if (pinned) return run->fetch();
    if (method.layout != Layout::column_major) keep_on_device();  // which turns it round
    answer = run->download(static_cast<const T*>(on_both.data()));
  });
  if (pinned) answer = run->fetched();
  record.info = answer.info;

  if (again) {  // the judge needs the memory of the runs
    measure_apart(trial, *run, stages_known, measured.times.median, record);
    run.reset();
  }
  at_("verify");  // in place, before anything else runs in the answer's memory
  const double verify_start = now_seconds();
  if (device.backend() == Backend::cuda && run) {
    measured.verdict =
        judge_in_place(context, trial, method, run->staging(), run->last_copy(), digest, inputs, answer);
  } else if (device.backend() == Backend::cuda || (device_.backend() == Backend::cuda && !is_small(trial))) {
    measured.verdict = judge_by_upload(context_, trial, method, inputs, answer);
  } else {
    measured.verdict.findings = check(method, inputs, answer, trial.tolerance);
  }
  record.verify_seconds = now_seconds() - verify_start;
  if (!run) return measured;
  if (registry_.reference(trial.problem, trial.backend) != nullptr) keep_on_device();
  measure_apart(trial, *run, stages_known, measured.times.median, record);
  if (on_device && !pinned)
    residence.keep(run->staging(), *held.prepared, digest, earlier > 0 ? earlier : seconds);
  return measured;
}

template <class T>
io::Record Executor::run_typed(const Trial& trial, const Method& method, const Placement& placement) {
  io::Record record = blank(trial);
  Held<T>& held = hold_inputs<T>(trial, record);
  std::string how = placement.reason;
  Measured<T> measured;
  try {
    io::Record filled = record;
    measured = measure(trial, method, held, placement.pristine, filled);
    record = std::move(filled);
  } catch (const NoPinnedMemory&) {  // less on the device would not help
    throw;
  } catch (const OutOfMemory&) {  // what a library takes is known only when it is called
    if (placement.pristine == Pristine::on_host || !is_smaller_uploaded_again(method, trial)) throw;
    measured = measure(trial, method, held, Pristine::on_host, record);
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
  compare_with_reference(trial, method, held, measured.placed, record);
  return record;
}

}  // namespace gaussweep::driver
