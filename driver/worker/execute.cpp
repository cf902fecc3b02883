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
#include "driver/worker/probe.hpp"
#include "driver/worker/stage_timer.hpp"
#include "kernels/check/device_reductions.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/core/staging.hpp"

namespace gaussweep::driver {

namespace {

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
  Prepared<T> prepared;
  std::string reference_identity;  ///< of the answer below: inputs, problem, method
  std::string reference_method;
  Answer<T> reference;
  double reference_seconds = std::numeric_limits<double>::quiet_NaN();
};

Executor::Executor(const Registry& registry, Device& device, io::MatrixStore store, Origin origin,
                   std::function<void(const std::string&)> at)
    : registry_(registry),
      device_(device),
      host_device_(make_host_device(Backend::host, now_seconds)),
      device_info_(worker_device_info(device)),
      context_(device),
      host_context_(*host_device_),
      store_(std::move(store)),
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
  const DeviceInfo device = device_.info();
  const auto device_free = static_cast<double>(device.free_bytes);
  const auto device_total = static_cast<double>(device.total_bytes);
  const Fit fit = fit_of(need.device_bytes, device_free, device_total);
  if (trial.backend == Backend::cuda && fit != Fit::fits) {
    const std::string reason = fmt::format("needs {:.2f} GiB of GPU memory, {:.2f} GiB are free",
                                           need.device_bytes / 0x1p30, device_free / 0x1p30);
    if (fit == Fit::never) return reason;
    throw ForNow("oom", fmt::format("{} of {:.2f} GiB: another process holds the rest", reason,
                                    device_total / 0x1p30));
  }
  Memory host = memory_facts();
  if (need.host_bytes > host.free) {  // what is held of the last trial is not missed
    held_float_.reset();
    held_double_.reset();
    host = memory_facts();
  }
  const Fit host_fit = fit_of(need.host_bytes, host.free, host.most);
  if (host_fit == Fit::fits) return {};
  const std::string reason = fmt::format("needs {:.2f} GiB of host memory, {:.2f} of {:.2f} GiB are free",
                                         need.host_bytes / 0x1p30, host.free / 0x1p30, host.most / 0x1p30);
  if (host_fit == Fit::not_now) throw ForNow("oom", reason);
  return reason;
}

io::Record Executor::run(const Trial& trial) {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr || !method->runs_on(trial.backend)) {
    throw std::runtime_error(describe(trial) + " cannot run in this build");
  }
  const std::string reason = misfit(trial, *method);
  if (!reason.empty()) {
    io::Record record = blank_record(trial, method, origin_);
    record.status = "skipped";
    record.message = reason;
    return record;
  }
  return trial.precision == Precision::float32 ? run_typed<float>(trial, *method)
                                               : run_typed<double>(trial, *method);
}

Peaks peaks_of(Backend trial, Backend device, const Peaks& measured) {
  return trial == Backend::host && device == Backend::cuda ? Peaks{} : measured;
}

namespace {

void summarise_samples(io::Record& record, const Peaks& peaks, Precision precision) {
  std::vector<double> seconds;
  for (const io::Sample& sample : record.sample_list) seconds.push_back(sample.seconds);
  const Statistics s = summarise(seconds);
  record.seconds_min = s.min;
  record.seconds_q1 = s.q1;
  record.seconds_median = s.median;
  record.seconds_mean = s.mean;
  record.seconds_q3 = s.q3;
  record.seconds_max = s.max;
  record.seconds_stdev = s.stdev;
  record.samples = static_cast<std::int64_t>(seconds.size());
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
  sample.throttled = reading.throttled;
  record.sm_clock_mhz = reading.sm_clock_mhz;
  record.power_w = reading.power_w;
  record.temperature_c = reading.temperature_c;
  if (reading.throttled) {
    record.throttled += 1;
    record.throttle_reason = reading.throttle_reason;
  }
}

/// The runs of one trial: its operands where the method computes, and what is done with them.
template <class T>
class Bench {
 public:
  /// Allocates. @throws OutOfMemory, DeviceError
  Bench(Context& context, const Trial& trial, const Method& method)
      : context_(context),
        trial_(trial),
        copies_(method.overwrites ? static_cast<int>(trial.inner_repeats) : 1),
        run_(method.entry(trial.backend).template get<T>()),
        staging_(context.device, method, trial.parameters, trial.shape, copies_) {}

