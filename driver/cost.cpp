#include "driver/cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/core/staging.hpp"

namespace gaussweep::driver {
namespace {

std::string group(const std::string& problem, const std::string& method, const std::string& precision,
                  const std::string& backend) {
  return fmt::format("{}/{}/{}/{}", problem, method, precision, backend);
}

/// Flop/s before anything was measured: only the order of trials and a first guess of the time hang on it.
double first_guess(Backend backend, bool vendor) {
  switch (backend) {
    case Backend::cuda:
      return vendor ? 1e12 : 5e9;
    case Backend::emulated:
      return 2e7;
    case Backend::host:
      return vendor ? 1e10 : 1e9;
  }
  return 1e9;
}

constexpr double fixed_seconds = 2e-3;  // dispatch, journal, verification of a tiny trial

}  // namespace

double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters) {
  return method.flops != nullptr ? method.flops(shape, parameters) : problem_flops(method.problem, shape);
}

double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision) {
  const std::size_t element = element_bytes(precision);
  return method.bytes != nullptr ? method.bytes(shape, parameters, element)
                                 : problem_bytes(method.problem, shape, element);
}

void CostModel::learn(const io::Record& record) {
  if (!(record.seconds_median > 0) || !(record.flops > 0)) return;
  seen_[group(record.problem, record.method, record.precision, record.backend)].push_back(
      {static_cast<double>(std::max<std::int64_t>(record.n, 1)), record.flops / record.seconds_median});
}

double CostModel::run_seconds(const Trial& trial) const {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr) return 0;
  const double flops = trial_flops(*method, trial.shape, trial.parameters);
  double rate = first_guess(trial.backend, method->vendor);
  const auto found =
      seen_.find(group(std::string(to_string(trial.problem)), trial.method,
                       std::string(to_string(trial.precision)), std::string(to_string(trial.backend))));
  if (found != seen_.end()) {
    // the slowest of the rates seen nearest in size: an estimate that errs does so on the careful side
    const double size = std::log(static_cast<double>(std::max<std::int64_t>(trial.shape.n, 1)));
    double nearest = HUGE_VAL;
    for (const Seen& seen : found->second) {
      const double distance = std::abs(std::log(seen.n) - size);
      if (distance < nearest - 1e-9) {
        nearest = distance;
        rate = seen.rate;
      } else if (distance <= nearest + 1e-9) {
        rate = std::min(rate, seen.rate);
      }
    }
  }
  return flops / rate;
}

double CostModel::estimate(const Trial& trial) const {
  const double runs =
      static_cast<double>(trial.warmup + trial.repeats) * static_cast<double>(trial.inner_repeats) + 1;
  const double elements =
      static_cast<double>(std::max(trial.shape.n, trial.shape.m)) * static_cast<double>(trial.shape.n);
  return fixed_seconds + runs * run_seconds(trial) + 20e-9 * elements;
}

Footprint footprint(const Method& method, const Trial& trial) {
  const std::size_t element = element_bytes(trial.precision);
  const int copies = method.overwrites ? static_cast<int>(trial.inner_repeats) : 1;
  const auto staged =
      static_cast<double>(staging_bytes(method, trial.shape, trial.parameters, element, copies));
  const double operands = problem_bytes(trial.problem, trial.shape, element);
  Footprint result;
  // inputs, the answer, the reference's answer, and a converted copy while verifying
  result.host_bytes = 4 * operands;
  (trial.backend == Backend::cuda ? result.device_bytes : result.host_bytes) += staged;
  result.disk_bytes = trial.matrix.store ? operands : 0;
  return result;
}

}  // namespace gaussweep::driver
