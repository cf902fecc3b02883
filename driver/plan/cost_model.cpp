/// Estimates the time of trials from the records of similar trials, or with a rough guess.

#include "driver/plan/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "driver/base/text_format.hpp"
#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

/// Returns ln n; 0 for n < 1.
double log_size(std::int64_t n) {
  return std::log(static_cast<double>(std::max<std::int64_t>(n, 1)));
}

/// Returns the recorded rate at the size nearest to `log_n`. If two sizes are equally near, returns the lower
/// rate: an estimated time that is too long does less harm than one that is too short.
/// @param rates ln n → rate in flop/s. @pre rates is not empty
double nearest_rate(const std::map<double, double>& rates, double log_n) {
  const auto above = rates.lower_bound(log_n);
  if (above == rates.begin()) return above->second;
  const auto below = std::prev(above);
  if (above == rates.end()) return below->second;
  const double to_above = above->first - log_n, to_below = log_n - below->first;  // distances
  if (std::abs(to_above - to_below) < 1e-9) return std::min(above->second, below->second);
  return to_above < to_below ? above->second : below->second;
}

/// Returns the order of one square matrix that has the number of elements of the whole batch of n x n
/// matrices: n sqrt(batch).
std::int64_t equivalent_order(std::int64_t n, std::int64_t batch) {
  return std::llround(static_cast<double>(n) * std::sqrt(static_cast<double>(batch)));
}

Precision other_of(Precision precision) {
  return precision == Precision::float64 ? Precision::float32 : Precision::float64;
}

// The guessed rate of kernels from papers, as a fraction of the device's GEMM rate. On an H200 they reach
// 0.0004 to 0.1 of the GEMM rate. Triangular solves reach less, but they take little time.
constexpr double gemm_fraction = 1e-3;
// The guessed rate of optimised methods (see is_optimised) at n >= full_order, as a fraction of the GEMM
// rate. Below full_order the fraction is proportional to n. The guess is low: from this order on, the
// vendor's getrf, potrf and inverses reach 0.3 to 0.7 of the GEMM rate.
constexpr double optimised_gemm_fraction = 0.1, full_order = 16384;
// methods that need at least this compute capability count as optimised
constexpr int optimised_capability = 80;
constexpr double fixed_seconds = 2e-3;  // for dispatch, journal and verification of a tiny trial

// An estimated range of times is [likely / factor, likely * factor]. This is the factor if one trial with the
// same number of operations was recorded.
constexpr double usual_scatter = 1.15;
// The factor if the time is interpolated between two recorded numbers of operations.
constexpr double between_scatter = 1.25;
// Outside of the recorded numbers of operations, times are extrapolated as operations^slope. Short trials are
// mostly overhead (slope 0), long ones mostly arithmetic (slope 1). The three slopes below are for the likely
// time and its bounds. They are used if only one number of operations was recorded; otherwise the likely
// slope is fitted to the two nearest numbers.
constexpr double likely_slope = 0.6, least_slope = 0.2, most_slope = 1;
constexpr double slope_error = 0.25;  // the fitted slope may be off by this much
constexpr double flattening = 0.75;   // factor on a fitted slope below the smallest number of operations
// A range is shown as one time if its upper bound is less than this multiple of its lower bound.
constexpr double narrow_range = 1.2;

/// Returns true for the vendor's methods, and for those that are written for recent GPUs or by gaussweep.
bool is_optimised(const Method& method) {
  return method.vendor || method.capability >= optimised_capability || method.source == "gaussweep";
}

/// Returns the number of runs of a trial: warm-up runs, runs of all samples, and the run that measures the
/// method's stages.
double runs_of(const Trial& trial) {
  return static_cast<double>(trial.sampling.warmup + trial.sampling.min_samples) *
             static_cast<double>(trial.inner_repeats) +
         (trial.stages == Stages::never ? 0 : 1);
}

}  // namespace

TimeRange& TimeRange::operator+=(const TimeRange& more) {
  low += more.low;
  likely += more.likely;
  high += more.high;
  return *this;
}

TimeRange TimeRange::operator*(double times) const {
  return {low * times, likely * times, high * times};
}

