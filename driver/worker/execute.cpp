/// Runs one trial (one method on one matrix) in the worker process: inputs, warm-up, timed samples, stages,
/// verification, and the comparison with the reference. The reference is the answer of the vendor's method (a
/// library routine) for the same inputs. Pristine inputs are the unmodified copy from which every run
/// restores its operands.

#include "driver/worker/execute.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge_answer.hpp"
#include "driver/plan/trial.hpp"
#include "driver/protocol/trial_record.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "driver/worker/probe.hpp"
#include "driver/worker/sampling.hpp"
#include "io/records/status.hpp"
#include "kernels/check/device_reductions.hpp"
#include "kernels/check/facts.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {

namespace {

/// The cache of freed large host blocks keeps at most twice the size of the largest block plus these bytes.
constexpr std::size_t extra_cache_bytes = std::size_t{1} << 30;

/// Returns log10(error / reference_error) of two backward errors. Replaces errors below the unit roundoff by
/// the unit roundoff, because errors below it differ only by chance.
double digits_lost(double error, double reference_error, Precision precision) {
  const double roundoff = roundoff_of(precision);
  if (!std::isfinite(error) || !std::isfinite(reference_error)) return io::Record::unknown;
  return std::log10(std::max(error, roundoff) / std::max(reference_error, roundoff));
}

/// Returns the free and total memory of the device and the host.
/// @param group the devices of a trial on several GPUs, of which the smallest values are returned; null on
/// one GPU
FreeMemory free_memory(const Device& device, DeviceGroup* group = nullptr, int gpus = 1) {
  DeviceInfo info = device.info();
  for (int index = 1; group != nullptr && index < gpus; ++index) {
    const DeviceInfo other = group->device(index).info();
    info.free_bytes = std::min(info.free_bytes, other.free_bytes);
    info.total_bytes = std::min(info.total_bytes, other.total_bytes);
  }
  FreeMemory memory{info.name, static_cast<double>(info.free_bytes), static_cast<double>(info.total_bytes),
                    usable_memory()};
  if (device.backend() == Backend::cuda) return memory;
  memory.device_free = std::min(memory.device_free, memory.host.free);
  memory.device_total = std::min(memory.device_total, memory.host.limit);
  return memory;
}

}  // namespace

Executor::Executor(const Registry& registry, Context& context, StoreWriter& store, Origin origin,
                   std::function<void(const std::string&)> begin_step)
    : registry_(registry),
      device_(context.device),
      host_device_(make_host_device(Backend::host, now_seconds)),
      device_info_(worker_device_info(context.device)),
      context_(context),
      host_context_(*host_device_),
      store_(store),
      origin_(std::move(origin)),
      begin_step_(std::move(begin_step)) {
  LargeBlocks::of_process().keep(extra_cache_bytes);
}

Executor::~Executor() {
  LargeBlocks::of_process().keep_no_blocks();
}

io::Record Executor::blank(const Trial& trial) const {
  io::Record record = blank_record(trial, registry_.find(trial.problem, trial.method), origin_);
  if (trial.backend == Backend::cuda) {
    record.gpu_uuid = device_info_.uuid;
    record.gpu_name = device_info_.name;
    record.capability = device_info_.capability;
    record.device_index = origin_.device_index;
  }
  return record;
}

Peaks peaks_of(Backend trial, Backend device, const Peaks& measured) {
  return trial == Backend::host && device == Backend::cuda ? Peaks{} : measured;
}

GpuSampler& Executor::sampler() {
  if (!sampler_) sampler_.emplace(nvml_, device_info_.uuid);
  return *sampler_;
}

void Executor::require_gpus(const Trial& trial, int gpus) const {
  const int owned = group_ == nullptr || trial.backend == Backend::host ? 1 : group_->size();
  if (owned < gpus) {
    throw NotOffered(fmt::format("needs {} GPUs, the rank has {}: see run --gpus-per-rank", gpus, owned));
  }
  const std::string fault = group_->peer_fault(gpus);
  if (!fault.empty()) throw NotOffered(fmt::format("{} GPUs need peer access, but {}", gpus, fault));
  if (trial.inner_repeats > 1 || trial.pinned || trial.sampling.cold)
    throw NotOffered("on several GPUs, inner_repeats, pinned host memory and cold caches are not supported");
}

io::Record Executor::run(const Trial& trial) {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr || !method->runs_on(trial.backend)) {
    throw std::runtime_error(describe(trial) + " cannot run in this build");
  }
  const int gpus = gpus_of(*method, trial.shape, trial.parameters);
  if (gpus > 1) require_gpus(trial, gpus);
  const DeviceGroupScope used(context_, gpus > 1 ? group_ : nullptr);
  const Admission admission = admit_run(trial, *method, /*is_reference=*/false);
  if (gpus > 1 && admission.fit == Fit::never) throw OutOfMemory(admission.reason);
  if (admission.fit == Fit::not_now) throw TransientFailure(io::Status::oom, admission.reason);
  if (admission.fit == Fit::never) {
    io::Record record = blank(trial);
    record.status = name_of(io::Status::skipped);
    record.message = admission.reason;
    return record;
  }
  return trial.precision == Precision::float32 ? run_typed<float>(trial, *method, admission)
                                               : run_typed<double>(trial, *method, admission);
}

