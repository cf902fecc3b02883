#pragma once
/// How long a trial will take: rough before anything was measured, then by what this run directory has seen.

#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "driver/plan/trial.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Seconds, and between what they lie.
struct TimeRange {
  double low = 0, likely = 0, high = 0;
  TimeRange& operator+=(const TimeRange& more);
  TimeRange operator*(double times) const;
};

/// "3 min 10 s to 5 min 20 s", or "about 4 min 02 s" where the ends are near each other.
std::string span_words(const TimeRange& seconds);

/// Whether the trial takes time for energy too.
bool measures_energy(const Trial& trial);

class CostModel {
 public:
  explicit CostModel(const Registry& registry) : registry_(registry) {}
  /// Learns from a finished trial (a record without a time teaches nothing).
  void learn(const io::Record& record);
  /// Learns how fast a device is: what nothing is known of yet is guessed as a share of that.
  void learn(const io::DeviceRow& device);
  /// Seconds that the whole trial takes: inputs, warm-up, samples, stage pass, verification, reference.
  double estimate(const Trial& trial) const;
  /// Seconds of one run of the method.
  double run_seconds(const Trial& trial) const;
  /// What the trial takes by what was seen: of its method, around its operations; else of the other
  /// precision; else between what other methods took. Nothing where nothing like it was seen.
  std::optional<TimeRange> expected(const Trial& trial) const;

 private:
  /// Trials of a method with as many operations: sums over them.
  struct Point {
    double run = 0, besides = 0, runs = 0, count = 0;
    double shortest = std::numeric_limits<double>::infinity(), longest = 0;
  };
  using Points = std::map<double, Point>;  ///< by ln of the operations
  std::optional<TimeRange> expected(const Trial& trial, bool with_energy) const;
  static TimeRange at(const Points& points, const Trial& trial, double log_flops);
  double seen_rate(const Trial& trial, const Method& method, Precision precision) const;
  double rate_of_relatives(const Trial& trial, const Method& method) const;
  double first_rate(const Trial& trial, const Method& method) const;
  /// Seconds besides the runs.
  double besides(const Trial& trial) const;
  const Registry& registry_;
  double slowest_gemm_float_ = 0, slowest_gemm_double_ = 0;  ///< of all devices, in flop/s; 0: not known
  struct Mean {
    double seconds = 0, count = 0;
  };
  /// What was seen of a problem in one precision on one backend.
  struct Seen {
    std::map<const Method*, std::map<double, double>> rates;  ///< ln n → the slowest there, in flop/s
    std::map<std::int64_t, Mean> besides;  ///< order → what trials took besides their runs
    std::map<std::pair<const Method*, bool>, Points> points;  ///< by method, and whether energy was measured
  };
  using Kind = std::tuple<const ProblemRow*, Precision, Backend>;
  std::map<Kind, Seen> seen_;
};

}  // namespace gaussweep::driver