std::string range_text(const TimeRange& seconds) {
  const std::string low = duration_text(seconds.low), high = duration_text(seconds.high);
  if (low == high || seconds.high < narrow_range * seconds.low)
    return "about " + duration_text(seconds.likely);
  return low + " to " + high;
}

void CostModel::learn(const io::Record& record) {
  const auto problem = from_string<Problem>(record.problem);
  const auto precision = from_string<Precision>(record.precision);
  const auto backend = from_string<Backend>(record.backend);
  const Method* method = problem ? registry_.find(*problem, record.method) : nullptr;
  if (method == nullptr || !precision || !backend) return;  // a record of another version
  if (record.status != io::Status::skipped) seen_.emplace(method, *backend);
  if (!(record.seconds_median > 0) || !(record.flops > 0)) return;
  const double rate = record.flops / record.seconds_median;
  KindRecords& recorded = recorded_[{&problem->row(), *precision, *backend}];
  const auto [known, is_new] = recorded.rates[method].try_emplace(log_size(record.n), rate);
  if (!is_new) known->second = std::min(known->second, rate);
  const double trial_seconds = parse_time(record.end_time) - record.prepare_began;
  const auto runs = static_cast<double>((record.warmup + record.samples) * record.inner_repeats +
                                        (record.stages.empty() ? 0 : 1));
  if (!(trial_seconds >= 0)) return;  // NaN: an older version did not record these times
  Mean& mean = recorded.outside_runs[equivalent_order(record.n, record.batch)];
  const double seconds_outside_runs = std::max(0.0, trial_seconds - runs * record.seconds_median);
  mean.seconds += seconds_outside_runs;
  mean.count += 1;
  Point& point = recorded.points[{method, std::isfinite(record.energy_joules)}][std::log(record.flops)];
  point.run_seconds += record.seconds_median;
  point.outside_seconds += seconds_outside_runs;
  point.runs += runs;
  point.count += 1;
  point.shortest = std::min(point.shortest, trial_seconds);
  point.longest = std::max(point.longest, trial_seconds);
}

void CostModel::learn(const io::DeviceRow& device) {
  const auto keep_slower = [](double& known, double rate) {
    if (rate > 0) known = known > 0 ? std::min(known, rate) : rate;
  };
  keep_slower(slowest_gemm_float_, device.gemm_flops_float);
  keep_slower(slowest_gemm_double_, device.gemm_flops_double);
}

/// Returns the recorded rate of a method at the size nearest to the trial's, in flop/s; 0 if there is none.
double CostModel::recorded_rate(const Trial& trial, const Method& method, Precision precision) const {
  const auto recorded = recorded_.find({&trial.problem.row(), precision, trial.backend});
  if (recorded == recorded_.end()) return 0;
  const auto rates = recorded->second.rates.find(&method);
  return rates == recorded->second.rates.end() ? 0 : nearest_rate(rates->second, log_size(trial.shape.n));
}

/// Returns the slowest recorded rate of the related methods, in flop/s; 0 if there is none. A method of the
/// same problem is related if both methods are optimised or neither is; under emulation all are related. A
/// method of another problem is related if it has the same variant name.
double CostModel::rate_of_relatives(const Trial& trial, const Method& method) const {
  double slowest = 0;
  for (const auto& [kind, recorded] : recorded_) {
    const auto& [problem, precision, backend] = kind;
    if (precision != trial.precision || backend != trial.backend) continue;
    for (const auto& [other, rates] : recorded.rates) {
      const bool is_alike = backend == Backend::emulated || is_optimised(*other) == is_optimised(method);
      const bool is_relative = problem == &method.problem.row() ? is_alike : other->variant == method.variant;
      if (!is_relative) continue;
      const double rate = nearest_rate(rates, log_size(trial.shape.n));
      slowest = slowest > 0 ? std::min(slowest, rate) : rate;
    }
  }
  return slowest;
}

/// Returns a rough guess of the method's rate in flop/s, for methods without records. Only the order of the
/// trials and the first estimates depend on it.
double CostModel::guessed_rate(const Trial& trial, const Method& method) const {
  switch (trial.backend) {
    case Backend::cuda: {
      const bool single = trial.precision == Precision::float32;
      const double gemm = single ? slowest_gemm_float_ : slowest_gemm_double_;
      if (!is_optimised(method)) return std::max(5e9, gemm_fraction * gemm);
      if (!(gemm > 0)) return 1e12;  // the GEMM rate is unknown
      const double order_fraction = static_cast<double>(trial.shape.n) / full_order;
      return optimised_gemm_fraction * gemm * std::clamp(order_fraction, 0.01, 1.0);
    }
    case Backend::emulated:
      return 2e7;
    case Backend::host:
      return method.vendor ? 1e10 * usable_cpus() : 1e9;  // libraries use all CPUs
  }
  return 1e9;
}

