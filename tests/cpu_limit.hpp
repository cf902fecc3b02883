#pragma once
/// A limit of CPU time for a test of what must not take hours. The load of the machine does not count.

#include <sys/time.h>

namespace gaussweep::testing_help {

/// Ends the process by SIGVTALRM if it takes half a minute of CPU time before the limit's end.
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
