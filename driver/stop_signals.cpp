#include "driver/stop_signals.hpp"

#include <csignal>
#include <initializer_list>

namespace gaussweep::driver {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t newest = 0;

extern "C" void note_signal(int number) {
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
  for (int number : {SIGTERM, SIGINT, SIGUSR1}) {
    sigaction(number, &action, nullptr);
    sigaddset(&heard, number);
  }
  // Who started this program may have blocked them, or told the system to forget how children ended.
  sigprocmask(SIG_UNBLOCK, &heard, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

int stop_signals(int* last) {
  if (last != nullptr) *last = newest;
  return received;
}

}  // namespace gaussweep::driver
