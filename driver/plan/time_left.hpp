#pragma once
/// How long the rest of a sweep takes, by what its finished trials took.

#include <map>
#include <optional>
#include <vector>

#include "driver/plan/cost_model.hpp"
#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

class TimeLeft {
 public:
  /// @param model, trials @pre outlive it
  TimeLeft(const CostModel& model, const Registry& registry, const std::vector<Trial>& trials);
  /// Notes the end of a trial of this run.
  void done(std::size_t trial, const io::Record& record);
  /// Seconds until all is done, by `ranks` that share the work; nothing while too little is known.
  /// @param spent seconds for which the trials that are running have run, all together
  std::optional<TimeRange> seconds(double ranks, double spent = 0) const;

 private:
  /// Trials that are expected to take as long as each other.
  struct Alike {
    std::size_t first;
    double left = 0;
  };
  /// What a rank did in this run, by the records' clock.
  struct Rank {
    double began, ended, busy = 0;
  };
  const CostModel& model_;
  const std::vector<Trial>& trials_;
  std::vector<Alike> alike_;
  std::vector<std::size_t> alike_of_;  ///< of each trial
  std::vector<bool> done_;
  std::map<std::int64_t, Rank> ranks_;
};

}  // namespace gaussweep::driver
