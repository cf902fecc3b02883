#pragma once
/// Counts SIGTERM, SIGINT, SIGUSR1 and SIGHUP, so that loops can poll the count. The counts are global,
/// because a signal handler cannot reach other variables.

#include <sys/types.h>

namespace gaussweep::driver {

/// Installs handlers that count these signals instead of ending the process. An inherited SIG_IGN for SIGHUP
/// stays. Restores the default of SIGCHLD, so that the exit statuses of children are available.
void count_stop_signals();
/// Returns the number of signals that have arrived. @param last if not null, set to the newest signal's
/// number
int stop_signals(int* last = nullptr);

/// From now on, does not count these signals if a process of the given session sends them. A user's library
/// of methods runs in the worker's session, and signals that it sends must not end the run.
void ignore_stop_signals_of(pid_t session);

}  // namespace gaussweep::driver
