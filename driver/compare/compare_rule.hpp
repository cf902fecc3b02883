#pragma once
/// The statistical rule that decides if two times differ: a model of the scatter, and Student's t test with
/// the scatter of a trial's own times shrunk towards the model (Smyth 2004). Many trials are decided at once
/// (Benjamini and Hochberg 1995). docs/comparing.md explains the rule and the measurements behind it.

#include <cstdint>
#include <map>
#include <vector>

#include "driver/base/statistics.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A trial's times by one clock in one set. It has one process, or several from rounds and runs.
struct Timing {
  double median = io::Record::unknown;  ///< median of the processes' medians
  double sigma = 0;                     ///< relative sigma of a process's samples, median over the processes
  std::int64_t samples = 0;             ///< over all processes
  std::int64_t processes = 1, runs = 1;
  double variance = 0;                    ///< of ln(median) between the processes
  std::map<std::int64_t, double> rounds;  ///< duet: ln(median) per round
  bool is_known() const { return median > 0 && samples > 0; }
};

/// Summarises the samples of processes that belong to `runs` runs.
Timing timing_of(const std::vector<Statistics>& processes, std::int64_t runs);

/// The sigma between processes if nothing changed: a fraction of the time plus seconds (added in quadrature).
struct Scatter {
  double share = 0, seconds = 0;
};

/// Fitted to the half of tests/data/identical_runs.h5 that the test `IdenticalRuns` does not use.
constexpr Scatter gpu_scatter{0.004, 5e-7};
/// For times that include the host's launches or waits, relative to the host's part of the time.
constexpr Scatter host_bound_scatter{0.12, 1.5e-6};
/// For times that include the host's launches or waits if the host's part is unknown.
constexpr Scatter host_paced_scatter{0.04, 2e-6};
/// For CPU methods, which share the CPU with other activities.
constexpr Scatter cpu_scatter{0.20, 2e-5};
/// In addition, between two GPUs of one model.
constexpr Scatter other_gpu_scatter{0.025, 1e-6};

/// An estimate of ln(new time / base time).
struct Estimate {
  double log = io::Record::unknown, error = 0;
  double degrees = 1;  ///< degrees of freedom of Student's t
  double drift = 0;    ///< the part of `log` that other trials of the two sets share
  /// The ratio of the times, and the ends of its 95 % confidence interval.
  double ratio() const;
  double low() const;
  double high() const;
  /// Returns the relative growth of a time that occurs by chance with probability `tail`.
  double finds(double tail) const;
  /// Returns the part of `log` that is specific to this trial.
  double own() const { return log - drift; }
};

/// Estimates the ratio of two times. @pre both are known
Estimate estimate(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu);

/// The degrees of freedom of the model, that is its weight relative to a trial's own scatter. They also
/// determine the tails of the distribution for single pairs.
constexpr double model_degrees = 8;

/// Estimates the ratio from a duet's differences per round, which cancel drift. @pre both are known
/// @param weight of the model, in degrees of freedom
Estimate estimate_duet(const Timing& base, const Timing& now, const Scatter& scatter,
                       double weight = model_degrees);

/// The estimates that other measurements would give if the times scattered as now.
struct Prospects {
  Estimate rounds;   ///< three times the rounds in both sets
  Estimate samples;  ///< four times the samples in both sets
  Estimate duet;     ///< `duet_rounds` rounds
};
/// Number of rounds that is assumed for a duet.
constexpr std::int64_t duet_rounds = 10;

/// Computes the prospects. @param is_duet the times are from a duet; then `duet` has three times its rounds
/// @pre both are known
Prospects prospects(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu,
                    bool is_duet);

/// Returns the mean of a method's estimates, weighted by 1/error^2. A quarter of their variances is assumed
/// to be common to all. @pre trials is not empty
Estimate pooled(const std::vector<Estimate>& trials);

/// Returns t with P(T > t) = tail.
double student_quantile(double tail, double degrees);

/// Returns P(T > t) of Student's t; degrees are rounded down. @pre degrees >= 1
double student_tail(double t, double degrees);

/// Decides which of many hypotheses are rejected (Benjamini and Hochberg). The expected fraction of false
/// rejections among the rejections is at most `rate`; so is the probability of any rejection if all
/// hypotheses are true.
/// @param tails P values
std::vector<bool> rejected(const std::vector<double>& tails, double rate);

}  // namespace gaussweep::driver
