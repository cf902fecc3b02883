#pragma once
/// SIGTERM, SIGINT and SIGUSR1 as a count that loops look at. (The one global of the program: a signal
/// handler has no other place to write to.)

namespace gaussweep::driver {

/// From now on these signals are counted; they do not end the process, whatever it inherited. How children
/// end can be asked.
void count_stop_signals();
/// How many have arrived; `last` is the newest's number.
int stop_signals(int* last = nullptr);

}  // namespace gaussweep::driver
