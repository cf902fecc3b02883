#pragma once
/// The statistical rule that decides if two times differ. Each trial has a Student's t test of ln(new time /
/// base time). Its variance is a weighted mean of two variances: the trial's measured one, and that of a
/// noise model (Smyth 2004). The false discovery rate of all tests together is limited (Benjamini and
/// Hochberg 1995). docs/comparing.md has the measurements that the model was fitted to.

#include <cstdint>
#include <map>
#include <vector>

#include "driver/base/statistics.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A trial's times of one kind (run or GPU, TimeKind in compare.hpp) in one set of records. Each round
/// (repetition of the trials) of each run is a separate process, with a median of its samples.
struct Timing {
  double median = io::Record::unknown;  ///< median of the processes' medians
  double sigma = 0;          ///< relative standard deviation of the samples, median of the processes
  std::int64_t samples = 0;  ///< number of samples of all processes
  std::int64_t processes = 1, runs = 1;
  double variance = 0;                    ///< variance of ln(median) between the processes
  std::map<std::int64_t, double> rounds;  ///< ln(median) by round; only for a duet
  bool is_known() const { return median > 0 && samples > 0; }
};

/// Returns the quartiles and number of a record's samples, or of its replays (times of the GPU's work alone).
/// The other statistics are NaN.
Statistics quartiles_of(const io::Record& record);
Statistics replay_quartiles_of(const io::Record& record);

/// Summarises the times of a trial. @param processes the statistics of each process's samples @param runs the
/// number of runs that these processes belong to
Timing timing_of(const std::vector<Statistics>& processes, std::int64_t runs);

/// A noise model. Between processes, the times of an unchanged program have the standard deviation
/// sqrt((fraction * time)^2 + seconds^2). docs/comparing.md has the measurements behind the values below.
struct Scatter {
  double fraction = 0, seconds = 0;
};

/// For times of the GPU alone. The values were fitted to the half of tests/data/identical_runs.h5 that the
/// test `IdenticalRuns` does not use.
constexpr Scatter gpu_scatter{0.004, 5e-7};
/// For times that include the host's launches or waits. `fraction` refers to the host's part of the time.
constexpr Scatter host_bound_scatter{0.12, 1.5e-6};
/// For times that include the host's launches or waits, if the host's part of the time is unknown. `fraction`
/// refers to the whole time.
constexpr Scatter host_paced_scatter{0.04, 2e-6};
/// For CPU methods, which share the CPU with other programs.
constexpr Scatter cpu_scatter{0.20, 2e-5};
/// Further scatter, added in quadrature, if the two times are from different GPUs of one model.
constexpr Scatter other_gpu_scatter{0.025, 1e-6};

/// An estimate of ln(new time / base time).
struct Estimate {
  double log = io::Record::unknown, error = 0;  ///< the estimate and its standard error
  double degrees = 1;                           ///< degrees of freedom of Student's t distribution
  double drift = 0;  ///< the part of `log` that is a common change of all trials, not of this one
  /// The ratio of the times, and the ends of its 95 % confidence interval.
  double ratio() const;
  double low() const;
  double high() const;
  /// Returns the relative growth that a measurement exceeds with probability `tail` although nothing changed.
  double detectable(double tail) const;
  /// Returns the part of `log` that is specific to this trial.
  double without_drift() const { return log - drift; }
};

/// Estimates the ratio of two times. @pre both times are known
Estimate estimate(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu);

/// The weight of the noise model's variance in its mean with the trial's measured variance, in degrees of
/// freedom. The measured variance has one degree of freedom per process beyond the first of each set.
constexpr double model_degrees = 8;

/// Estimates the ratio of two times from a duet, a run in which two builds alternate. Uses the differences
/// within each round. Drift cancels, because both builds run in every round. @pre both times are known
/// @param weight the model's weight in degrees of freedom
Estimate estimate_duet(const Timing& base, const Timing& now, const Scatter& scatter,
                       double weight = model_degrees);

/// The estimates that larger measurements would give if their times scatter as the present ones do.
struct ExpectedEstimates {
  Estimate rounds;   ///< three times the rounds in both sets
  Estimate samples;  ///< four times the samples in both sets
  Estimate duet;     ///< a duet with `duet_rounds` rounds
};
/// The number of rounds assumed for a duet that has not been run.
constexpr std::int64_t duet_rounds = 10;

/// Computes the expected estimates. @pre both times are known
/// @param is_duet true if the times are from a duet. The result's `duet` then is the same duet with three
/// times the rounds.
ExpectedEstimates expected_estimates(const Timing& base, const Timing& now, const Scatter& scatter,
                                     bool is_other_gpu, bool is_duet);

/// Returns the mean of a method's estimates, weighted by 1/error^2. Assumes that a quarter of each trial's
/// variance is common to all of them. @pre trials is not empty
Estimate pooled(const std::vector<Estimate>& trials);

/// Returns t such that P(T > t) = tail, where T has Student's t distribution.
double student_quantile(double tail, double degrees);

/// Returns P(T > t), where T has Student's t distribution. `degrees`, the degrees of freedom, is rounded
/// down. @pre degrees >= 1
double student_tail(double t, double degrees);

/// Decides which hypotheses are rejected (step-up procedure of Benjamini and Hochberg). The expected fraction
/// of false rejections among all rejections is at most `false_discovery_rate`. If all hypotheses are true,
/// any of them is rejected with a probability of at most `false_discovery_rate`.
/// @param tails the P value of each hypothesis
std::vector<bool> rejected(const std::vector<double>& tails, double false_discovery_rate);

}  // namespace gaussweep::driver
