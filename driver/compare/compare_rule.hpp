#pragma once
/// The rule by which two times are told apart. It has a model of what scatters, and Student's t with the
/// scatter of a trial's own times shrunk towards that model (Smyth 2004). Many trials are decided at once
/// (Benjamini and Hochberg 1995). docs/measuring.md says it in words, with what was measured.

#include <cstdint>
#include <map>
#include <vector>

#include "driver/base/statistics.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// A trial's times by one clock in one set: of one process, or of several (rounds, and runs).
struct Timing {
  double median = io::Record::unknown;  ///< of the processes' medians
  double sigma = 0;                     ///< of a process's samples, relative: the middle one of the processes
  std::int64_t samples = 0;             ///< of all processes
  std::int64_t processes = 1, runs = 1;
  double variance = 0;                    ///< of the processes' ln of medians, about their mean
  std::map<std::int64_t, double> rounds;  ///< of a duet: ln of the median, by round
  bool is_known() const { return median > 0 && samples > 0; }
};

/// Of processes, each by what is said of its samples, that belong to so many runs.
Timing timing_of(const std::vector<Statistics>& processes, std::int64_t runs);

/// By how much a time differs from process to process where nothing changed (sigma): a share of it, and
/// seconds.
struct Scatter {
  double share = 0, seconds = 0;
};

/// Fitted on the half of tests/data/identical_runs.h5 that `IdenticalRuns` is not judged by.
constexpr Scatter gpu_scatter{0.004, 5e-7};
/// Times in which the host's launches, or its waits, are: of the host's share of them.
constexpr Scatter host_bound_scatter{0.12, 1.5e-6};
/// The host is in the loop, and its share is not known.
constexpr Scatter host_paced_scatter{0.04, 2e-6};
/// Methods of the CPU, which share it with whatever else it does.
constexpr Scatter cpu_scatter{0.20, 2e-5};
/// Between two GPUs of one model, beside the other.
constexpr Scatter other_gpu_scatter{0.025, 1e-6};

/// ln of new time over base time, and what is known of it.
struct Estimate {
  double log = io::Record::unknown, error = 0;
  double degrees = 1;  ///< of freedom, of Student's t
  double drift = 0;    ///< of `log`, what other trials of the two sets have too
  /// The ratio; and the ends of its interval of 95 %.
  double ratio() const;
  double low() const;
  double high() const;
  /// Returns the share by which a time must grow so that P of such a growth by chance is at most `tail`.
  double finds(double tail) const;
  /// Of ln of the ratio, what is this trial's.
  double own() const { return log - drift; }
};

/// @pre both are known
Estimate estimate(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu);

/// Of two builds that took turns: what they differ by round by round, so that no drift is in it.
/// @pre both are known
Estimate estimate_duet(const Timing& base, const Timing& now, const Scatter& scatter);

/// Estimates of the same ratio, if it were measured in other ways and the times scattered as they do now.
struct Prospects {
  Estimate rounds;   ///< three times the rounds in both sets
  Estimate samples;  ///< four times the samples in both sets
  Estimate duet;     ///< `duet_rounds` rounds
};
constexpr std::int64_t duet_rounds = 10;

/// @param is_duet the times are of a duet: `duet` then has three times its rounds
/// @pre both are known
Prospects prospects(const Timing& base, const Timing& now, const Scatter& scatter, bool is_other_gpu,
                    bool is_duet);

/// What trials of one method say together: their mean, weighed by what is known of each. A quarter of their
/// variances is taken for common to all of them.
/// @pre there are some
Estimate pooled(const std::vector<Estimate>& trials);

/// How much the model weighs beside a trial's own scatter, in degrees of freedom. It is how heavy the tails
/// of single pairs are, too.
constexpr double model_degrees = 8;

/// The t with P(T > t) = tail.
double student_quantile(double tail, double degrees);

/// P(T > t) of Student's t. @pre degrees >= 1; only their whole part counts
double student_tail(double t, double degrees);

/// Which of many hypotheses are rejected (Benjamini and Hochberg). The expected share of false rejections
/// among them is at most `rate`. So is the probability of any where nothing is to be rejected.
/// @param tails P of what was seen, or more, where nothing changed
std::vector<bool> rejected(const std::vector<double>& tails, double rate);

}  // namespace gaussweep::driver
