#pragma once
/// SIGTERM, SIGINT, SIGUSR1 and SIGHUP as a count that loops look at. (The one global of the program: a
/// signal handler has no other place to write to.)

namespace gaussweep::driver {

/// From now on these signals are counted; they do not end the process, whatever it inherited, and SIGHUP that
/// is ignored stays so. How children end can be asked.
void count_stop_signals();
/// How many have arrived; `last` is the newest's number.
int stop_signals(int* last = nullptr);

}  // namespace gaussweep::driver