  void upload(const Inputs<T>& inputs) { staging_.upload(inputs); }
  /// Remembers what the inputs are, for the judge. Nothing elsewhere than on a GPU: the CPU has them itself.
  void seal() {
    if (context_.device.backend() != Backend::cuda) return;
    digest_ = device_digest(context_, staging_.pristine().data(), staging_.pristine().bytes());
  }
  /// The answer of the last run.
  Answer<T> download() { return staging_.download(copies_ - 1); }
  /// What the judge says of it, here on the GPU.
  Verdict verify(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer) {
    return judge_in_place(context_, trial_, method, staging_, copies_ - 1, digest_, inputs, answer);
  }
  void warm_up() {
    staging_.reset();
    run_all();
    context_.device.synchronize();
  }
  /// Seconds of one run between two events, operands fresh before the first.
  double sample(Event& begin, Event& end) {
    staging_.reset();
    context_.device.synchronize();
    begin.record();
    run_all();
    end.record();
    context_.device.synchronize();
    return end.seconds_since(begin) / static_cast<double>(trial_.inner_repeats);
  }
  /// The stages of one run, measured.
  std::vector<io::Stage> stages() {
    staging_.reset();
    StageTimer pass(context_.device);
    context_.stages = &pass;
    struct Quiet {
      Context& context;
      ~Quiet() { context.stages = nullptr; }
    } quiet{context_};
    run_once(0);
    return pass.finish();
  }

 private:
  void run_once(int copy) {
    Operands<T> operands = staging_.operands(copy);
    context_.report = {};
    run_(context_, operands, trial_.parameters);
  }
  void run_all() {
    for (std::int64_t repeat = 0; repeat < trial_.inner_repeats; ++repeat) {
      run_once(copies_ == 1 ? 0 : static_cast<int>(repeat));
    }
  }
  Context& context_;
  const Trial& trial_;
  int copies_;
  Run<T> run_;
  Staging<T> staging_;
  std::uint64_t digest_ = 0;
};

}  // namespace

template <class T>
Executor::Held<T>& Executor::hold_inputs(const Trial& trial, io::Record& record) {
  Held<T>& held = this->held<T>();
  if (held.prepared.identity != inputs_identity(trial)) {
    at_("inputs");
    held = Held<T>();  // frees the old ones first
    held.prepared = prepare_inputs<T>(context_, store_, trial);
    record.load_seconds = held.prepared.load_seconds;
    record.generate_seconds = held.prepared.generate_seconds;
  }
  // Trials of one potrf matrix share it whatever their triangle: the judge must look at this trial's.
  held.prepared.inputs.shape = trial.shape;
  return held;
}

template <class T>
Answer<T> Executor::measure(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                            Context& context, io::Record& record, Verdict& verdict) {
  Device& device = context.device;
  at_("allocate");
  std::optional<Bench<T>> bench;
  record.allocate_seconds = timed(device, [&] { bench.emplace(context, trial, method); });
  at_("upload");
  record.h2d_seconds = timed(device, [&] { bench->upload(inputs); });
  bench->seal();

  at_("warm-up");
  // Where a run is so long that a cold start does not show in it, the last warm-up measures the stages too.
  const bool stages_too = trial.stages && trial.warmup > 0 && trial.inner_repeats == 1;
  for (std::int64_t i = stages_too ? 1 : 0; i < trial.warmup; ++i) bench->warm_up();
  const bool stages_known =
      stages_too && timed(device, [&] { record.stages = bench->stages(); }) > long_run_seconds;

  at_("samples");
  const std::unique_ptr<Event> begin = device.make_event(), end = device.make_event();
  const GpuSampler sampler(nvml_, record.gpu_uuid);
  for (std::int64_t i = 0; i < trial.repeats; ++i) {
    io::Sample sample;
    sample.seconds = bench->sample(*begin, *end);
    if (trial.backend == Backend::cuda) note_reading(record, sample, sampler.read());
    record.sample_list.push_back(sample);
  }
  record.convergence = to_string(context.report.convergence);
  record.iterations = context.report.iterations;
  record.history = context.report.history;

  at_("download");
  Answer<T> answer;
  record.d2h_seconds = timed(device, [&] { answer = bench->download(); });
  record.info = answer.info;

  at_("verify");  // before anything else runs in the answer's memory
  const double verify_start = now_seconds();
  if (device.backend() == Backend::cuda) {
    verdict = bench->verify(method, inputs, answer);
  } else if (device_.backend() == Backend::cuda && !is_small(trial)) {
    verdict = judge_by_upload(context_, trial, method, inputs, answer);
  } else {
    verdict.findings = check(method, inputs, answer, trial.tolerance);
  }
  record.verify_seconds = now_seconds() - verify_start;

  if (trial.stages && !stages_known) {
    at_("stages");
    record.stages = bench->stages();
  }
  return answer;
}

