#pragma once
/// The trial of a shared library that a rank's worker runs, in a file. Code of a library can kill its rank;
/// then no record names the trial, and the next start of the run reads it from this file.

#include <filesystem>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/system/origin.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// The file of one rank. Its content outlives this process, but not the machine. The file only helps to name
/// a cause, so that errors of the medium are ignored.
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
  io::Descriptor file_;  ///< opened by the first `begin`
  bool noted_ = false;
};

/// Records the trials during which a rank of the last start ended without notice as crashed, and removes the
/// files. A trial is repeated once: the record of the first time is `for_now`, the next one is final.
void record_in_flight(RunDirectory& directory, const std::vector<Trial>& trials, const Registry& registry);

}  // namespace gaussweep::driver
