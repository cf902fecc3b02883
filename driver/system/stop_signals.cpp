#include "driver/system/stop_signals.hpp"

#include <csignal>

namespace gaussweep::driver {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t newest = 0;
volatile std::sig_atomic_t hung_up = 0;

extern "C" void note_signal(int number) {
  // A terminal that goes away is told by the system and by its shell: that is no second wish.
  if (number == SIGHUP && hung_up != 0) return;
  if (number == SIGHUP) hung_up = 1;
  received = received + 1;
  newest = number;
}

}  // namespace

void count_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  sigset_t heard;
  sigemptyset(&heard);
  for (int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    if (number == SIGHUP && inherited.sa_handler == SIG_IGN) continue;  // nohup: it shall go on
    sigaction(number, &action, nullptr);
    sigaddset(&heard, number);
  }
  // Who started this program may have blocked them, or told the system to forget how children ended.
  sigprocmask(SIG_UNBLOCK, &heard, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
}

int stop_signals(int* last) {
  if (last != nullptr) *last = newest;
  return received;
}

}  // namespace gaussweep::driver
