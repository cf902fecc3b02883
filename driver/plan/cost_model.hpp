#pragma once
/// Estimates how long a trial takes. A trial is one method with one set of parameters on one matrix. The
/// estimate uses the records (results of finished trials) in this run directory; without records it is a
/// rough guess.

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "driver/plan/trial.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// An estimated time in seconds with its lower and upper bound.
struct TimeRange {
  double low = 0, likely = 0, high = 0;
  TimeRange& operator+=(const TimeRange& more);
  TimeRange operator*(double times) const;
  /// Returns true if the upper bound rounds to 0 s. If a sweep still runs with such an estimate of its time
  /// left, it has exceeded its estimates.
  bool rounds_to_zero() const { return !(high >= 0.5); }
};

/// Returns "3 min 10 s to 5 min 20 s", or "about 4 min 02 s" if the bounds are close together.
std::string range_text(const TimeRange& seconds);

/// Returns true if the trial also measures energy, which takes additional time.
bool measures_energy(const Trial& trial);

/// Learns from records and estimates the times of other trials.
class CostModel {
 public:
  explicit CostModel(const Registry& registry) : registry_(registry) {}
  /// Learns from a finished trial; ignores records without a time.
  void learn(const io::Record& record);
  /// Learns a device's peak rates. The rates of methods without records are guessed from these.
  void learn(const io::DeviceRow& device);
  /// Returns the estimated seconds of the whole trial: making the inputs, warm-up, samples, the run that
  /// measures the method's stages, verification, and the vendor's run that the trial is compared with. The
  /// result is at most the trial's timeout.
  double estimate(const Trial& trial) const;
  /// Returns the estimated seconds of one run of the method.
  double run_seconds(const Trial& trial) const;
  /// Returns the expected time of the trial, only from records. Uses the first of these that has any: records
  /// of its method, records of its method in the other precision, records of other methods. Interpolates
  /// between the nearest numbers of operations. The result is at most the trial's timeout. Returns nothing if
  /// there are no such records.
  std::optional<TimeRange> expected(const Trial& trial) const;
  /// Returns true if a trial of the same method on the same backend has ended, even if it failed.
  bool has_seen_method_of(const Trial& trial) const;

 private:
  /// Sums over a method's trials with the same number of operations.
  struct Point {
    double run_seconds = 0;      ///< sum of the trials' medians
    double outside_seconds = 0;  ///< sum of the seconds outside runs, e.g. for inputs and verification
    double runs = 0, count = 0;  ///< number of runs of all trials together, and number of trials
    double shortest = std::numeric_limits<double>::infinity(), longest = 0;  ///< seconds of a whole trial
  };
  using Points = std::map<double, Point>;  ///< by ln(operations)
  /// Implements the public function.
  /// @param with_energy true: uses the records with an energy measurement; false: those without
  std::optional<TimeRange> expected(const Trial& trial, bool with_energy) const;
  /// The next four functions are described in cost_model.cpp.
  static TimeRange time_at(const Points& points, const Trial& trial, double log_flops);
  double recorded_rate(const Trial& trial, const Method& method, Precision precision) const;
  double rate_of_relatives(const Trial& trial, const Method& method) const;
  double guessed_rate(const Trial& trial, const Method& method) const;
  /// Returns the estimated seconds of the trial that are not spent in runs of the method.
  double seconds_outside_runs(const Trial& trial) const;
  const Registry& registry_;
  /// The GEMM rates of the slowest device, in flop/s; 0 if unknown.
  double slowest_gemm_float_ = 0, slowest_gemm_double_ = 0;
  /// Seconds of several trials: their sum, and the number of trials.
  struct Mean {
    double seconds = 0, count = 0;
  };
  /// The records of one problem, precision and backend.
  struct KindRecords {
    std::map<const Method*, std::map<double, double>> rates;  ///< ln n → the slowest rate, in flop/s
    std::map<std::int64_t, Mean> outside_runs;                ///< matrix order → mean seconds outside runs
    std::map<std::pair<const Method*, bool>, Points> points;  ///< by method, and true if energy was measured
  };
  using Kind = std::tuple<const ProblemRow*, Precision, Backend>;
  std::map<Kind, KindRecords> recorded_;
  std::set<std::pair<const Method*, Backend>> seen_;  ///< with at least one ended trial
};

}  // namespace gaussweep::driver
