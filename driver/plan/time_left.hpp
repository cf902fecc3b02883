#pragma once
/// Estimates the time left of a sweep from its finished trials.

#include <map>
#include <optional>
#include <vector>

#include "driver/plan/cost_model.hpp"
#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// Tracks finished trials and estimates the time of the others.
class TimeLeft {
 public:
  /// @param model, trials must outlive this object
  TimeLeft(const CostModel& model, const Registry& registry, const std::vector<Trial>& trials);
  /// Records that a trial of this run has ended. @param trial its index
  void done(std::size_t trial, const io::Record& record);
  /// Returns the estimated seconds until all trials are done. Returns nothing if a method has open trials
  /// but no ended one, or if the bounds are too far apart.
  /// @param ranks number of ranks that share the work
  /// @param spent sum of the seconds that the trials in progress have taken so far
  std::optional<TimeRange> seconds(double ranks, double spent = 0) const;

 private:
  /// Trials with the same expected time.
  struct TrialClass {
    std::size_t first;  ///< index of one of them
    double left = 0;    ///< number of its trials that have not run
  };
  /// A rank's activity in this run, from the times in the records.
  struct Rank {
    double began, ended;  ///< of its first and last trial, seconds since the epoch
    double busy = 0;      ///< seconds in trials
  };
  const CostModel& model_;
  const std::vector<Trial>& trials_;
  std::vector<TrialClass> classes_;
  std::vector<std::size_t> class_of_;  ///< per trial, index into `classes_`
  std::vector<bool> done_;
  std::map<std::int64_t, Rank> ranks_;
};

}  // namespace gaussweep::driver
