#include "driver/worker/execute.hpp"

#include <algorithm>
#include <cmath>

#include "driver/base/transient_failure.hpp"
#include "driver/base/words.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/shared_inputs.hpp"
#include "driver/protocol/blank_record.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/nvml.hpp"
#include "driver/worker/held.hpp"
#include "driver/worker/inverse_error.hpp"
#include "driver/worker/measured.hpp"
#include "driver/worker/probe.hpp"
#include "io/records/status.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/device/cache_flush.hpp"

namespace gaussweep::driver {

namespace {

/// Bytes of freed host memory that are kept for reuse, in addition to two matrices.
constexpr std::size_t kept_bytes = std::size_t{1} << 30;

/// Up to this order the forward error of an inverse takes less than a second.
constexpr std::int64_t max_inverse_order = 8192;

/// Returns true if the record has an estimate of the inverse's forward error. Only matrices of files have one
/// (`try` shows it): in sweeps of small generated matrices it would take as long as the verification.
bool estimates_inverse_error(const Trial& trial) {
  return is_inverse(trial.problem) && trial.matrix.kind == "file" && trial.shape.batch == 1 &&
         trial.shape.n <= max_inverse_order;
}

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
  // A method that stopped early did less work than the rate would claim.
  if (!(s.median > 0) || record.info != 0 || !std::isfinite(record.residual_ratio)) return;
  record.gflops = record.flops / s.median * 1e-9;
  // Fraction of the roofline: the least time that the measured peaks allow, divided by the measured time.
  const double peak_flops =
      precision == Precision::float32 ? peaks.gemm_flops_float : peaks.gemm_flops_double;
  if (peak_flops > 0 && peaks.copy_bytes_per_second > 0) {
    record.peak_share =
        std::max(record.flops / peak_flops, record.bytes / peaks.copy_bytes_per_second) / s.median;
  }
}

/// Returns true if a run took less time than its operations need at the measured peak, or than its operands
/// need at the measured bandwidth if they do not fit in a cache. A run that stopped at a pivot did less work.
bool is_too_short(const io::Record& record, const Peaks& peaks, const Trial& trial, Device& device) {
  if (record.info != 0) return false;
  constexpr double slack = 1.5;  // peaks are measured once per run, and clocks change
  constexpr double caches = 4;   // operands larger than this many last-level caches come from memory
  const double flops =
      trial.precision == Precision::float32 ? peaks.gemm_flops_float : peaks.gemm_flops_double;
  double min_seconds = flops > 0 ? record.flops / flops : 0;
  if (peaks.copy_bytes_per_second > 0 &&
      record.bytes > caches * static_cast<double>(last_cache_bytes(device))) {
    min_seconds = std::max(min_seconds, record.bytes / peaks.copy_bytes_per_second);
  }
  return record.seconds_median * slack < min_seconds;
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
  // All trials of one potrf matrix share it, whatever their triangle; `shape` selects this trial's triangle.
  held.prepared->inputs.shape = trial.shape;
  return held;
}

template <class T>
Judgement Executor::judge_answer(const Trial& trial, const Method& method, MethodRun<T>* run, int copy,
                                 std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer) {
  const bool on_gpu = trial.backend == Backend::cuda;
  if (trial.shape.batch > 1) {
    return on_gpu && run != nullptr
               ? judge_systems_in_place(context_, trial, method, run->staging(), copy, digest, inputs, answer)
               : judge_systems(trial, method, inputs, answer);
  }
  const bool uploads = on_gpu || (device_.backend() == Backend::cuda && !is_small(trial));
  Judgement verdict = on_gpu && run != nullptr ? judge_in_place(context_, trial, method, run->staging(), copy,
                                                                digest, inputs, answer)
                      : uploads                ? judge_by_upload(context_, trial, method, inputs, answer)
                                               : judge_on_cpu(trial, method, inputs, answer);
  verdict.info = answer.info;
  return verdict;
}

template <class T>
io::Record Executor::run_typed(const Trial& trial, const Method& method, const Placement& placement) {
  io::Record record = blank(trial);
  Held<T>& held = hold_inputs<T>(trial, record);
  std::string note = placement.reason;
  Measured<T> measured;
  try {
    io::Record filled = record;
    measured = measure(trial, method, held, placement.pristine, filled);
    record = std::move(filled);
  } catch (const NoPinnedMemory&) {  // less memory on the device would not help
    throw;
  } catch (const OutOfMemory&) {  // the memory that a library needs is known only once it fails
    if (placement.pristine == Pristine::on_host || !is_smaller_uploaded_again(method, trial)) throw;
    measured = measure(trial, method, held, Pristine::on_host, record);
    note = uploaded_again;
  }
  const Judgement& verdict = measured.judged.verdict;
  const Findings& findings = verdict.findings;

  record.residual_ratio = findings.ratio;
  record.backward_error = findings.backward_error;
  record.componentwise_error = findings.componentwise_error;
  record.forward_error = findings.forward_error;
  const HostMatrix<T>&a = held.prepared->inputs.a, &x = measured.placed.answer.x;
  if (estimates_inverse_error(trial) && !a.empty() && !x.empty())
    record.forward_error = inverse_error(trial.problem, trial.shape.uplo, a, x);
  record.pivot_growth = findings.pivot_growth;
  record.first_row_percent = findings.first_row_percent;
  record_tally(record, verdict.systems);
  const Peaks peaks = peaks_of(trial.backend, device_.backend(), peaks_);
  note_times(record, measured.times, peaks, trial.precision);
  // The peaks are rates of the vendor's library. If a vendor method exceeds them, other programs disturbed
  // the measurement of the peaks, so its timing is not suspect.
  const bool has_limit = !method.mixed_precision && !method.vendor;
  if (has_limit && is_too_short(record, peaks, trial, context_of(trial.backend).device))
    record.timing = "suspect";
  const Evidence evidence = measured.judged.evidence(trial);
  record.status = word(judge(evidence));
  record.judged_time = fine_time_stamp();
  std::string words = finding_words(evidence);
  add_words(words, verdict.systems.words);
  add_words(words, record.message);
  record.message = words;
  if (!verdict.disagreement.empty()) {
    record.status = word(io::Status::error);
    record.message = verdict.disagreement;
  }
  add_words(record.message, note);
  if (trial.pinned && record.host_memory != "pinned") add_words(record.message, not_pinned);
  compare_with_reference(trial, method, held, measured.placed, record);
  return record;
}

template Judgement Executor::judge_answer(const Trial&, const Method&, MethodRun<float>*, int, std::uint64_t,
                                          const Inputs<float>&, const Answer<float>&);
template Judgement Executor::judge_answer(const Trial&, const Method&, MethodRun<double>*, int, std::uint64_t,
                                          const Inputs<double>&, const Answer<double>&);

}  // namespace gaussweep::driver
