#pragma once
/// Schedules the rounds of `gaussweep try`: chooses the methods that run again until the fastest one is
/// known. A round is a repetition of the measurements in a new process. A task is one problem with fixed
/// precision, nrhs and triangle. Emulated kernels are GPU kernels that run on the CPU.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/try_plan.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Returns true if, for each problem for which the plan has emulated kernels, a method that is not emulated
/// passed. @param backend the requested backend
bool is_solved_without_emulation(const TryPlan& plan, Backend backend,
                                 const std::vector<io::Record>& records);

/// Decides which methods `try` runs next. In a round every selected method runs once. The first round has all
/// methods, but emulated kernels only if the plan has no other methods. Further rounds have only the methods
/// that may still be the fastest of their tasks, until each comparison is settled or the time is over.
/// Finally the remaining emulated kernels run once: if the user requested them, or if for one of their
/// problems no other method passed.
class TryRounds {
 public:
  /// @param backend the requested backend
  /// @param emulates true if the user requested emulated kernels
  /// @param now, deadline seconds of the same clock
  TryRounds(const TryPlan& plan, Backend backend, bool emulates, double now, double deadline);
  /// Returns the plan of the first round.
  std::string first() const { return plan_text(); }
  /// Returns the plan for the next round, or an empty text if there is none.
  /// @param records the records of all rounds so far
  std::string next(const std::vector<io::Record>& records, double now);

 private:
  std::string plan_text() const;
  std::set<std::string> rivals(const std::vector<io::Record>& records) const;
  const TryPlan& plan_;
  Backend backend_;
  bool emulates_;
  double deadline_;            ///< the time at which all trials must have ended
  double rounds_until_;        ///< the time at which the rounds before the emulated kernels end
  std::int64_t round_ = 1;     ///< the current round
  bool has_emulated_ = false;  ///< true if emulated kernels wait until the rounds have ended
  bool is_last_ = false;       ///< true if `next` has returned its last plan
  std::map<std::string, std::int64_t> rounds_;  ///< number of rounds in the plan, by method id
};

}  // namespace gaussweep::driver
