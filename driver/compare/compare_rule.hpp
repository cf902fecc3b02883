#pragma once
/// The statistical rule that decides if two times differ: a model of the scatter, and Student's t test whose
/// variance is the trial's own, shrunk towards the model (Smyth 2004). The tests of all trials are decided
/// together (Benjamini and Hochberg 1995). docs/comparing.md explains the rule and the measurements behind
/// it.

#include <cstdint>
#include <map>
#include <vector>

#include "driver/base/statistics.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A trial's times by one clock (see Timed) in one set of records. Every round of every run is a process.
struct Timing {
  double median = io::Record::unknown;  ///< median of the processes' medians
  double sigma = 0;                     ///< relative sigma of a process's samples, median over the processes
  std::int64_t samples = 0;             ///< over all processes
  std::int64_t processes = 1, runs = 1;
  double variance = 0;                    ///< of ln(median) between the processes
  std::map<std::int64_t, double> rounds;  ///< ln(median) by round; only for a duet
  bool is_known() const { return median > 0 && samples > 0; }
};

/// Returns the quartiles and number of a record's samples, or of its replays on the GPU alone. Other
/// statistics are NaN.
Statistics quartiles_of(const io::Record& record);
Statistics replay_quartiles_of(const io::Record& record);

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
/// In addition, for times on two GPUs of one model.
constexpr Scatter other_gpu_scatter{0.025, 1e-6};

/// An estimate of ln(new time / base time).
struct Estimate {
  double log = io::Record::unknown, error = 0;
  double degrees = 1;  ///< degrees of freedom of Student's t
  double drift = 0;    ///< the part of `log` that all trials of the two sets share
  /// The ratio of the times, and the ends of its 95 % confidence interval.
  double ratio() const;
  double low() const;
  double high() const;
  /// Returns the relative growth of a time that occurs by chance with probability `tail`.
  double detectable(double tail) const;
  /// Returns the part of `log` that is specific to this trial.
  double without_drift() const { return log - drift; }
};

/// Estimates the ratio of two times. @pre both are known
Estimate estimate(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu);

/// The degrees of freedom of the model: its weight relative to a trial's own variance. With one process per
/// set they are all degrees of freedom of the t test.
constexpr double model_degrees = 8;

/// Estimates the ratio from a duet's differences per round, which cancel drift. @pre both are known
/// @param weight of the model, in degrees of freedom
Estimate estimate_duet(const Timing& base, const Timing& now, const Scatter& scatter,
                       double weight = model_degrees);

/// The estimates that other measurements would give if their times scatter as the present ones.
struct Prospects {
  Estimate rounds;   ///< three times the rounds in both sets
  Estimate samples;  ///< four times the samples in both sets
  Estimate duet;     ///< `duet_rounds` rounds
};
/// Number of rounds that is assumed for a duet.
constexpr std::int64_t duet_rounds = 10;

/// Computes the prospects. @param is_duet true if the times are from a duet; `duet` then has three times its
/// rounds
/// @pre both are known
Prospects prospects(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu,
                    bool is_duet);

/// Returns the mean of a method's estimates, weighted by 1/error^2. A quarter of each variance is assumed to
/// be common to all trials. @pre trials is not empty
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