template <class T>
io::Record Executor::run_typed(const Trial& trial, const Method& method) {
  io::Record record = blank(trial);
  Context& context = trial.backend == Backend::host ? host_context_ : context_;
  Held<T>& held = hold_inputs<T>(trial, record);
  const Inputs<T>& inputs = held.prepared.inputs;
  Verdict verdict;
  const Answer<T> answer = measure(trial, method, inputs, context, record, verdict);
  const Findings& found = verdict.findings;

  record.residual_ratio = found.ratio;
  record.backward_error = found.backward_error;
  record.forward_error = found.forward_error;
  record.pivot_growth = found.pivot_growth;
  record.first_row_percent = found.first_row_percent;
  summarise_samples(record, peaks_of(trial.backend, device_.backend(), peaks_), trial.precision);
  const Evidence evidence{
      trial.problem, found.ratio, trial.tolerance, record.info, context.report.convergence, found.flaw};
  record.status = judge(evidence);
  record.message = finding_words(evidence);
  if (!verdict.disagreement.empty()) {
    record.status = "error";
    record.message = verdict.disagreement;
  }
  compare_with_reference(trial, method, held, answer, record, context);
  return record;
}

template <class T>
void Executor::compare_with_reference(const Trial& trial, const Method& method, Held<T>& held,
                                      const Answer<T>& answer, io::Record& record, Context& context) {
  const Method* vendor = registry_.reference(trial.problem, trial.backend);
  if (vendor == nullptr) return;
  const bool vendor_on_host = !vendor->runs_on(trial.backend);
  Context& vendor_context = vendor_on_host ? host_context_ : context;
  const std::string identity =
      fmt::format("{} {} {}", held.prepared.identity, vendor->id(), to_string(trial.shape.uplo));
  if (&method == vendor) {
    held.reference = answer;
    held.reference_seconds = record.seconds_median;
    held.reference_identity = identity;
  } else if (held.reference_identity != identity) {
    at_("reference");
    const Parameters defaults = defaults_of(*vendor);
    Device& device = vendor_context.device;
    Staging<T> staging(device, *vendor, defaults, trial.shape, 1);
    staging.upload(held.prepared.inputs);
    const Run<T> run = vendor->entry(vendor_on_host ? Backend::host : trial.backend).template get<T>();
    const std::unique_ptr<Event> begin = device.make_event();
    const std::unique_ptr<Event> end = device.make_event();
    for (int pass = 0; pass < 2; ++pass) {  // the first one warms up
      staging.reset();
      device.synchronize();
      Operands<T> operands = staging.operands(0);
      begin->record();
      run(vendor_context, operands, defaults);
      end->record();
      device.synchronize();
    }
    held.reference = staging.download(0);
    held.reference_seconds = end->seconds_since(*begin);
    held.reference_identity = identity;
  }
  record.reference_method = vendor->variant;
  record.reference_seconds = held.reference_seconds;
  record.reference_difference = difference(trial.problem, trial.shape, answer, held.reference);
}

}  // namespace gaussweep::driver
