#pragma once
/// Two sets of records side by side: what became faster or slower, what became wrong, which GPU wins where.
///
/// compare_rule.hpp has the rule by which times are told apart. All that is tested of a comparison, trials
/// and methods, slower and faster, is decided at once. Of pairs of runs in which nothing changed, 1 in 100
/// has a verdict, however many trials they have.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/compare/compare_rule.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// What is said of two times. `host_bound`: the whole run's time changed, by no more than the host drifts.
/// What the GPU needs for it did not change, or is unknown.
enum class Verdict { same, faster, slower, unclear, host_bound, untimed };
const char* to_string(Verdict verdict);

/// Which time a verdict is about: the GPU's alone (a replay), or the run's as the host launched it.
enum class Timed { gpu, run };
const char* to_string(Timed timed);

/// How the time changed from base to new: ratio of the medians, and its interval of 95 %.
struct Change {
  Verdict verdict = Verdict::untimed;
  Timed clock = Timed::run;
  double ratio = io::Record::unknown;
  double low = io::Record::unknown, high = io::Record::unknown;
  /// The least share by which this time alone must change to be called SLOWER or FASTER.
  double finds = io::Record::unknown;
};

/// Trials of one backend that are UNCLEAR: how small a change could be found in one of them (Change::finds),
/// and how small a change other measurements would find. Medians.
struct Unclear {
  std::string backend;
  std::int64_t trials = 0;
  double finds = 0, least = 0, most = 0;
  std::int64_t rounds = 1;                                  ///< per run, now
  double with_rounds = 0, with_samples = 0, with_duet = 0;  ///< as in Prospects
};

/// How far apart two runs on one place are in which nothing changed.
struct RunNoise {
  std::string backend, place;
  std::int64_t pairs = 0;  ///< that tell of it: of methods with at least 3
  double drift = 0;        ///< ln r that most methods have in common, at most 0.5 %
  /// By how much the trials' scatter about their methods' medians exceeds the rule's, of times below and from
  /// 100 us on. It is 1 where the scatter does not exceed it, or fewer than 8 trials tell.
  double raise_short = 1, raise_long = 1;
  double of_methods = 0;  ///< scatter of methods' medians; 0 of less than 5
  double of_host =
      0;  ///< ln r of the host's part that most host-bound trials have in common; 0 of less than 4
  double raise_host = 1;
};

/// A trial in one set, on one place.
struct Side {
  Timing run, gpu;     ///< as the host launched it; replayed by the GPU alone, where that was measured
  std::string status;  ///< the worst of the last run
  double ratio = io::Record::unknown;  ///< residual ratio, the largest of the last run
  double clock = io::Record::unknown;  ///< MHz, of the SMs: median of the samples
  double joules = io::Record::unknown;
  double queue = io::Record::unknown;  ///< seconds in which the host queues a run
  std::int64_t kernels = -1;           ///< that a run launches
  std::int64_t waits = -1;             ///< that a run makes for the device
  std::int64_t iterations = 0;
  std::int64_t launch_bound = -1;  ///< as in the record; -1 of a run that cannot be recorded
  std::vector<std::string> gpus;   ///< UUIDs
};

/// A trial in both sets.
struct Pair {
  io::Record identity;                ///< of the new record
  std::string base_place, new_place;  ///< GPU model, or `cpu_words`; empty where unknown
  Side base, now;
  Change change;
  std::string reason;      ///< of SLOWER, where it is not the time: "waits 1 -> 2"
  std::string accuracy;    ///< what changed in right and wrong, in words; empty: nothing
  bool is_worse = false;   ///< passed or was suspect, and is now something worse
  bool is_itself = false;  ///< both sides are the same executions
  bool has_replays() const { return base.gpu.is_known() && now.gpu.is_known(); }
  /// Whether the host is in the loop for most of the time, and the GPU's share is not known.
  bool is_host_paced() const;
  /// Whether the run waits for the host: it takes notably longer than the GPU needs, or is paced by it.
  bool is_host_bound() const;
  bool is_here() const;  ///< both on one place
};

