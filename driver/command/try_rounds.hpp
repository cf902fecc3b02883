#pragma once
/// The rounds of `try`.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/try_plan.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Decides what `try` runs next. First comes one round of every method, without the emulated kernels of
/// problems that have other methods. Then come rounds of the methods that may still be the fastest ones of
/// their tasks, until each race is settled or the time is over. The emulated kernels come last, once each.
class TryRounds {
 public:
  /// @param backend that was requested. @param now, deadline seconds of one clock
  TryRounds(const TryPlan& plan, Backend backend, double now, double deadline);
  /// The plan of the first round.
  std::string first() const { return text(); }
  /// Returns the plan with what runs next, or an empty text if nothing does.
  /// @param records all of them so far
  std::string next(const std::vector<io::Record>& records, double now);

 private:
  std::string text() const;
  std::set<std::string> rivals(const std::vector<io::Record>& records) const;
  const TryPlan& plan_;
  double deadline_, rounds_until_;
  std::int64_t round_ = 1;
  bool has_emulated_ = false, is_last_ = false;
  std::map<std::string, std::int64_t> rounds_;  ///< by method id
};

}  // namespace gaussweep::driver
