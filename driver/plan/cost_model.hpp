#pragma once
/// How long a trial will take: rough before anything was measured, then by what this run directory has seen.

#include <map>
#include <tuple>

#include "driver/plan/trial.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

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

 private:
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
    std::map<std::int64_t, Mean> besides;                     ///< n → what trials took besides their runs
  };
  using Kind = std::tuple<const ProblemRow*, Precision, Backend>;
  std::map<Kind, Seen> seen_;
};

}  // namespace gaussweep::driver
