#pragma once
/// Compares two sets of records: which trials became faster, slower or wrong, and which GPU is faster at
/// which sizes. A trial is one method on one matrix, on one GPU or the CPU; a record is its stored result.
/// The old set is called base, the new one new or `now`. A *place* is the hardware model that a trial ran on:
/// a GPU model, or a CPU model with its number of threads.
///
/// compare_rule.hpp has the statistical rule. Each trial and each method has two tests: one for slower and
/// one for faster. All tests for slower are decided together, and so are all tests for faster. If nothing
/// changed, at most 1 in 100 comparisons has any verdict SLOWER, whatever the number of trials. The same
/// holds for FASTER.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/compare/compare_rule.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The verdict on two times.
/// - `unclear`: a change above the threshold is possible, but not significant.
/// - `host_bound`: only the run's time changed, not the GPU's part of it, as far as that is known. The
///   change is no larger than the variation of the host's speed between runs.
/// - `untimed`: base or new has no time of a correct answer, or the answer became wrong.
enum class Verdict { same, faster, slower, unclear, host_bound, untimed };
const char* to_string(Verdict verdict);

/// The kind of time that a verdict is about. `gpu`: the time of the GPU's work alone, measured by replaying
/// the run as a CUDA graph. `run`: the time of the run including the host's launches.
enum class TimeKind { gpu, run };
const char* to_string(TimeKind kind);

/// The change of a time from base to new: the ratio of the medians and its 95 % confidence interval.
struct Change {
  Verdict verdict = Verdict::untimed;
  TimeKind kind = TimeKind::run;  ///< the time that the verdict is about
  double ratio = io::Record::unknown;
  double low = io::Record::unknown, high = io::Record::unknown;
  /// The smallest relative change of this time that would get the verdict SLOWER or FASTER if no other trial
  /// changed.
  double detectable = io::Record::unknown;
};

/// Summary of one backend's UNCLEAR trials.
struct Unclear {
  std::string backend;
  std::int64_t trials = 0;
  /// Median, smallest and largest of Change::detectable.
  double detectable = 0, least = 0, most = 0;
  std::int64_t rounds = 1;  ///< rounds (repetitions of the trials in new processes) that each run had
  /// Medians of Change::detectable that larger measurements would give: three times the rounds, four times
  /// the samples, or a duet, a run in which the two builds alternate (ExpectedEstimates in compare_rule.hpp).
  double with_rounds = 0, with_samples = 0, with_duet = 0;
  bool lacks_rounds = false;  ///< true if some trial has different numbers of rounds in the two sets
  /// True on a CPU if the constant part of the expected scatter (cpu_scatter.seconds) exceeds half of the
  /// median time.
  bool is_too_short = false;
};

/// The noise between two runs on one place, for one backend: the change that all trials have in common
/// (drift), and the scatter of the trials about it.
struct RunNoise {
  std::string backend, place;
  std::int64_t pairs = 0;  ///< number of pairs (trials in both sets) of the methods with 3 or more pairs
  double drift = 0;        ///< median of the methods' medians of ln(new / base), clamped to ±0.005
  /// The scatter of the trials' ln(new / base) about their methods' medians, divided by the scatter that the
  /// statistical rule expects. One value is for times below 100 us, the other for longer times. At least 1,
  /// and exactly 1 with fewer than 8 trials.
  double excess_scatter_short = 1, excess_scatter_long = 1;
  /// The standard deviation of the methods' medians of ln(new / base); 0 with fewer than 5 methods.
  double method_sigma = 0;
  /// The host's drift: ln(new / base) of the host's part of a trial's time, as the median over the host-bound
  /// trials. It is 0 with fewer than 4 such trials.
  double host_drift = 0;
  /// The measured scatter divided by the expected scatter, as in `excess_scatter_short`, for host-bound
  /// trials.
  double excess_scatter_host = 1;
};

