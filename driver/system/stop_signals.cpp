#include "driver/system/stop_signals.hpp"

#include <csignal>

namespace gaussweep::driver {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t newest = 0;
volatile std::sig_atomic_t hung_up = 0;

extern "C" void note_signal(int number) {
  // Both the kernel and the shell send SIGHUP when a terminal closes; they count once.
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
  sigset_t unblocked;
  sigemptyset(&unblocked);
  for (int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    // Started by nohup: the process must go on.
    if (number == SIGHUP && inherited.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
    sigaddset(&unblocked, number);
  }
  // The parent process may have blocked these signals, or ignored SIGCHLD, which would discard exit statuses.
  sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
}

int stop_signals(int* last) {
  if (last != nullptr) *last = newest;
  return received;
}

}  // namespace gaussweep::driver
