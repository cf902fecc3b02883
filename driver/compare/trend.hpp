#pragma once
/// Trends over a series of runs: the date since which a trial is slower or faster. A trial is one method on
/// one matrix. The runs of a series are called nights, because a series usually has one per night.

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compare/change_points.hpp"
#include "driver/compare/compare.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// One night: a run, or several merged runs.
struct Night {
  std::string path;                  ///< the run; if there are several, their folder or the first run
  std::string began;                 ///< start of its first trial
  std::string name;                  ///< its date, with the time if another night has the same date
  std::vector<std::string> commits;  ///< commits of its records
  std::vector<std::string> gpus;     ///< UUIDs
  std::string driver;                ///< version of the GPU driver; empty: unknown
};

/// A trial on one GPU and CPU model, with its times in all nights in which it passed or was suspect. A
/// suspect answer has a residual ratio above the tolerance, but at most ten times as large. For a CPU method,
/// each number of threads has a separate series.
struct TrendSeries {
  io::Record identity;  ///< a record of the last night
  /// The GPU and CPU models (Models::text); for CPU methods also the number of threads per rank.
  std::string place;
  TimeKind kind = TimeKind::run;    ///< the kind of time in `seconds`
  std::vector<std::size_t> nights;  ///< indices into Trend::nights, ascending
  std::vector<double> seconds;      ///< one per element of `nights`
  /// Digests of the method's shared library, one per element of `nights`; empty texts for a built-in method.
  std::vector<io::Text> library_digests;
  /// The status of the trial in the night after the last of `nights`, on this place or on an unknown one.
  /// Empty if the trial has no such record.
  std::string ended_as;
  SeriesChange change;  ///< its ChangePoint::at are indices into `nights`
};

/// The trends of all trials.
struct Trend {
  std::vector<Night> nights;        ///< in chronological order
  std::vector<TrendSeries> series;  ///< only those with at least two nights
  double false_alarm_rate = 0;      ///< see TrendRules
  bool has_other_threads = false;   ///< true if a CPU method ran with several numbers of threads
};

/// The thresholds of a trend.
struct TrendRules {
  double threshold = 0.01;         ///< smallest relative change that counts
  double false_alarm_rate = 0.01;  ///< probability of any finding if no trial changed
};

/// Computes the trends. A set may have several nights (see split_runs). Consecutive runs of a plan without
/// common trials, such as shards (parts of a plan that ran separately), are one night.
/// @param sets paths and their records
Trend trend_of(std::vector<std::pair<std::string, io::Results>> sets, const TrendRules& rules);

/// Returns a sentence per change, the latest first: "gemm/shared double n=1024: 4.1 % slower (3.6 to 4.6)
/// since 2026-11-17, commits abc1234..def5678". Names the models if there are several.
std::vector<std::string> trend_sentences(const Trend& trend);

}  // namespace gaussweep::driver
