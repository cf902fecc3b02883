#pragma once
/// Progress on stderr: a bar on a terminal, a line a minute otherwise, and in the log.

#include <cstddef>
#include <map>
#include <string>

namespace gaussweep::driver {

class Progress {
 public:
  /// @param done trials that an earlier start has done already
  Progress(std::size_t total, std::size_t done);
  /// Counts a trial whose record is on disk.
  void count(const std::string& status, bool expected);
  /// Shows the state where it is due. `seconds_left`: what the cost model expects, negative if unknown.
  void show(double seconds_left, bool now = false);
  /// Ends the bar's line.
  void finish();

 private:
  std::string text(double seconds_left) const;
  std::size_t total_, done_;
  std::size_t unexpected_ = 0, broken_ = 0;
  bool terminal_;
  double next_show_ = 0, next_line_ = 0;
};

}  // namespace gaussweep::driver
