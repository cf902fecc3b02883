/// Counts SIGTERM, SIGINT, SIGUSR1 and SIGHUP, so that loops can poll the count.

#include "driver/system/stop_signals.hpp"

#include <csignal>
#include <unistd.h>

namespace gaussweep::driver {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t last_signal = 0;
volatile std::sig_atomic_t got_hangup = 0;
volatile std::sig_atomic_t ignored_session = 0;

extern "C" void note_signal(int number, siginfo_t* info, void* /*context*/) {
  // If si_code <= 0, a process sent the signal; otherwise the kernel did.
  if (info->si_code <= 0 && ignored_session > 0 && ::getsid(info->si_pid) == ignored_session) return;
  // Both the kernel and the shell send SIGHUP when a terminal closes; they count once.
  if (number == SIGHUP && got_hangup != 0) return;
  if (number == SIGHUP) got_hangup = 1;
  received = received + 1;
  last_signal = number;
}

}  // namespace

void count_stop_signals() {
  struct sigaction action {};
  action.sa_sigaction = note_signal;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigset_t unblocked;
  sigemptyset(&unblocked);
  for (int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    // SIGHUP is ignored if nohup started this process. The process must then survive SIGHUP.
    if (number == SIGHUP && inherited.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
    sigaddset(&unblocked, number);
  }
  // The parent process may have blocked these signals, or ignored SIGCHLD, which would discard exit statuses.
  sigprocmask(SIG_UNBLOCK, &unblocked, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
}

void ignore_stop_signals_of(pid_t session) {
  ignored_session = session;
}

int stop_signals(int* last) {
  if (last != nullptr) *last = last_signal;
  return received;
}

}  // namespace gaussweep::driver
