#include "driver/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "driver/plan/demand.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {

double log_size(std::int64_t n) {
  return std::log(static_cast<double>(std::max<std::int64_t>(n, 1)));
}

/// The rate seen nearest in size. Of two equally near the slower: an estimate that errs does so on the
/// careful side. @pre not empty
double nearest_rate(const std::map<double, double>& rates, double size) {
  const auto above = rates.lower_bound(size);
  if (above == rates.begin()) return above->second;
  const auto below = std::prev(above);
  if (above == rates.end()) return below->second;
  const double nearer = (above->first - size) - (size - below->first);
  if (std::abs(nearer) < 1e-9) return std::min(above->second, below->second);
  return nearer < 0 ? above->second : below->second;
}

Precision other_of(Precision precision) {
  return precision == Precision::float64 ? Precision::float32 : Precision::float64;
}

// On an H200 the papers' kernels reach 0.0004 to 0.1 of its GEMM's rate, triangular solves less, but those
// are short.
constexpr double share_of_gemm = 1e-3;
// The vendor's getrf, potrf and inverses reach 0.3 to 0.7 of it from n = 16384 on, and less the smaller they
// are.
constexpr double vendor_share_of_gemm = 0.1, vendor_full_order = 16384;
constexpr double fixed_seconds = 2e-3;  // dispatch, journal, verification of a tiny trial

}  // namespace

void CostModel::learn(const io::Record& record) {
  if (!(record.seconds_median > 0) || !(record.flops > 0)) return;
  const double rate = record.flops / record.seconds_median;
  const auto problem = from_string<Problem>(record.problem);
  const auto precision = from_string<Precision>(record.precision);
  const auto backend = from_string<Backend>(record.backend);
  const Method* method = problem ? registry_.find(*problem, record.method) : nullptr;
  if (method == nullptr || !precision || !backend) return;  // of another version
  Seen& seen = seen_[{&problem->row(), *precision, *backend}];
  const auto [known, fresh] = seen.rates[method].try_emplace(log_size(record.n), rate);
  if (!fresh) known->second = std::min(known->second, rate);
  const double whole = parse_time(record.end_time) - record.prepare_began;
  const auto runs = static_cast<double>((record.warmup + record.samples) * record.inner_repeats +
                                        (record.stages.empty() ? 0 : 1));
  if (!(whole >= 0)) return;  // of a version that did not say when
  Mean& mean = seen.besides[record.n];
  mean.seconds += std::max(0.0, whole - runs * record.seconds_median);
  mean.count += 1;
}

void CostModel::learn(const io::DeviceRow& device) {
  const auto slowest = [](double& known, double rate) {
    if (rate > 0) known = known > 0 ? std::min(known, rate) : rate;
  };
  slowest(slowest_gemm_float_, device.gemm_flops_float);
  slowest(slowest_gemm_double_, device.gemm_flops_double);
}

/// What was seen of a method at the size nearest to the trial's, in flop/s; 0: nothing.
double CostModel::seen_rate(const Trial& trial, const Method& method, Precision precision) const {
  const auto seen = seen_.find({&trial.problem.row(), precision, trial.backend});
  if (seen == seen_.end()) return 0;
  const auto rates = seen->second.rates.find(&method);
  return rates == seen->second.rates.end() ? 0 : nearest_rate(rates->second, log_size(trial.shape.n));
}

/// The slowest rate seen of what is like the method: its namesakes of other problems, and of its own problem
/// the vendor's if it is one, else all that are none. 0: nothing.
double CostModel::rate_of_relatives(const Trial& trial, const Method& method) const {
  double slowest = 0;
  for (const auto& [kind, seen] : seen_) {
    const auto& [problem, precision, backend] = kind;
    if (precision != trial.precision || backend != trial.backend) continue;
    for (const auto& [other, rates] : seen.rates) {
      const bool relative = problem == &method.problem.row() ? other->vendor == method.vendor
                                                             : other->variant == method.variant;
      if (!relative) continue;
      const double rate = nearest_rate(rates, log_size(trial.shape.n));
      slowest = slowest > 0 ? std::min(slowest, rate) : rate;
    }
  }
  return slowest;
}

/// Flop/s before anything was measured: only the order of trials and a first guess of the time hang on it.
double CostModel::first_rate(const Trial& trial, const Method& method) const {
  switch (trial.backend) {
    case Backend::cuda: {
      const bool single = trial.precision == Precision::float32;
      const double gemm = single ? slowest_gemm_float_ : slowest_gemm_double_;
      if (!method.vendor) return std::max(5e9, share_of_gemm * gemm);
      if (!(gemm > 0)) return 1e12;
      const double full = static_cast<double>(trial.shape.n) / vendor_full_order;
      return vendor_share_of_gemm * gemm * std::clamp(full, 0.01, 1.0);
    }
    case Backend::emulated:
      return 2e7;
    case Backend::host:
      return method.vendor ? 1e10 : 1e9;
  }
  return 1e9;
}

double CostModel::run_seconds(const Trial& trial) const {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr) return 0;
  const double flops = trial_flops(*method, trial.shape, trial.parameters);
  // Measured times are of all iterations, and so are the rates made of them.
  for (const Precision precision : {trial.precision, other_of(trial.precision)}) {
    const double rate = seen_rate(trial, *method, precision);
    if (rate > 0) return flops / rate;
  }
  const double iterations =
      method->iterations != nullptr ? method->iterations(trial.shape, trial.parameters) : 1;
  const double guess = iterations * flops / first_rate(trial, *method);
  // Relatives may be a thousand times as fast or as slow: halfway between them and the guess.
  const double relatives = rate_of_relatives(trial, *method);
  return relatives > 0 ? std::sqrt(guess * (flops / relatives)) : guess;
}

double CostModel::besides(const Trial& trial) const {
  const std::int64_t n = std::max(trial.shape.n, trial.shape.m);
  const auto elements = [](std::int64_t order) {
    return static_cast<double>(order) * static_cast<double>(order);
  };
  const auto seen = seen_.find({&trial.problem.row(), trial.precision, trial.backend});
  if (seen == seen_.end() || seen->second.besides.empty())
    return fixed_seconds + 20e-9 * static_cast<double>(n) * static_cast<double>(trial.shape.n);
  const std::map<std::int64_t, Mean>& means = seen->second.besides;
  const auto above = means.lower_bound(trial.shape.n);
  const auto& [order, mean] = above == means.end() ? *std::prev(above) : *above;
  const double grown = std::max(1.0, elements(trial.shape.n) / elements(std::max<std::int64_t>(order, 1)));
  return grown * mean.seconds / mean.count;
}

double CostModel::estimate(const Trial& trial) const {
  const double runs = static_cast<double>(trial.sampling.warmup + trial.sampling.least) *
                          static_cast<double>(trial.inner_repeats) +
                      (trial.stages == Stages::never ? 0 : 1);
  // Energy is measured with the runs and once more without them.
  return besides(trial) + runs * run_seconds(trial) + trial.sampling.warmup_seconds +
         (trial.backend == Backend::cuda ? 2 * trial.energy_seconds : 0);
}

}  // namespace gaussweep::driver
