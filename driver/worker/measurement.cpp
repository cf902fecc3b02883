/// Implements Executor::measure, which measures a trial (one method on one matrix). Its steps are operands,
/// warm-up, timed samples, verification, extra passes (stages, launches, energy), and the record. Pristine
/// inputs are the unmodified copy from which every run restores its operands.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "driver/base/statistics.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge_answer.hpp"
#include "driver/plan/roofline_fraction.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/system/timed.hpp"
#include "driver/worker/energy.hpp"
#include "driver/worker/execute.hpp"
#include "driver/worker/inverse_error.hpp"
#include "driver/worker/sampling.hpp"
#include "driver/worker/stage_timer.hpp"
#include "kernels/check/device_reductions.hpp"
#include "kernels/device/cache_flush.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {

namespace {

/// If a run takes longer than this number of seconds, the warm-up gives the times of the stages (named parts
/// of a run). No extra pass is then needed, because the few milliseconds to load the kernels are negligible.
constexpr double long_run_seconds = 1;

/// When, and from which memory, a trial's operands are transferred to its device.
enum class Transfer {
  once,       ///< before the first run; the inputs may stay on the device for the next trial
  pinned,     ///< before the first run, from pinned memory; the inputs do not stay on the device
  every_run,  ///< before every run, from the unmodified inputs on the host
};

Transfer transfer_of(Pristine pristine, const Trial& trial) {
  if (pristine == Pristine::on_host) return Transfer::every_run;
  return trial.pinned ? Transfer::pinned : Transfer::once;
}

/// Records a reading of the GPU's sensors in the sample, and as the last reading in the record.
void record_reading(io::Record& record, io::Sample& sample, const GpuReading& reading) {
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

/// Runs the method once more, and records the times of its stages.
template <class T>
void record_stages(io::Record& record, const Trial& trial, MethodRun<T>& run, Device& device) {
  StageTimer timer(device, trial.stages == Stages::calls);
  run.observed_run(timer);
  record.stages = timer.finish();
  if (device.backend() == Backend::cuda && timer.launches() > 0) record.kernels = timer.launches();
}

/// Returns true if one stage is the whole run. A separate pass for the stages would then add nothing.
bool is_whole_run(const std::vector<io::Stage>& stages) {
  return stages.size() == 1 && stages.front().calls == 1;
}

/// Records whether the run is launch-bound, i.e. the host's kernel launches limit its time. If the run may be
/// launch-bound, compares its time with that of a replay as a CUDA graph.
template <class T>
void record_launches(io::Record& record, MethodRun<T>& run, const Sampling& sampling, double median,
                     StoreWriter& store) {
  // Launches take long if (queue time) / (run time) is at least this.
  constexpr double min_queue_fraction = 0.5;
  // Up to this run time in seconds, the latency of the first launch matters.
  constexpr double short_seconds = 5e-4;
  constexpr double min_ratio = 1.1;  // launch-bound if run time / replay time is larger
  const bool launches_take_long = record.queue_seconds >= min_queue_fraction * median;
  if (!launches_take_long && median > short_seconds) {
    record.launch_bound = 0;
    return;
  }
  StoreWriter::Pause pause(store, /*max_seconds=*/0);
  if (!run.record()) return;
  record.kernels = run.recorded_kernels();
  pause.wait_until_paused(pause_timeout(Backend::cuda));
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
  record.launch_bound = median > min_ratio * replay.median ? 1 : 0;
}

/// Measures and records the energy per run. @param samplers one per GPU @param median seconds of a run
template <class T>
void record_energy(io::Record& record, MethodRun<T>& run, const Trial& trial, Device& device,
                   const std::vector<GpuSampler>& samplers, double median) {
  std::vector<EnergyMeter> meters;
  for (const GpuSampler& sampler : samplers)
    meters.push_back({[&] { return sampler.total_joules(); }, [&] { return sampler.watts(); }, {}});
  const EnergyMeter meter = sum_of(std::move(meters));
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

/// Records the statistics of the run times, and the rates that follow from the median.
void record_times(io::Record& record, const Statistics& s, const Peaks& peaks) {
  record.seconds_min = s.min;
  record.seconds_q1 = s.q1;
  record.seconds_median = s.median;
  record.seconds_mean = s.mean;
  record.seconds_q3 = s.q3;
  record.seconds_max = s.max;
  record.seconds_stdev = s.stdev;
  record.samples = static_cast<std::int64_t>(record.sample_list.size());
  // A method that stopped early did less work than `record.flops`, so it has no rate.
  if (!(s.median > 0) || record.info != 0 || !std::isfinite(record.residual_ratio)) return;
  record.gflops = record.flops / s.median * 1e-9;
  record.peak_share = roofline_fraction(record, peaks);
}

/// Returns true if a run took less time than its operations need at the measured peak, or than its operands
/// need at the measured bandwidth. The operands are considered only if they do not fit in a cache. Returns
/// false for a run that stopped at a pivot, because it did less work.
bool is_too_short(const io::Record& record, const Peaks& peaks, const Trial& trial, Device& device) {
  if (record.info != 0) return false;
  constexpr double caches = 4;  // operands of more than this many last-level caches must come from memory
  const double flops =
      trial.precision == Precision::float32 ? peaks.gemm_flops_float : peaks.gemm_flops_double;
  double min_seconds = flops > 0 ? record.flops / flops : 0;
  if (peaks.copy_bytes_per_second > 0 &&
      record.bytes > caches * static_cast<double>(last_cache_bytes(device))) {
    min_seconds = std::max(min_seconds, record.bytes / peaks.copy_bytes_per_second);
  }
  return record.seconds_median * max_roofline_excess * static_cast<double>(trial.gpus) < min_seconds;
}

/// Up to this order the estimate of an inverse's forward error takes less than a second.
constexpr std::int64_t max_inverse_order = 8192;

/// Returns true if the forward error of the inverse is estimated. `try` shows the estimate, so only matrices
/// of files get one. For small generated matrices it would take as long as the verification.
bool estimates_inverse_error(const Trial& trial) {
  return is_inverse(trial.problem) && trial.matrix.kind == "file" && trial.shape.batch == 1 &&
         trial.shape.n <= max_inverse_order;
}

/// Returns true if the answer of `one` is worse than that of `other`. A disagreement of CPU and GPU about
/// an answer is worst; then the status counts, then the residual ratio.
bool is_worse(const VerifiedAnswer& one, const VerifiedAnswer& other, const Trial& trial) {
  if (one.disagreement.empty() != other.disagreement.empty()) return !one.disagreement.empty();
  const auto status = judge(evidence_of(trial, one)), other_status = judge(evidence_of(trial, other));
  if (status != other_status) return status > other_status;
  return one.findings.ratio > other.findings.ratio;
}

/// Marks an answer as wrong if `flaw`, which describes an error of the method, is not empty.
void mark_flaw(const std::string& flaw, VerifiedAnswer& verified) {
  if (flaw.empty()) return;
  verified.findings.ratio = std::numeric_limits<double>::infinity();
  verified.findings.flaw = flaw;
}

}  // namespace

/// The measurement of one trial. `measure` calls the steps in their order.
template <class T>
class Executor::Measurement {
 public:
  Measurement(Executor& executor, const Trial& trial, const Method& method, CachedInputs<T>& cached,
              Pristine pristine, io::Record& record)
      : executor_(executor),
        trial_(trial),
        method_(method),
        cached_inputs_(cached),
        inputs_(cached.prepared->inputs),
        record_(record),
        context_(executor.context_of(trial.backend)),
        device_(context_.device),
        pristine_(pristine),
        gpus_(gpus_of(method, trial.shape, trial.parameters)),
        transfer_(transfer_of(pristine, trial)) {}

  HeldAnswer<T> measure() {
    allocate();
    upload();
    std::optional<StoreWriter::Pause> pause(std::in_place, executor_.store_, /*max_seconds=*/0);
    warm_up_runs();
    pause->wait_until_paused(pause_timeout(trial_.backend));
    sample();
    pause.reset();
    download();
    std::string write_flaw;  // describes writes to memory that a run must not change
    // With uploads before every run, or several GPUs, the verification needs the memory that the runs occupy.
    if (transfer_ == Transfer::every_run || gpus_ > 1) {
      write_flaw = run_->forbidden_writes();
      run_extra_passes();
      run_.reset();
    }
    verify();
    mark_flaw(write_flaw, verified_);
    if (run_) finish_runs();
    mark_flaw(stream_flaw_, verified_);
    fill_record();
    return std::move(answer_);
  }

 private:
  void begin_step(const char* step) { executor_.begin_step_(step); }
  bool is_on_gpu() const { return trial_.backend == Backend::cuda; }
  /// Returns true if the inputs stay on the worker's device between runs. Returns false for a CPU trial of a
  /// worker with a GPU.
  bool is_resident() const {
    return &device_ == &executor_.device_ && transfer_ != Transfer::every_run && gpus_ == 1;
  }

  void allocate() {
    begin_step("allocate");
    ResidentInputs<T> resident;
    if (is_resident() && transfer_ == Transfer::once) {
      resident = cached_inputs_.take_resident(context_);
      if (resident.has_a()) earlier_seconds_ = cached_inputs_.upload_seconds();
    } else if (&device_ == &executor_.device_) {
      cached_inputs_.free_resident();  // the trial needs this memory
    }
    record_.allocate_seconds = timed(device_, [&] {
      run_.emplace(context_, method_, trial_.backend, trial_.parameters, trial_.shape, trial_.inner_repeats,
                   pristine_, std::move(resident));
    });
  }

  void upload() {
    begin_step("upload");
    const bool pinned = transfer_ == Transfer::pinned;
    record_.host_memory = pinned ? "pinned" : "pageable";
    if (pinned) run_->stage_pinned(inputs_);
    const bool was_resident = run_->staging().has_resident_inputs();
    upload_seconds_ = timed(device_, [&] { pinned ? run_->upload_pinned() : run_->upload(inputs_); });
    record_.h2d_seconds = was_resident ? earlier_seconds_ : earlier_seconds_ + upload_seconds_;
    if (!is_resident()) return;
    const Buffer& resident = run_->staging().pristine();
    digest_ =
        was_resident ? cached_inputs_.digest() : device_digest(context_, resident.data(), resident.bytes());
  }

  /// The last warm-up run also measures the stages. If the run is so long that loading the kernels does not
  /// matter, these times are final. A method with a single stage needs no further pass either, because the
  /// stage's time is the samples' median.
  void warm_up_runs() {
    begin_step("warm-up");
    const Sampling& sampling = trial_.sampling;
    const bool measures_stages = trial_.stages != Stages::never && sampling.warmup > 0 &&
                                 sampling.warmup_seconds == 0 && trial_.inner_repeats == 1;
    warm_up(*run_, sampling, /*counted=*/measures_stages ? 1 : 0);
    if (!measures_stages) return;
    const double seconds = timed(device_, [&] { record_stages(record_, trial_, *run_, device_); });
    stages_known_ = seconds > long_run_seconds || is_whole_run(record_.stages);
  }

  void sample() {
    begin_step("samples");
    if (trial_.sampling.cold) run_->run_cold();
    GpuSampler& sampler = executor_.sampler();
    if (is_on_gpu()) run_->watch_queue(now_seconds);
    std::vector<double> queueing;     // seconds in which the host queued a run, per sample
    std::vector<std::int64_t> waits;  // number of host waits for the device in a run, per sample
    CpuDemand demand(/*ignored=*/0);  // this thread runs the method
    const auto take = [&] {
      io::Sample sample;
      sample.seconds = run_->timed_run();
      queueing.push_back(run_->queue_seconds());
      waits.push_back(run_->waits());
      if (is_on_gpu()) record_reading(record_, sample, sampler.read());
      last_digests_ = run_->answer_digests();
      demand.sample();
      compare_answers(last_digests_);
      return sample;
    };
    const Samples samples = take_samples(trial_.sampling, take, now_seconds);
    times_ = samples.times();
    if (stages_known_ && is_whole_run(record_.stages))
      record_.stages.front().seconds = record_.stages.front().mean = times_.median;
    if (other_digests_.empty()) first_answer_.reset();
    const IterationReport& report = run_->report();
    convergence_ = report.convergence;
    record_.sample_list = samples.all;
    record_.enough = samples.enough;
    record_.cpu_demand = demand.mean();
    if (is_on_gpu()) record_.queue_seconds = summarise(queueing).median;
    if (trial_.backend != Backend::host && !waits.empty())
      record_.waits = *std::min_element(waits.begin(), waits.end());
    // 1: all answers have the same bits; 0: some answers differ; -1: unknown, because there is one sample.
    const std::int64_t without_difference = samples.all.size() > 1 ? 1 : -1;
    record_.repeats_bits = other_digests_.empty() ? without_difference : 0;
    record_.iterations = report.iterations;
    record_.history = report.history;
  }

  /// Compares the digests (hashes) of a sample's answers with the digest of the first answer. A sample has
  /// one answer per working set (copy of the operands). Immediately verifies an answer that differs. Copies
  /// the first answer, so that it can be verified later.
  void compare_answers(const std::vector<std::uint64_t>& digests) {
    if (!first_digest_) {
      first_digest_ = digests.front();
      if (trial_.sampling.max_samples > 1 || digests.size() > 1) first_answer_ = copy_first_answer();
    }
    for (int set = 0; set < static_cast<int>(digests.size()); ++set) {
      const std::uint64_t digest = digests[static_cast<std::size_t>(set)];
      if (digest == first_digest_ || !other_digests_.insert(digest).second) continue;
      keep_worst(verify_answer(&*run_, set, run_->download(set, /*column_major_answer=*/nullptr),
                               run_->report().convergence));
    }
  }

  /// Replaces `worst_` if `verified` is worse.
  void keep_worst(VerifiedAnswer verified) {
    if (!worst_ || is_worse(verified, *worst_, trial_)) worst_ = std::move(verified);
  }

  void download() {
    begin_step("download");
    run_->restore_signs();
    Answer<T>& answer = answer_.answer;
    record_.d2h_seconds = timed(device_, [&] {
      if (transfer_ == Transfer::pinned) return run_->download_pinned();
      if (method_.layout != Layout::column_major) keep_on_device();  // transposes the answer to column-major
      answer = run_->download(answer_.device_x());
    });
    if (transfer_ == Transfer::pinned) answer = run_->pinned_answer();
    // Work on another stream or thread may change the answer after the timed run has ended.
    is_late_ = run_->answer_digests() != last_digests_;
  }

  /// Verifies the last sample's answer in device memory, before other kernels overwrite this memory. Then
  /// verifies the first sample's answer if it differs. The record gets the result of the worst answer of
  /// all samples.
  void verify() {
    begin_step("verify");
    const double start = now_seconds();
    verified_ =
        verify_answer(run_ ? &*run_ : nullptr, run_ ? run_->last_set() : 0, answer_.answer, convergence_);
    if (!other_digests_.empty() && first_digest_ != last_digests_.back()) {
      if (first_answer_) {
        first_answer_->bring_to_host(device_);
        keep_worst(verify_answer(/*run=*/nullptr, /*set=*/0, first_answer_->answer, convergence_));
      } else {
        append_text(record_.message,
                    "the answer of the first sample differs and was not judged: no room to keep it");
      }
    }
    first_answer_.reset();
    if (worst_ && is_worse(*worst_, verified_, trial_)) verified_ = *worst_;
    if (is_late_) mark_flaw("the answer changed after the timed run had ended", verified_);
    record_.info = verified_.info;
    record_.convergence = to_string(verified_.convergence);
    record_.verify_seconds = now_seconds() - start;
  }

  /// Runs the extra passes, which use the operands of the runs. Also keeps the inputs on the device for the
  /// next trial.
  void finish_runs() {
    if (executor_.registry_.reference(trial_.problem, trial_.backend, trial_.shape.batch) != nullptr)
      keep_on_device();
    mark_flaw(run_->forbidden_writes(), verified_);
    run_extra_passes();
    if (is_resident() && transfer_ == Transfer::once)
      cached_inputs_.keep_resident(run_->staging(), digest_,
                                   earlier_seconds_ > 0 ? earlier_seconds_ : upload_seconds_);
  }

  /// Runs the passes after the samples: stages, launches, energy.
  void run_extra_passes() {
    const bool stages_left = trial_.stages != Stages::never && !stages_known_;
    if (stages_left || is_on_gpu()) begin_step("stages");
    if (stages_left) record_stages(record_, trial_, *run_, device_);
    if (!is_on_gpu()) return;
    begin_step("launches");
    if (!method_.library.empty()) check_streams();
    const double median = times_.median;
    record_launches(record_, *run_, trial_.sampling, median, executor_.store_);
    // If operands are uploaded before every run, the uploads would take most of the time and of the energy.
    if (trial_.energy_seconds <= 0 || run_->pristine() != Pristine::on_device) return;
    begin_step("energy");
    const StoreWriter::Pause pause(executor_.store_);
    std::vector<GpuSampler> samplers;
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      samplers.emplace_back(executor_.nvml_,
                            gpu == 0 ? executor_.device_info_.uuid : context_.group->device(gpu).info().uuid);
    }
    record_energy(record_, *run_, trial_, device_, samplers, median);
  }

  /// Finds work that a library's method does on other streams than the device's, because the timing events
  /// may miss it. A CUDA graph recorded from the device's stream lacks this work, so the replay may give a
  /// wrong answer.
  void check_streams() {
    bool leaves_work = false;
    if (!run_->record(&leaves_work)) {
      if (leaves_work) stream_flaw_ = "it leaves work on a stream for which the call's stream does not wait";
      return;
    }
    run_->replayed_run();
    if (run_->answer_digests() == last_digests_) return;
    const VerifiedAnswer replayed =
        verify_answer(&*run_, run_->last_set(),
                      run_->download(run_->last_set(), /*column_major_answer=*/nullptr), convergence_);
    if (judge(evidence_of(trial_, replayed)) == io::Status::failed)
      stream_flaw_ =
          "it works on another stream than the call's: replayed as a CUDA graph, its answer is wrong";
  }

  void fill_record() {
    const Findings& findings = verified_.findings;
    record_.residual_ratio = findings.ratio;
    record_.backward_error = findings.backward_error;
    record_.componentwise_error = findings.componentwise_error;
    record_.forward_error = findings.forward_error;
    const HostMatrix<T>&a = inputs_.a, &x = answer_.answer.x;
    if (estimates_inverse_error(trial_) && !a.empty() && !x.empty())
      record_.forward_error = inverse_error(trial_.problem, trial_.shape.uplo, a, x);
    record_.pivot_growth = findings.pivot_growth;
    record_.first_row_percent = findings.first_row_percent;
    const SystemCounts& systems = verified_.systems;
    record_.systems_pass = systems.pass;
    record_.systems_suspect = systems.suspect;
    record_.systems_failed = systems.failed;
    record_.first_failure = systems.first_failure;
    const Peaks peaks = peaks_of(trial_.backend, executor_.device_.backend(), executor_.peaks_);
    record_times(record_, times_, peaks);
    // The peaks are rates of the vendor's library. If a vendor method exceeds them, other programs disturbed
    // the measurement of the peaks, so its timing is not suspect.
    const bool has_limit = !method_.mixed_precision && !method_.vendor;
    if (has_limit && is_too_short(record_, peaks, trial_, device_)) record_.timing = "suspect";
    const Evidence evidence = evidence_of(trial_, verified_);
    record_.status = name_of(judge(evidence));
    record_.judged_time = fine_time_stamp();
    std::string message = finding_text(evidence);
    append_text(message, systems.description);
    append_text(message, record_.message);
    record_.message = message;
    if (verified_.disagreement.empty()) return;
    record_.status = name_of(io::Status::error);
    record_.message = verified_.disagreement;
  }

  /// Verifies an answer. @param run the run whose working set `set` holds the answer; null if this memory is
  /// freed or overwritten
  VerifiedAnswer verify_answer(MethodRun<T>* run, int set, const Answer<T>& answer, Convergence convergence) {
    const AnswerVerifier<T> verifier(executor_.context_, trial_, method_, inputs_, digest_);
    const bool is_in_place = run != nullptr && gpus_ == 1;
    VerifiedAnswer verified = verifier.verify(answer, is_in_place ? &run->staging() : nullptr, set);
    verified.convergence = convergence;
    return verified;
  }
  /// Copies the answer of the first working set, because later samples overwrite it. Returns nothing if
  /// memory does not suffice, if operands are uploaded for every run, or on several GPUs.
  std::optional<HeldAnswer<T>> copy_first_answer() {
    if (transfer_ == Transfer::every_run || gpus_ > 1) return std::nullopt;
    HeldAnswer<T> first;
    try {
      run_->restore_signs(0);
      if (device_.backend() == Backend::cuda) first.x = device_copy(0);
      first.answer = run_->download(0, first.device_x());
      first.free_host_copy();
      return first;
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  }
  /// Returns a device copy of the answer of working set `set`.
  Buffer device_copy(int set) {
    return copy_on_device(context_, run_->staging().answer(set), trial_.problem->x(trial_.shape));
  }
  /// Makes a column-major device copy of the last sample's answer, for the download and for the comparison
  /// with the vendor's answer.
  void keep_on_device() {
    if (is_resident() && !answer_.is_on_device()) answer_.x = device_copy(run_->last_set());
  }

  Executor& executor_;
  const Trial& trial_;
  const Method& method_;
  CachedInputs<T>& cached_inputs_;
  const Inputs<T>& inputs_;
  io::Record& record_;
  Context& context_;
  Device& device_;
  const Pristine pristine_;
  const int gpus_;
  const Transfer transfer_;
  std::optional<MethodRun<T>> run_;
  /// Digest (hash) of the first sample's answer, and all digests of later answers that differ from it.
  std::optional<std::uint64_t> first_digest_;
  std::set<std::uint64_t> other_digests_;
  std::optional<HeldAnswer<T>> first_answer_;  ///< a copy of the first answer; freed if all answers are equal
  std::optional<VerifiedAnswer> worst_;        ///< the worst result that was passed to `keep_worst`
  HeldAnswer<T> answer_;                       ///< the last sample's answer
  VerifiedAnswer verified_;                    ///< the result of the worst of all samples' answers
  Statistics times_;                           ///< run times of the samples that are not discarded
  double earlier_seconds_ = 0;  ///< upload time of inputs that an earlier trial has left on the device
  double upload_seconds_ = 0;   ///< upload time in this trial
  std::uint64_t digest_ = 0;    ///< digest of the inputs on the worker's device
  bool stages_known_ = false;   ///< true if the warm-up's measurement of the stages is used
  std::vector<std::uint64_t> last_digests_;  ///< digests of the answers immediately after the last sample
  std::string stream_flaw_;                  ///< empty if the method works on the device's stream only
  bool is_late_ = false;                     ///< true if the answers changed after the last sample
  Convergence convergence_ = Convergence::none;
};

template <class T>
HeldAnswer<T> Executor::measure(const Trial& trial, const Method& method, CachedInputs<T>& cached,
                                Pristine pristine, io::Record& record) {
  return Measurement<T>(*this, trial, method, cached, pristine, record).measure();
}

template HeldAnswer<float> Executor::measure(const Trial&, const Method&, CachedInputs<float>&, Pristine,
                                             io::Record&);
template HeldAnswer<double> Executor::measure(const Trial&, const Method&, CachedInputs<double>&, Pristine,
                                              io::Record&);

}  // namespace gaussweep::driver
