#pragma once
/// Writes the key of each rank's running trial to a file if the trial's method comes from a shared library.
/// The code of such a library can end all processes of a rank. Then no record names the trial, but the run
/// reads the file when it is resumed.

#include <filesystem>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/system/origin.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// The file of one rank. Its content survives a crash of this process, but not of the machine. The file only
/// helps to name a cause, so errors of writing it are ignored.
class InFlight {
 public:
  InFlight(const std::filesystem::path& directory, const Origin& origin);
  ~InFlight() { end(); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  /// Notes that the trial begins. Does nothing for trials of built-in methods.
  void begin(const Trial& trial);
  /// Notes that the trial has ended or was taken back.
  void end() noexcept;

 private:
  std::filesystem::path path_;
  std::string host_;
  io::Descriptor file_;    ///< opened by the first `begin`
  bool is_noted_ = false;  ///< true while the file names a trial
};

/// Reads and removes the files that the run has left when it was last started. Records each trial that they
/// name as crashed, because its rank ended without a message. Such a trial runs once more: its first record
/// is marked `for_now`, and a second one is final.
void record_in_flight(RunDirectory& directory, const std::vector<Trial>& trials, const Registry& registry);

}  // namespace gaussweep::driver
