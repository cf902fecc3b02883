#pragma once
/// Progress on stderr: a bar on a terminal, a line a minute otherwise, and in the log.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "driver/plan/cost_model.hpp"

namespace gaussweep::driver {

class Progress {
 public:
  /// @param done trials that an earlier start has done already
  Progress(std::size_t total, std::size_t done);
  /// Counts a trial whose record is on disk.
  void count(const std::string& status, bool expected);
  /// What is left, in seconds; nothing where that is not known.
  using Left = std::function<std::optional<TimeRange>()>;
  /// Shows the state where it is due. `left` is asked only then.
  void show(const Left& left, bool now = false);
  /// Ends the bar's line.
  void finish();

 private:
  std::string text(const Left& left) const;
  std::size_t total_, done_;
  std::size_t unexpected_ = 0, broken_ = 0;
  bool terminal_;
  double next_show_ = 0, next_line_ = 0;
};

}  // namespace gaussweep::driver