double CostModel::run_seconds(const Trial& trial) const {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr) return 0;
  const double flops = trial_flops(*method, trial.shape, trial.parameters);
  // A recorded rate is the operations of one iteration divided by the time of all iterations. `flops` must
  // therefore not be multiplied by the number of iterations here.
  for (const Precision precision : {trial.precision, other_of(trial.precision)}) {
    const double rate = recorded_rate(trial, *method, precision);
    if (rate > 0) return flops / rate;
  }
  const double iterations =
      method->iterations != nullptr ? method->iterations(trial.shape, trial.parameters) : 1;
  const double guess = iterations * flops / guessed_rate(trial, *method);
  // Related methods may be a thousand times faster or slower. The result is therefore the geometric mean of
  // the guess and the time at the related methods' rate.
  const double relatives = rate_of_relatives(trial, *method);
  return relatives > 0 ? std::sqrt(guess * (flops / relatives)) : guess;
}

/// Without records, returns 2 ms plus 20 ns per element. Otherwise returns the mean over the recorded trials
/// of the smallest order that is not below the trial's. If all recorded orders are smaller, scales the mean
/// of the largest one by the number of elements.
double CostModel::seconds_outside_runs(const Trial& trial) const {
  const std::int64_t own_order = equivalent_order(trial.shape.n, trial.shape.batch);
  const auto elements = [](std::int64_t order) {
    return static_cast<double>(order) * static_cast<double>(order);
  };
  const auto recorded = recorded_.find({&trial.problem.row(), trial.precision, trial.backend});
  if (recorded == recorded_.end() || recorded->second.outside_runs.empty())
    return fixed_seconds +
           20e-9 * elements(equivalent_order(std::max(trial.shape.n, trial.shape.m), trial.shape.batch));
  const std::map<std::int64_t, Mean>& means = recorded->second.outside_runs;
  const auto above = means.lower_bound(own_order);
  const auto& [order, mean] = above == means.end() ? *std::prev(above) : *above;
  const double grown = std::max(1.0, elements(own_order) / elements(std::max<std::int64_t>(order, 1)));
  return grown * mean.seconds / mean.count;
}

bool measures_energy(const Trial& trial) {
  return trial.backend == Backend::cuda && trial.energy_seconds > 0;
}

double CostModel::estimate(const Trial& trial) const {
  // Energy is measured twice, each time for energy_seconds: with runs and without them.
  const double seconds = seconds_outside_runs(trial) + runs_of(trial) * run_seconds(trial) +
                         trial.sampling.warmup_seconds +
                         (measures_energy(trial) ? 2 * trial.energy_seconds : 0);
  return std::min(seconds, trial.timeout_seconds);  // then the worker is killed
}