template <class T>
io::Record Executor::run_typed(const Trial& trial, const Method& method, const Admission& admission) {
  io::Record record = blank(trial);
  CachedInputs<T>& cached = cache_inputs<T>(trial, record);
  std::string note = admission.reason;
  HeldAnswer<T> answer;
  try {
    // A first try that fails must leave `record` unchanged for the second.
    io::Record filled = record;
    answer = measure(trial, method, cached, admission.pristine, filled);
    record = std::move(filled);
  } catch (const NoPinnedMemory&) {  // host memory ran out, so a retry with less device memory cannot help
    throw;
  } catch (const OutOfMemory&) {
    // `admission` does not include memory that a library allocates itself. The second try needs less device
    // memory, because it keeps the pristine inputs on the host.
    if (admission.pristine == Pristine::on_host || !uploading_again_saves_memory(method, trial)) throw;
    answer = measure(trial, method, cached, Pristine::on_host, record);
    note = uploaded_again;
  }
  append_text(record.message, note);
  if (trial.pinned && record.host_memory != "pinned") append_text(record.message, not_pinned);
  compare_with_reference(trial, method, cached, answer, record);
  return record;
}

Admission Executor::admit_run(const Trial& trial, const Method& method, bool is_reference) {
  // Trials with at most this number of bytes (64 MiB) are so short that a query of the free memory would
  // delay them.
  constexpr double small_trial_bytes = 0x1p26;
  constexpr double query_interval = 1;  // maximum seconds between two queries
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Footprint need = footprint(method, trial);
  const bool is_small = need.device_bytes + need.host_bytes <= small_trial_bytes;
  if (is_small && now_seconds() < ample_memory_until_) return {};
  const Device& device = context_of(trial.backend).device;
  const int gpus = gpus_of(method, trial.shape, trial.parameters);
  DeviceGroup* const group = context_.group;
  FreeMemory memory = free_memory(device, group, gpus);
  if (need.device_bytes > memory.device_free) {  // memory held for earlier trials can be freed
    if (auto* cached = std::get_if<CachedInputs<float>>(&cached_inputs_)) cached->free_device_memory();
    if (auto* cached = std::get_if<CachedInputs<double>>(&cached_inputs_)) cached->free_device_memory();
    memory = free_memory(device, group, gpus);
  }
  // The host memory for the vendor's answer was checked before, as part of the trial's own footprint.
  if (is_reference) {
    memory.host = {infinity, infinity};
    return admit(method, trial, memory);
  }
  if (need.host_bytes > memory.host.free) {
    cached_inputs_ = {};
    store_.finish([&] { begin_step_("store"); });  // matrices waiting to be stored can be freed too
    LargeBlocks::of_process().trim();
    memory = free_memory(device, group, gpus);
  }
  Admission admission = admit(method, trial, memory);
  if (admission.fit != Fit::fits) return admission;
  const auto free = std::min(static_cast<double>(device_.info().free_bytes), memory.host.free);
  // Leaves room for 16 small trials, because all memory of this trial may stay allocated.
  const bool is_ample = std::min(free, memory.device_free) > need.device_bytes + 16 * small_trial_bytes;
  ample_memory_until_ = is_ample ? now_seconds() + query_interval : 0;
  return admission;
}

template <class T>
CachedInputs<T>& Executor::cache_inputs(const Trial& trial, io::Record& record) {
  CachedInputs<T>& cached = this->cached_inputs<T>();
  if (!cached.prepared || cached.prepared->identity != inputs_identity(trial)) {
    begin_step_("inputs");
    std::shared_ptr<Prepared<T>> last = std::move(cached.prepared);
    cached.reference = {};  // frees the old answers before new inputs are allocated
    cached.free_resident_unless(trial.matrix.digest);
    cached.prepared = prepare_inputs<T>(context_, store_, trial, std::move(last), begin_step_);
    record.load_seconds = cached.prepared->load_seconds;
    record.generate_seconds = cached.prepared->generate_seconds;
  }
  // The potrf trials of one matrix share `prepared` for both triangles; `shape` selects this trial's
  // triangle.
  cached.prepared->inputs.shape = trial.shape;
  return cached;
}

