#pragma once
/// Writes the key (identifier) of each rank's running trial to a file if the trial's method comes from a
/// shared library. The code of such a library can end all processes of a rank. Then the trial gets no record,
/// but a resumed run finds its key in the file. A trial is one method on one matrix.

#include <filesystem>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/system/origin.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// The file that names one rank's running trial. Its content survives a crash of this process, but not of the
/// machine. Errors of writing the file are ignored, because the file only helps to name the trial that ended
/// a rank.
class InFlight {
 public:
  InFlight(const std::filesystem::path& directory, const Origin& origin);
  ~InFlight() { end(); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  /// Notes that the trial begins. Does nothing for trials of built-in methods.
  void begin(const Trial& trial);
  /// Notes that the trial has ended, or that the coordinator has taken it back.
  void end() noexcept;

 private:
  std::filesystem::path path_;
  std::string host_;
  io::Descriptor file_;    ///< opened by the first `begin`
  bool is_noted_ = false;  ///< true while the file names a trial
};

/// Reads and removes the files that an earlier start of the run has left. Records the trials named in them as
/// crashed, because their ranks ended without a message. Such a trial runs once more: its first record is
/// marked `is_temporary_failure` (to be repeated), and a second such record is final.
void record_in_flight(RunDirectory& directory, const std::vector<Trial>& trials, const Registry& registry);

}  // namespace gaussweep::driver
