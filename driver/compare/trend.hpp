#pragma once
/// Nights of the same plans side by side: since when a trial takes longer or less.

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compare/change_points.hpp"
#include "driver/compare/compare.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// One of the sets, a run or a merged night.
struct Night {
  std::string path;
  std::string began;                 ///< of its first trial
  std::vector<std::string> commits;  ///< that made its records
  std::vector<std::string> gpus;     ///< UUIDs
  std::string driver;                ///< version of the GPU's; empty: unknown
};

/// A trial on one GPU and CPU model, over the nights in which it has a time.
struct TrendSeries {
  io::Record identity;  ///< of the last night
  std::string place;    ///< Models::words
  Timed clock = Timed::run;
  std::vector<std::size_t> nights;  ///< of Trend::nights, ascending
  std::vector<double> seconds;      ///< a night each
  SeriesChange change;              ///< places in `nights`
};

struct Trend {
  std::vector<Night> nights;        ///< in the order of time
  std::vector<TrendSeries> series;  ///< those with enough nights to tell
  double rate = 0;
};

struct TrendRules {
  double threshold = 0.01;  ///< a share by which a time must change to count
  double rate = 0.01;       ///< of trends without a change in which anything is found
};

/// @param sets paths, and their records: one per night, or several if they hold several runs (runs_apart)
Trend trend_of(std::vector<std::pair<std::string, io::Results>> sets, const TrendRules& rules);

/// What was found, a sentence a change, the latest first: "gemm/shared double n=1024: 4.1 % slower (3.6 to
/// 4.6) since 2026-11-17, commits abc1234..def5678". It names the models where there are several.
std::vector<std::string> trend_sentences(const Trend& trend);

}  // namespace gaussweep::driver
