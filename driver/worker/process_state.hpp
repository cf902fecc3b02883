#pragma once
/// The state of the worker process that the code of a method's shared library may change. The worker compares
/// the state before and after a trial and ends if it differs, so that no later trial is affected.

#include <map>
#include <string>

namespace gaussweep::driver {

/// Signal handling, CPU affinity, umask, limits, timers, working directory, and OpenBLAS's threads.
class ProcessState {
 public:
  /// Reads the state of this process.
  static ProcessState now();
  /// Returns the names of the parts that differ from those of `before`; empty if all are equal.
  std::string changes_since(const ProcessState& before) const;
  /// Returns the number of threads of this process and its descendants.
  int threads() const { return threads_; }

 private:
  std::map<std::string, std::string> parts_;  ///< name of a part → its state as a text
  int threads_ = 0;
};

/// Returns true if other threads of this process, or of its descendants, keep running for 0.2 s. The idle
/// threads of OpenBLAS and OpenMP stop running within this time.
bool has_busy_threads();

/// Makes this process the new parent of descendants whose parent has ended. Daemons that a library starts
/// then remain descendants of this process.
void adopt_orphans();
/// Kills all descendants and waits for their end.
void end_descendants() noexcept;

}  // namespace gaussweep::driver
