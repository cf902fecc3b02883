#pragma once
/// Shows progress on stderr: a bar on a terminal, otherwise one line per minute. The log also gets a line per
/// minute.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "driver/plan/cost_model.hpp"

namespace gaussweep::driver {

/// Counts finished trials (one method on one matrix each) and shows how many are left.
class Progress {
 public:
  /// @param total number of trials, including those already done
  /// @param done number of trials that were recorded before this run was resumed
  /// @param is_shown false: nothing is written
  Progress(std::size_t total, std::size_t done, bool is_shown = true);
  /// Counts a trial whose record is on disk. @param expected true if the plan expects `status`
  void count(const std::string& status, bool expected);
  /// Returns the estimated seconds left, or nothing if they are unknown.
  using EstimateLeft = std::function<std::optional<TimeRange>()>;
  /// Shows the progress if an update is due, or if `now` is true. Calls `left` only in these cases, because
  /// it takes time.
  void show(const EstimateLeft& left, bool now = false);
  /// Ends the line of the bar.
  void finish();

 private:
  std::string text(const EstimateLeft& left) const;
  std::size_t total_, done_;
  /// Numbers of trials with an unexpected status. Those in `broken_` gave no answer (crashed, timeout, oom or
  /// error). Those in `unexpected_` passed although the plan expects another status.
  std::size_t wrong_ = 0, suspect_ = 0, broken_ = 0, unexpected_ = 0;
  bool is_shown_, is_terminal_;
  double next_show_ = 0, next_line_ = 0;  ///< when the display and the log are updated next
};

}  // namespace gaussweep::driver
