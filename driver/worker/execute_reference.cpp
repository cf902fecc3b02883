// Runs the vendor's method and compares a trial's answer with its answer.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "driver/base/words.hpp"
#include "driver/plan/shared_inputs.hpp"
#include "driver/system/clock.hpp"
#include "driver/worker/execute.hpp"
#include "driver/worker/held.hpp"
#include "driver/worker/warm_up.hpp"
#include "kernels/check/device_reductions.hpp"
#include "kernels/check/facts.hpp"

namespace gaussweep::driver {

namespace {

/// Returns log10(own / reference) of two backward errors; errors below the unit roundoff count as the unit
/// roundoff.
double digits_lost(double own, double reference, Precision precision) {
  const double roundoff = roundoff_of(precision);
  if (!std::isfinite(own) || !std::isfinite(reference)) return io::Record::unknown;
  return std::log10(std::max(own, roundoff) / std::max(reference, roundoff));
}

}  // namespace

template <class T>
bool Executor::run_vendor(const Trial& trial, const Method& vendor, Held<T>& held, io::Record& record) {
  const bool on_host = !vendor.runs_on(trial.backend);
  Context& context = on_host ? host_context_ : context_of(trial.backend);
  Trial as_vendor = trial;
  if (on_host) as_vendor.backend = Backend::host;
  as_vendor.parameters = defaults_of(vendor);
  as_vendor.inner_repeats = 1;
  as_vendor.pinned = false;
  const Placement placement = reference_placement(as_vendor, vendor);
  if (placement.fit != Fit::fits) {
    add_words(record.message, fmt::format("no reference: {} {}", vendor.id(), placement.reason));
    return false;
  }
  const bool in_device_memory = &context.device == &device_ && placement.pristine == Pristine::on_device;
  Resident<T> resident = in_device_memory ? held.residence.take(context, *held.prepared) : Resident<T>();
  const bool was_resident = resident.has_a();
  MethodRun<T> run(context, vendor, as_vendor.backend, as_vendor.parameters, trial.shape, 1,
                   placement.pristine, std::move(resident));
  run.upload(held.prepared->inputs);
  const Buffer* const pristine = in_device_memory && was_resident ? &run.staging().pristine() : nullptr;
  const std::uint64_t digest =
      pristine != nullptr ? device_digest(context, pristine->data(), pristine->bytes()) : 0;
  StoreWriter::Pause pause(store_, StoreWriter::Pause::Later{});
  // The same number of warm-ups as for the compared method.
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
  run.settle();
  Placed<T> placed;
  if (in_device_memory)
    placed.x = copy_on_device(context, run.staging().answer(run.last_copy()), trial.problem->x(trial.shape));
  placed.answer = run.download(static_cast<const T*>(placed.x.data()));
  held.reference.backward_error =
      judge_answer(as_vendor, vendor, in_device_memory && pristine != nullptr ? &run : nullptr,
                   run.last_copy(), digest, held.prepared->inputs, placed.answer)
          .findings.backward_error;
  if (pristine != nullptr)
    held.residence.keep(run.staging(), *held.prepared, digest, held.residence.upload_seconds());
  held.reference.placed = std::move(placed);
  held.reference.seconds = samples.times().median;
  return true;
}

template <class T>
void Executor::compare_with_reference(const Trial& trial, const Method& method, Held<T>& held, Placed<T>& own,
                                      io::Record& record) {
  const Method* vendor = registry_.reference(trial.problem, trial.backend, trial.shape.batch);
  if (vendor == nullptr) return;
  const std::string identity = comparison_identity(trial, *vendor);
  const double start = now_seconds();
  const bool is_vendor = &method == vendor;
  Reference<T>& reference = held.reference;
  leave_host(own);
  if (!is_vendor && (reference.identity != identity || start > reference.good_until)) {
    at_("reference");
    reference = {};
    if (!run_vendor(trial, *vendor, held, record)) return;
  } else if (is_vendor) {
    reference.placed = std::move(own);
    reference.seconds = record.seconds_median;
    reference.backward_error = record.backward_error;
  }
  at_("compare");
  Placed<T>& answer = is_vendor ? reference.placed : own;
  if (is_vendor || reference.identity.empty()) {  // a new reference
    // The reference is measured again from time to time, because clock rates drift. The interval is at least
    // 20 times the cost, so that at most 5 % of the time is spent on references.
    constexpr double min_seconds = 60, cost_factor = 20;
    const double end = now_seconds();
    reference.good_until = end + std::max(min_seconds, cost_factor * (end - start));
    leave_host(reference.placed);
    reference.norm = norm_of(context_, trial.problem, trial.shape, reference.placed);
    reference.identity = identity;
  }
  record.reference_method = vendor->variant;
  record.reference_seconds = reference.seconds;
  record.digits_lost = digits_lost(record.backward_error, reference.backward_error, trial.precision);
  const Difference difference =
      difference_of(context_, trial.problem, trial.shape, answer, reference.placed, reference.norm);
  record.reference_difference = difference.largest;
  record.largest_relative_difference = difference.largest_relative;
  record.mean_relative_difference = difference.mean_relative;
  record.mean_absolute_difference = difference.mean_absolute;
}

template void Executor::compare_with_reference(const Trial&, const Method&, Held<float>&, Placed<float>&,
                                               io::Record&);
template void Executor::compare_with_reference(const Trial&, const Method&, Held<double>&, Placed<double>&,
                                               io::Record&);

}  // namespace gaussweep::driver