/// A CPU as the place of a method: its model, and the BLAS threads that a rank of the run had there.
std::string cpu_words(const io::HostRow& host);

/// All trials of a method on one place against those on another.
struct MethodChange {
  std::string method, backend, base_place, new_place;
  std::int64_t pairs = 0;
  std::map<Verdict, std::int64_t> counts;  ///< of its trials
  Change change;                           ///< of all of them together
  bool is_here() const;
};

/// Where one place begins to be faster than the other, along n.
struct Crossover {
  std::string series;  ///< method, precision, matrix, parameters, and what else does not grow along it
  std::string base_place, new_place;
  std::string finding;             ///< in words
  double n = io::Record::unknown;  ///< interpolated; NaN where none overtakes
};

/// From here on two SM clocks are different ones.
constexpr double notable_clock = 0.02;

/// What counts as changed, and as a regression.
struct CompareRules {
  /// Leaves out pairs of different places.
  bool same_places = false;
  /// A share by which a median must change to count; without one 2 %, of a duet 0.5 %.
  std::optional<double> threshold;
  double fail_above = 0;  ///< a share by which what is SLOWER must be slower to be a regression
  double rate = 0.01;     ///< of pairs without a change in which something is called SLOWER, or FASTER
};

struct Comparison {
  std::vector<Pair> pairs;
  std::int64_t other_clocks =
      0;  ///< pairs on the same place whose SM clocks differ by more than `notable_clock`
  double furthest_base_clock = 0, furthest_new_clock = 0;  ///< MHz, of the pair that differs most
  std::vector<MethodChange> methods;
  std::vector<RunNoise> noise;        ///< a backend and place that both sets have
  std::vector<Unclear> unclear;       ///< per backend
  std::vector<Crossover> crossovers;  ///< only where places differ
  std::int64_t only_base = 0, only_new = 0;
  /// What base alone has, in words: methods, and sizes of methods that are in both.
  std::vector<std::string> vanished;
  bool is_same_plan = false;  ///< of both: then every trial that only base has is missing
  bool across = false;        ///< some pair has different places
  bool is_duet = false;       ///< the two took turns: times are compared round by round
  double threshold = 0;       ///< that held
  /// Trials and methods that are slower or worse on the same place, and what is missing, in words.
  std::vector<std::string> regressions;
};

/// Joins by trial (trial_identity). Records of the same trial and place in one set are pooled: rounds, and
/// runs. Where a trial was run on the same place in both sets, only that is compared. Otherwise every place
/// of the base is compared with every place of the new.
Comparison compare(const io::Results& base, const io::Results& now, const CompareRules& rules);

/// Gives each pair and method its verdict. compare() calls it.
/// @pre its threshold and `is_duet` are set
void judge_times(Comparison& comparison, const CompareRules& rules);
/// Where places differ: who overtakes whom. compare() calls it.
std::vector<Crossover> crossovers_of(const std::vector<Pair>& pairs);

/// "5", "7.5%": a share. @param option for the error @throws UsageError
double parse_percent(const std::string& option, const std::string& text);

/// What is worse, then SLOWER, FASTER, UNCLEAR, and the rest as it was.
void put_regressions_first(std::vector<Pair>& pairs);
/// @param all every pair; otherwise what is SLOWER, FASTER or UNCLEAR
Table pair_table(const Comparison& comparison, bool all, Reader reader);
Table method_table(const Comparison& comparison, Reader reader);
Table accuracy_table(const Comparison& comparison, Reader reader);
Table crossover_table(const Comparison& comparison);
/// Returns a sentence per backend on what would decide the UNCLEAR trials.
std::vector<std::string> unclear_words(const Comparison& comparison);
/// "40 trials in both: 38 SAME, 1 FASTER, …", and whether there is a regression, and where.
std::string count_words(const Comparison& comparison);
std::string regression_words(const Comparison& comparison);

}  // namespace gaussweep::driver