template <class T>
void Executor::compare_with_reference(const Trial& trial, const Method& method, CachedInputs<T>& cached,
                                      HeldAnswer<T>& trial_answer, io::Record& record) {
  const Method* vendor = registry_.reference(trial.problem, trial.backend, trial.shape.batch);
  if (vendor == nullptr) return;
  // Also recorded if the vendor's method does not run now: speedups are computed from the vendor's own trial.
  record.reference_method = vendor->variant;
  if (!trial.has_reference) return;
  const std::string identity = comparison_identity(trial, *vendor);
  const double start = now_seconds();
  const bool is_vendor = &method == vendor;
  HeldAnswer<T>& reference = cached.reference;
  trial_answer.free_host_copy();
  if (!is_vendor && (reference.identity != identity || start > reference.valid_until)) {
    begin_step_("reference");
    reference = {};
    if (!run_vendor(trial, *vendor, cached, record)) return;
  } else if (is_vendor) {
    reference = std::move(trial_answer);
    reference.seconds = record.seconds_median;
    reference.backward_error = record.backward_error;
  }
  begin_step_("compare");
  HeldAnswer<T>& answer = is_vendor ? reference : trial_answer;
  if (is_vendor || reference.identity.empty()) {  // a new reference
    // The reference is measured again from time to time, because clock rates drift. The interval is at least
    // 20 times the cost, so that at most 5 % of the time is spent on references.
    constexpr double min_seconds = 60, cost_factor = 20;
    const double end = now_seconds();
    reference.valid_until = end + std::max(min_seconds, cost_factor * (end - start));
    reference.free_host_copy();
    reference.norm = norm_of(context_, trial.problem, trial.shape, reference);
    reference.identity = identity;
  }
  record.reference_seconds = reference.seconds;
  record.digits_lost = digits_lost(record.backward_error, reference.backward_error, trial.precision);
  const Difference difference =
      difference_of(context_, trial.problem, trial.shape, answer, reference, reference.norm);
  record.reference_difference = difference.largest;
  record.largest_relative_difference = difference.largest_relative;
  record.mean_relative_difference = difference.mean_relative;
  record.mean_absolute_difference = difference.mean_absolute;
}

template <class T>
bool Executor::run_vendor(const Trial& trial, const Method& vendor, CachedInputs<T>& cached,
                          io::Record& record) {
  const bool on_host = !vendor.runs_on(trial.backend);
  Context& context = on_host ? host_context_ : context_of(trial.backend);
  Trial as_vendor = trial;
  if (on_host) as_vendor.backend = Backend::host;
  as_vendor.parameters = defaults_of(vendor);
  as_vendor.inner_repeats = 1;
  as_vendor.pinned = false;
  const Admission admission = admit_run(as_vendor, vendor, /*is_reference=*/true);
  if (admission.fit != Fit::fits) {
    append_text(record.message, fmt::format("no reference: {} {}", vendor.id(), admission.reason));
    return false;
  }
  // The vendor's runs on one GPU, with uploads before every run, would take longer than the trial itself.
  if (trial.gpus > 1 && admission.pristine == Pristine::on_host) {
    append_text(record.message,
                fmt::format("no reference: {} has no room for its operands twice on one GPU", vendor.id()));
    return false;
  }
  const bool in_device_memory = &context.device == &device_ && admission.pristine == Pristine::on_device;
  ResidentInputs<T> resident = in_device_memory ? cached.take_resident(context) : ResidentInputs<T>();
  const bool was_resident = resident.has_a();
  MethodRun<T> run(context, vendor, as_vendor.backend, as_vendor.parameters, trial.shape, /*repeats=*/1,
                   admission.pristine, std::move(resident));
  run.upload(cached.prepared->inputs);
  const Buffer* const pristine = in_device_memory && was_resident ? &run.staging().pristine() : nullptr;
  const std::uint64_t digest =
      pristine != nullptr ? device_digest(context, pristine->data(), pristine->bytes()) : 0;
  StoreWriter::Pause pause(store_, /*max_seconds=*/0);
  // Runs the method once untimed. If the plan gives the warm-up as a time (warmup_seconds), runs the plan's
  // whole warm-up.
  warm_up(run, trial.sampling, trial.sampling.warmup_seconds > 0 ? 0 : trial.sampling.warmup - 1);
  pause.wait_until_paused(pause_timeout(as_vendor.backend));
  if (trial.sampling.cold) run.run_cold();
  GpuSampler& sampler = this->sampler();
  const Samples samples = take_samples(
      trial.sampling,
      [&] {
        io::Sample sample;
        sample.seconds = run.timed_run();
        if (!on_host) sample.throttled = sampler.read().throttled;
        return sample;
      },
      now_seconds);
  run.restore_signs();  // every second run has negated operands, so that a stale answer is found
  HeldAnswer<T>& answer = cached.reference;
  if (in_device_memory)
    answer.x = copy_on_device(context, run.staging().answer(run.last_set()), trial.problem->x(trial.shape));
  answer.answer = run.download(answer.device_x());
  const AnswerVerifier<T> verifier(context_, as_vendor, vendor, cached.prepared->inputs, digest);
  answer.backward_error =
      verifier.verify(answer.answer, pristine != nullptr ? &run.staging() : nullptr, run.last_set())
          .findings.backward_error;
  if (pristine != nullptr) cached.keep_resident(run.staging(), digest, cached.upload_seconds());
  answer.seconds = samples.times().median;
  return true;
}

}  // namespace gaussweep::driver
