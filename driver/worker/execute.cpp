#include "driver/worker/execute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/base/statistics.hpp"
#include "driver/base/transient_failure.hpp"
#include "driver/base/words.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/shared_inputs.hpp"
#include "driver/protocol/blank_record.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/nvml.hpp"
#include "driver/system/timed.hpp"
#include "driver/worker/energy.hpp"
#include "driver/worker/held.hpp"
#include "driver/worker/placed.hpp"
#include "driver/worker/probe.hpp"
#include "driver/worker/sample_answers.hpp"
#include "driver/worker/stage_timer.hpp"
#include "driver/worker/warm_up.hpp"
#include "io/records/status.hpp"
#include "kernels/core/cache_flush.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/residual_device/device_reductions.hpp"

namespace gaussweep::driver {

namespace {

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

io::Record Executor::run(const Trial& trial) {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr || !method->runs_on(trial.backend)) {
    throw std::runtime_error(describe(trial) + " cannot run in this build");
  }
  const Placement placement = placement_of(trial, *method);
  if (placement.fit == Fit::not_now) throw TransientFailure(io::Status::oom, placement.reason);
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

/// Whether a run took less time than the device needs for its operations at the measured peak, or for its
/// operands, where no cache holds them.
bool is_too_short(const io::Record& record, const Peaks& peaks, const Trial& trial, Device& device) {
  constexpr double slack = 1.5;  // peaks are measured once a run, and clocks change
  constexpr double caches = 4;   // as large, and what is read comes from memory
  const double flops =
      trial.precision == Precision::float32 ? peaks.gemm_flops_float : peaks.gemm_flops_double;
  double least = flops > 0 ? record.flops / flops : 0;
  if (peaks.copy_bytes_per_second > 0 &&
      record.bytes > caches * static_cast<double>(last_cache_bytes(device))) {
    least = std::max(least, record.bytes / peaks.copy_bytes_per_second);
  }
  return record.seconds_median * slack < least;
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
  Placed<T> placed;     ///< the answer of the last sample
  JudgedAnswer judged;  ///< the worst of all samples
  Statistics times;     ///< of the samples that count
};

template <class T>
Samples Executor::sample(const Trial& trial, MethodRun<T>& run, SampleAnswers<T>& answers,
                         io::Record& record) {
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
        answers.look(run.answer_digests());
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

namespace {

/// The answer of the first working set, for a time when others are in its place. Nothing where there is no
/// room.
template <class T>
std::optional<Placed<T>> kept_answer(Context& context, MethodRun<T>& run, const Trial& trial) {
  Placed<T> kept;
  try {
    run.settle(0);
    if (context.device.backend() == Backend::cuda)
      kept.x = copy_on_device(context, run.staging().answer(0), trial.problem->x(trial.shape));
    kept.answer = run.download(0, kept.is_on_device() ? static_cast<const T*>(kept.x.data()) : nullptr);
    leave_host(kept);
    return kept;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

/// An answer is no answer where its method wrote what it must not.
void refuse_writes(const std::string& words, Judgement& verdict) {
  if (words.empty()) return;
  verdict.findings.ratio = std::numeric_limits<double>::infinity();
  verdict.findings.flaw = words;
}

}  // namespace

template <class T>
Judgement Executor::judge_answer(const Trial& trial, const Method& method, MethodRun<T>* run, int copy,
                                 std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer) {
  const bool on_gpu = trial.backend == Backend::cuda;
  if (on_gpu && run != nullptr)
    return judge_in_place(context_, trial, method, run->staging(), copy, digest, inputs, answer);
  if (on_gpu || (device_.backend() == Backend::cuda && !is_small(trial)))
    return judge_by_upload(context_, trial, method, inputs, answer);
  return {check(method, inputs, answer, trial.tolerance), {}};
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
  record.host_memory = pinned ? "pinned" : "pageable";
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
  const auto judge_copy = [&](int copy) {
    JudgedAnswer judged;
    const Answer<T> answer = run->download(copy, nullptr);
    judged.verdict = judge_answer(trial, method, &*run, copy, digest, inputs, answer);
    judged.info = answer.info;
    judged.convergence = run->report().convergence;
    return judged;
  };
  const auto keep_first = [&]() -> std::optional<Placed<T>> {
    if (again) return std::nullopt;
    return kept_answer(context, *run, trial);
  };
  SampleAnswers<T> answers(trial, keep_first, judge_copy);
  Measured<T> measured;
  measured.times = sample(trial, *run, answers, record).times();
  answers.forget_if_same();
  pause.reset();
  record.repeats_bits = answers.repeats_bits();
  record.convergence = to_string(run->report().convergence);
  record.iterations = run->report().iterations;
  record.history = run->report().history;

  at_("download");
  run->settle();
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
  JudgedAnswer last;
  last.info = answer.info;
  last.convergence = run->report().convergence;

  if (again) {  // the judge needs the memory of the runs
    measure_apart(trial, *run, stages_known, measured.times.median, record);
    run.reset();
  }
  at_("verify");  // in place, before anything else runs in the answer's memory
  const double verify_start = now_seconds();
  last.verdict =
      judge_answer(trial, method, run ? &*run : nullptr, run ? run->last_copy() : 0, digest, inputs, answer);
  bool unjudged = false;
  measured.judged = answers.worst(
      last,
      [&](Placed<T>& kept) {
        bring_to_host(device, kept);
        JudgedAnswer judged = last;
        judged.verdict = judge_answer<T>(trial, method, nullptr, 0, 0, inputs, kept.answer);
        judged.info = kept.answer.info;
        return judged;
      },
      unjudged);
  if (unjudged)
    add_words(record.message,
              "the answer of the first sample differs and was not judged: no room to keep it");
  record.info = measured.judged.info;
  record.convergence = to_string(measured.judged.convergence);
  record.verify_seconds = now_seconds() - verify_start;
  if (!run) return measured;
  if (registry_.reference(trial.problem, trial.backend) != nullptr) keep_on_device();
  if (run->pristine() == Pristine::on_device) refuse_writes(run->forbidden_writes(), measured.judged.verdict);
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
  const Judgement& verdict = measured.judged.verdict;
  const Findings& found = verdict.findings;

  record.residual_ratio = found.ratio;
  record.backward_error = found.backward_error;
  record.forward_error = found.forward_error;
  record.pivot_growth = found.pivot_growth;
  record.first_row_percent = found.first_row_percent;
  const Peaks peaks = peaks_of(trial.backend, device_.backend(), peaks_);
  note_times(record, measured.times, peaks, trial.precision);
  if (!method.mixed_precision && is_too_short(record, peaks, trial, context_of(trial.backend).device))
    record.timing = "suspect";
  const Evidence evidence = measured.judged.evidence(trial);
  record.status = word(judge(evidence));
  record.judged_time = fine_time_stamp();
  std::string words = finding_words(evidence);
  add_words(words, record.message);
  record.message = words;
  if (!verdict.disagreement.empty()) {
    record.status = word(io::Status::error);
    record.message = verdict.disagreement;
  }
  add_words(record.message, how);
  if (trial.pinned && record.host_memory != "pinned") add_words(record.message, not_pinned);
  compare_with_reference(trial, method, held, measured.placed, record);
  return record;
}

}  // namespace gaussweep::driver