/// Returns the expected time at a number of operations, from a method's records. @pre points is not empty
TimeRange CostModel::time_at(const Points& points, const Trial& trial, double log_flops) {
  // An adaptive plan repeats a trial until its times scatter little. The number of runs is therefore taken
  // from the records.
  const bool is_fixed = trial.sampling.noise == 0 && trial.sampling.warmup_seconds == 0;
  const auto seconds = [&](const Point& p) {
    return (p.outside_seconds + p.run_seconds * (is_fixed ? runs_of(trial) : p.runs / p.count)) / p.count;
  };
  const auto above = points.lower_bound(log_flops - 1e-9);
  if (above != points.end() && above->first < log_flops + 1e-9) {
    const Point& p = above->second;
    const double likely = seconds(p), mean = (p.outside_seconds + p.run_seconds * p.runs / p.count) / p.count;
    // With several records, the bounds are the likely time multiplied by shortest / mean and by longest /
    // mean.
    const double scatter = p.count > 1 ? 1 : usual_scatter;
    return {likely * std::min(1 / scatter, p.shortest / mean), likely,
            likely * std::max(scatter, p.longest / mean)};
  }
  const auto slope_of = [&](auto a, auto b) {
    return std::clamp(std::log(seconds(b->second) / seconds(a->second)) / (b->first - a->first), 0.0,
                      most_slope);
  };
  const bool is_inside = above != points.end() && above != points.begin();
  const auto near = above == points.end() ? std::prev(above) : above;
  const double distance = log_flops - near->first, near_seconds = seconds(near->second);
  double slope = likely_slope, low_slope = least_slope, high_slope = most_slope;
  if (is_inside) {
    const double likely = near_seconds * std::exp(slope_of(std::prev(near), near) * distance);
    return {likely / between_scatter, likely, likely * between_scatter};
  }
  if (points.size() > 1) {
    // Below the smallest recorded size the slope is reduced (`flattening`), because launches and messages
    // have a fixed cost.
    slope = near == points.begin() ? flattening * slope_of(near, std::next(near))
                                   : slope_of(std::prev(near), near);
    low_slope = std::max(0.0, slope - slope_error);
    high_slope = std::min(most_slope, slope + slope_error);
  }
  // `distance` is negative below the recorded sizes; the steeper slope then gives the lower bound.
  const double with_low_slope = near_seconds * std::exp(low_slope * distance),
               with_high_slope = near_seconds * std::exp(high_slope * distance);
  return {std::min(with_low_slope, with_high_slope) / usual_scatter,
          near_seconds * std::exp(slope * distance),
          std::max(with_low_slope, with_high_slope) * usual_scatter};
}

bool CostModel::has_seen_method_of(const Trial& trial) const {
  return seen_.count({registry_.find(trial.problem, trial.method), trial.backend}) > 0;
}

std::optional<TimeRange> CostModel::expected(const Trial& trial) const {
  const bool with_energy = measures_energy(trial);
  std::optional<TimeRange> range = expected(trial, with_energy);
  if (!range && with_energy) {
    range = expected(trial, /*with_energy=*/false);
    // Energy adds nothing to the low bound, because this GPU may not support energy measurements.
    if (range) *range += {0, trial.energy_seconds, 3 * trial.energy_seconds};
  }
  if (!range) return range;
  const auto limited = [&](double seconds) { return std::min(seconds, trial.timeout_seconds); };
  return TimeRange{limited(range->low), limited(range->likely), limited(range->high)};
}

std::optional<TimeRange> CostModel::expected(const Trial& trial, bool with_energy) const {
  const Method* method = registry_.find(trial.problem, trial.method);
  if (method == nullptr) return std::nullopt;
  const double log_flops = std::log(std::max(1.0, trial_flops(*method, trial.shape, trial.parameters)));
  for (const Precision precision : {trial.precision, other_of(trial.precision)}) {
    const auto recorded = recorded_.find({&trial.problem.row(), precision, trial.backend});
    if (recorded == recorded_.end()) continue;
    const auto points = recorded->second.points.find({method, with_energy});
    if (points == recorded->second.points.end()) continue;
    const TimeRange span = time_at(points->second, trial, log_flops);
    if (precision == trial.precision) return span;
    // The other precision may take half or twice the time.
    return TimeRange{span.low / 2, span.likely, span.high * 2};
  }
  // Without records of the method, returns the range over all methods of the same problem, else over those of
  // other problems. `likely` is the geometric mean over these methods.
  for (const bool same_problem : {true, false}) {
    // During the loop, `likely` is the sum of ln(likely time).
    TimeRange all{std::numeric_limits<double>::infinity(), 0, 0};
    double count = 0;
    for (const auto& [kind, recorded] : recorded_) {
      if (std::get<2>(kind) != trial.backend || (std::get<0>(kind) == &trial.problem.row()) != same_problem)
        continue;
      for (const auto& [other, points] : recorded.points) {
        if (other.second != with_energy) continue;
        const TimeRange one = time_at(points, trial, log_flops);
        all = {std::min(all.low, one.low), all.likely + std::log(std::max(one.likely, 1e-9)),
               std::max(all.high, one.high)};
        ++count;
      }
    }
    if (count > 0) return TimeRange{all.low, std::exp(all.likely / count), all.high};
  }
  return std::nullopt;
}

}  // namespace gaussweep::driver
