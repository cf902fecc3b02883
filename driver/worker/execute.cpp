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
#include "driver/worker/measured.hpp"
#include "driver/worker/probe.hpp"
#include "io/records/status.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/device/cache_flush.hpp"

namespace gaussweep::driver {

namespace {

/// Of host memory, beside two matrices.
constexpr std::size_t kept_bytes = std::size_t{1} << 30;

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
  record.componentwise_error = found.componentwise_error;
  record.forward_error = found.forward_error;
  record.pivot_growth = found.pivot_growth;
  record.first_row_percent = found.first_row_percent;
  tell(record, verdict.systems);
  const Peaks peaks = peaks_of(trial.backend, device_.backend(), peaks_);
  note_times(record, measured.times, peaks, trial.precision);
  // The peaks are rates of the vendor's library: what exceeds them there was measured beside other programs.
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
  add_words(record.message, how);
  if (trial.pinned && record.host_memory != "pinned") add_words(record.message, not_pinned);
  compare_with_reference(trial, method, held, measured.placed, record);
  return record;
}

template Judgement Executor::judge_answer(const Trial&, const Method&, MethodRun<float>*, int, std::uint64_t,
                                          const Inputs<float>&, const Answer<float>&);
template Judgement Executor::judge_answer(const Trial&, const Method&, MethodRun<double>*, int, std::uint64_t,
                                          const Inputs<double>&, const Answer<double>&);

}  // namespace gaussweep::driver
