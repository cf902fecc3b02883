#pragma once
/// Two sets of records side by side: what became faster or slower, what became wrong, which GPU wins where.
///
/// Whether a time changed is decided by medians and quartiles, never by means. With r the new median over the
/// base median, and a threshold t (3 %):
/// - beyond(t): r > 1 + t or r < 1 / (1 + t). If not beyond: SAME.
/// - distinct: the quartile ranges do not overlap, and |ln r| exceeds three standard errors of a difference
///   of medians, each sigma taken from the quartiles: (q3 - q1) / median / (1.349 (1 - 1/samples)), the error
///   of a median being 1.2533 sigma / sqrt(samples). One or two samples say nothing of their spread: 20 % are
///   assumed.
/// - beyond and distinct: SLOWER or FASTER. Beyond, but not distinct: UNCLEAR.
/// Samples of one run say nothing of what differs from run to run (clocks, memory placement, neighbours). Two
/// sets from the same place do: within a method all its trials change alike if the method changed, so the
/// scatter of ln r about its method's median is noise between the runs, and the standard error has it added
/// (RunNoise). On samples of the same distribution this says SLOWER or FASTER in less than 5 % of trials, for
/// 3 to 10 samples and any spread; with 5 samples that scatter by 2 % it finds a slowdown by 10 % in 19
/// of 20. A method as a whole is judged in the same way, by the ratios of its trials against 1.

#include <cstdint>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/records/identity.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// What is said of two times. `launches`: the time changed, but what the GPU needs for it did not; what
/// changed is how fast the host queues. Or that is unknown, the host is in the loop most of the time, and the
/// change is within what the host drifts by.
enum class Verdict { same, faster, slower, unclear, launches, untimed };
const char* to_string(Verdict verdict);

/// Seconds of one trial in one set.
struct Timing {
  double q1 = io::Record::unknown, median = io::Record::unknown, q3 = io::Record::unknown;
  std::int64_t samples = 0;
  /// How many of them tell something that the others do not: rounds, where there are at least 3 (what differs
  /// from process to process is the same in all samples of one); 0: all of them.
  std::int64_t independent = 0;
};

/// How the time changed from base to new: ratio of the medians, and what the quartiles leave possible.
struct Change {
  Verdict verdict = Verdict::untimed;
  double ratio = io::Record::unknown;
  double low = io::Record::unknown, high = io::Record::unknown;  ///< q1 new / q3 base, q3 new / q1 base
};

/// @param threshold a share, 0.05 for 5 %
/// @param noise sigma of ln r between two runs in which nothing changed
Change judge_change(const Timing& base, const Timing& now, double threshold, double noise = 0);

/// How far apart two runs on one place are in which nothing changed.
struct RunNoise {
  std::string backend, place;
  std::int64_t pairs = 0;  ///< that tell of it: of methods with at least 3
  /// 1.4826 times the median of |ln r - its method's median|, less (as variances) what the samples' own
  /// scatter explains; 0 where less than 8 pairs tell.
  double sigma = 0;
  /// The same of the methods' medians about theirs: what all trials of a method share; 0 of less than 5
  /// methods.
  double of_methods = 0;
  /// How far the host's launches drifted: root mean square of ln r of launch-bound trials whose GPU time is
  /// the same.
  double of_host = 0;
};

/// A trial in both sets.
struct Pair {
  io::Record identity;                ///< of the new record
  std::string base_place, new_place;  ///< GPU or CPU model; empty where unknown
  Timing base, now;
  Timing base_replay, new_replay;  ///< of the GPU alone, where the run was launch-bound
  double base_clock = io::Record::unknown,
         new_clock = io::Record::unknown;  ///< MHz, of the SMs: median of the samples
  double base_joules = io::Record::unknown, new_joules = io::Record::unknown;
  Change change;
  double base_queue = io::Record::unknown,
         new_queue = io::Record::unknown;  ///< seconds in which the host queues a run
  /// The times that tell of the method: of the GPU alone where both sets have them.
  bool has_replays() const { return base_replay.median > 0 && new_replay.median > 0; }
  /// Whether the host is in the loop for most of the time, and the GPU's share is not known.
  bool is_host_paced() const {
    constexpr double most = 0.5;
    return !has_replays() && base_queue >= most * base.median && new_queue >= most * now.median;
  }
  const Timing& base_judged() const { return has_replays() ? base_replay : base; }
  const Timing& new_judged() const { return has_replays() ? new_replay : now; }
  std::string base_status, new_status;
  double base_ratio, new_ratio;  ///< residual ratios
  std::string accuracy;          ///< what changed in right and wrong, in words; empty: nothing
  bool is_worse = false;         ///< passed or was suspect, and is now something worse
};

/// All trials of a method on one place against those on another.
struct MethodChange {
  std::string method, backend, base_place, new_place;
  std::int64_t pairs = 0, same = 0, faster = 0, slower = 0, unclear = 0, launches = 0;
  Change
      change;  ///< of the ratios of its trials against 1; of the GPU's own times where they are launch-bound
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

struct Comparison {
  std::vector<Pair> pairs;
  std::int64_t other_clocks =
      0;  ///< pairs on the same place whose SM clocks differ by more than `notable_clock`
  double furthest_base_clock = 0, furthest_new_clock = 0;  ///< MHz, of the pair that differs most
  std::vector<MethodChange> methods;
  std::vector<RunNoise> noise;        ///< a backend and place that both sets have
  std::vector<Crossover> crossovers;  ///< only where places differ
  std::int64_t only_base = 0, only_new = 0;
  bool across = false;      ///< some pair has different places
  bool regression = false;  ///< on the same place: a trial or method slower, or a trial that is worse
};

/// Joins by trial (trial_identity). Records of the same
/// trial and place in one set are pooled. Where a trial was run on the same place in both sets, only that is
/// compared; otherwise every place of the base with every place of the new.
Comparison compare(const io::Results& base, const io::Results& now, double threshold);

/// "5", "7.5%": a share. @throws UsageError
double parse_threshold(const std::string& text);

/// @param all every pair; otherwise the ones whose time changed, or may have
Table pair_table(const Comparison& comparison, bool all, Reader reader);
Table method_table(const Comparison& comparison, Reader reader);
Table accuracy_table(const Comparison& comparison, Reader reader);
Table crossover_table(const Comparison& comparison);

}  // namespace gaussweep::driver