/// A trial in one set, on one place. Times, counters and energy are those of its records with a correct
/// answer.
struct Side {
  Timing run, gpu;     ///< as in `TimeKind`; `gpu` is unknown if no replay was measured
  std::string status;  ///< the worst status in the set's last run
  /// The largest residual ratio (backward error in units of n·u) in that run.
  double residual_ratio = io::Record::unknown;
  double clock = io::Record::unknown;          ///< SM clock in MHz, median of the samples
  double joules = io::Record::unknown;         ///< energy per run
  double queue_seconds = io::Record::unknown;  ///< time that the host needs to queue a run
  std::int64_t kernels = -1;                   ///< launches per run
  std::int64_t waits = -1;                     ///< waits of the host for the GPU per run
  std::int64_t iterations = 0;
  /// 1 if the run takes notably longer than its CUDA graph, because the GPU waits for the host; else 0. -1 if
  /// the run cannot be recorded as a graph.
  std::int64_t launch_bound = -1;
  std::vector<std::string> gpus;  ///< UUIDs of the GPUs
  bool was_disturbed = false;     ///< true if other programs used the CPUs during one of its records
};

/// A trial that is in both sets.
struct Pair {
  io::Record identity;                ///< a record of the new set
  std::string name;                   ///< unique among the trials of both sets
  std::string base_place, new_place;  ///< GPU model or `cpu_place_name`; empty if unknown
  Side base, now;                     ///< `now`: the new set
  Change change;
  std::string reason;        ///< the reason for SLOWER if it is not the time: "waits 1 -> 2"
  std::string accuracy;      ///< the change of status or residual ratio, as text; empty: no change
  bool is_worse = false;     ///< true if the trial passed or was suspect in base, and its status is worse now
  bool is_repaired = false;  ///< true if it failed in base and passes now, even with base's tolerance
  bool has_same_executions =
      false;  ///< true if both sides are the same executions, because both sets contain them
  /// Returns true if the answer was right in base and is wrong now, in at least one round. Then no times are
  /// compared.
  bool became_wrong() const;
  /// Returns true if both sides failed, and at least one of them has no time of a correct answer.
  bool has_failed_in_both() const;
  bool has_replays() const { return base.gpu.is_known() && now.gpu.is_known(); }
  /// Returns true if the GPU's time is unknown and the host is slow: on both sides it needs at least half of
  /// the run's time to queue the kernels.
  bool is_host_paced() const;
  /// Returns true if on either side the run takes more than 1.1 times as long as its replay on the GPU.
  /// Without replays, returns `is_host_paced()`.
  bool is_host_bound() const;
  bool has_same_place() const;  ///< true if both sides are on the same place
};

/// Returns the CPU model and the number of BLAS threads per rank. Both identify the place of a CPU method.
std::string cpu_place_name(const io::HostRow& host);

/// All trials of a method on one place, compared with those on another.
struct MethodChange {
  std::string method, backend, base_place, new_place;
  std::int64_t pairs = 0;
  std::map<Verdict, std::int64_t> counts;  ///< number of the method's trials by verdict
  Change change;                           ///< of all trials together
  bool has_same_place() const;
};

/// The size n at which one place becomes faster than the other.
struct Crossover {
  /// Method, precision, matrix, parameters, and other properties that are constant along the series.
  std::string series;
  std::string base_place, new_place;
  std::string finding;             ///< a sentence: which place overtakes the other, and where
  double n = io::Record::unknown;  ///< interpolated; NaN if neither overtakes
};

/// Two SM clocks count as different if their relative difference is larger than this.
constexpr double notable_clock = 0.02;

/// The thresholds for changes and regressions.
struct CompareRules {
  /// If true, trials are compared only with trials on the same place.
  bool same_places = false;
  /// Smallest relative change of a median that counts; if not set, 2 %, or 0.5 % for a duet.
  std::optional<double> threshold;
  double fail_above = 0;  ///< a SLOWER trial is a regression only if its time grew by more than this fraction
  /// The probability that a comparison of unchanged programs has any SLOWER trial; also that it has any
  /// FASTER trial.
  double false_alarm_rate = 0.01;
};

