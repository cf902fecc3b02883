#pragma once
/// A limit of CPU time for operations that must not take hours. The machine's load does not matter.

#include <sys/time.h>

namespace gaussweep::testing_help {

/// Ends the process by SIGVTALRM if it uses half a minute of CPU time while the limit exists.
class CpuLimit {
 public:
  CpuLimit() { set(30); }
  ~CpuLimit() { set(0); }
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;

 private:
  static void set(long seconds) {
    const itimerval limit{{0, 0}, {seconds, 0}};
    ::setitimer(ITIMER_VIRTUAL, &limit, nullptr);
  }
};

}  // namespace gaussweep::testing_help