/// The result of a comparison.
struct Comparison {
  std::vector<Pair> pairs;
  /// Number of pairs on the same place whose base and new SM clocks differ by more than `notable_clock`.
  std::int64_t other_clocks = 0;
  double furthest_base_clock = 0, furthest_new_clock = 0;  ///< MHz, in the pair with the largest difference
  std::vector<MethodChange> methods;
  std::vector<RunNoise> noise;               ///< per backend and place that both sets have
  std::vector<Unclear> unclear;              ///< per backend
  std::vector<Crossover> crossovers;         ///< only for different places
  std::int64_t only_base = 0, only_new = 0;  ///< number of trials that only this set has
  std::int64_t left_out = 0;  ///< number of trials in both sets without a common place (same_places)
  /// Texts about methods, or sizes of methods, that only base has (`vanished`) or only new has (`appeared`).
  std::vector<std::string> vanished, appeared;
  /// Names of matrix files that changed between base and new; their trials do not count as missing.
  std::set<std::string> changed_files;
  /// Texts about methods whose parameters differ: "gesv/mine: block=64 before, block=16 now". If both sets
  /// have the same plan, a default of the method changed; otherwise the plan may have changed. The trials of
  /// these methods do not count as missing.
  std::set<std::string> changed_parameters;
  std::set<std::string> changed_tolerances;  ///< tolerances that differ within a pair: "16 -> 0.05"
  /// True if both sets have the same plan. Then a trial that only base has is a regression, unless its matrix
  /// file or its parameters changed.
  bool is_same_plan = false;
  bool has_other_places = false;  ///< true if some pair has different places
  /// True if two builds alternated in each round. Then times are compared round by round.
  bool is_duet = false;
  double threshold = 0;  ///< CompareRules::threshold, or its default
  /// Texts about trials and methods that are slower or worse on the same place, and about missing trials.
  std::vector<std::string> regressions;
  std::size_t disturbed = 0;  ///< number of regressed times with `Side::was_disturbed` in new
};

/// Compares two sets. Records are matched by trial (trial_identity). Records of the same trial and place in
/// one set are pooled over rounds and runs. If both sets have a trial on a common place, only common places
/// are compared; otherwise every place of base is compared with every place of new.
Comparison compare(const io::Results& base, const io::Results& now, const CompareRules& rules);

/// Sets the verdict of each pair and method. Called by compare(), after it has set the threshold and
/// `is_duet`.
void decide_verdicts(Comparison& comparison, const CompareRules& rules);
/// Finds the crossovers between different places. Called by compare().
std::vector<Crossover> crossovers_of(const std::vector<Pair>& pairs);

/// Converts "5" or "7.5%" to a fraction. @param option names the option in the error @throws UsageError
double parse_percent(const std::string& option, const std::string& text);

/// Sorts pairs: worse ones first, then SLOWER, FASTER, UNCLEAR, and then the others in their old order.
void put_regressions_first(std::vector<Pair>& pairs);
/// Returns true for a pair that is shown by default: its verdict is SLOWER or FASTER, or its places differ.
bool is_listed(const Pair& pair);
/// Returns the names of the trials that failed before and pass now.
std::vector<std::string> repaired_trials(const Comparison& comparison);
/// Returns a table of all pairs. In this table and the next two, columns with equal values in all rows are
/// left out for Reader::person; programs get all columns.
Table pair_table(const Comparison& comparison, Reader reader);
Table method_table(const Comparison& comparison, Reader reader);
Table accuracy_table(const Comparison& comparison, Reader reader);
Table crossover_table(const Comparison& comparison);
/// Returns two sentences per backend: the smallest change that is found in its UNCLEAR trials, and the
/// measurements that would find smaller changes. There are no sentences about emulated trials, because their
/// times say nothing about a GPU.
std::vector<std::string> unclear_sentences(const Comparison& comparison);
/// Returns "40 trials in both: 38 SAME, 1 FASTER, …".
/// @param command the start of a command that takes --only, "gaussweep compare a b "; empty: the running
/// command
std::string count_sentence(const Comparison& comparison, const std::string& command = {});
/// Returns "The matrix file A.mtx changed …", "Parameters differ: …" and "The tolerance changed …", or an
/// empty text.
std::string changed_sentence(const Comparison& comparison);
/// Returns a text: the regressions, or that there are none; the trials that failed in both runs or were
/// repaired; the numbers of trials that were not decided or not counted.
std::string regression_text(const Comparison& comparison);

}  // namespace gaussweep::driver
