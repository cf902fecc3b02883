/// Runs work in a child process, which sends its result through a pipe.

#include "io/files/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>

namespace gaussweep::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;  // per write to the pipe and read from it
constexpr int exit_done = 0, exit_threw = 3;                // exit codes of the child

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs the work in the child and ends the process, so that the parent's exit handlers and destructors do not
/// run.
[[noreturn]] void run_in_child(const std::function<void(ChildOutput&)>& work, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(exit_threw);  // the parent ended before prctl
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Resets the parent's signal handlers: they stop a sweep cleanly and must not run in the child.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  int code = exit_threw;
  try {
    ChildOutput output(out);
    work(output);
    if (output.flush()) code = exit_done;
  } catch (const std::exception&) {
    // `work` catches its errors and sends their messages, so this exception means that sending failed.
  }
  _exit(code);
}

}  // namespace

void ChildOutput::put(const void* bytes, std::size_t count) {
  buffered_.append(static_cast<const char*>(bytes), count);
  if (buffered_.size() >= buffer_bytes) flush();
}

bool ChildOutput::flush() {
  std::size_t done = 0;
  while (!broken_ && done < buffered_.size()) {
    const ssize_t written = ::write(fd_, buffered_.data() + done, buffered_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    broken_ = written <= 0;
    if (!broken_) done += static_cast<std::size_t>(written);
  }
  buffered_.clear();
  return !broken_;
}

Child::Child(const std::function<void(ChildOutput&)>& work, double seconds)
    : seconds_(seconds), deadline_(now() + seconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw NoChild(std::strerror(errno));
  pipe_ = Descriptor(ends[0]);
  const Descriptor write_end(ends[1]);
  ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(buffer_bytes));  // a smaller pipe is slower but correct
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) run_in_child(work, write_end.fd(), parent);
  if (pid_ < 0) throw NoChild(std::strerror(errno));
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Child::fail() {
  int status = 0;
  ::kill(pid_, SIGKILL);  // the child has closed its end of the pipe, so it has ended or is about to
  pid_t waited = 0;
  while ((waited = ::waitpid(pid_, &status, 0)) < 0 && errno == EINTR) continue;
  pid_ = -1;
  // If this process inherited an ignored SIGCHLD, the child's status is not available.
  if (waited < 0) throw ChildFailed("ended early");
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
    throw ChildFailed("crashed with signal " + std::to_string(WTERMSIG(status)) + " (" +
                      strsignal(WTERMSIG(status)) + ")");
  throw ChildFailed("ended early" + (WIFEXITED(status)
                                         ? " with exit status " + std::to_string(WEXITSTATUS(status))
                                         : std::string(", killed from outside")));
}

void Child::fill() {
  for (;;) {
    const double remaining_seconds = deadline_ - now();
    if (remaining_seconds <= 0) {
      char message[64];
      std::snprintf(message, sizeof message, "timed out after %.0f s", seconds_);
      throw ChildFailed(message);
    }
    // Waits at most one second per call, so that the remaining time in milliseconds always fits in an int.
    pollfd waiting{pipe_.fd(), POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::min(1e3, std::ceil(remaining_seconds * 1e3)))) <= 0)
      continue;
    buffer_.resize(buffer_bytes);
    const ssize_t count = ::read(pipe_.fd(), buffer_.data(), buffer_.size());
    if (count < 0 && errno == EINTR) continue;
    buffer_.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    next_ = 0;
    if (count <= 0) fail();
    return;
  }
}

void Child::get(void* bytes, std::size_t count) {
  char* out = static_cast<char*>(bytes);
  while (count > 0) {
    if (next_ == buffer_.size()) fill();
    const std::size_t part = std::min(count, buffer_.size() - next_);
    std::memcpy(out, buffer_.data() + next_, part);
    next_ += part;
    out += part;
    count -= part;
  }
}

std::int64_t Child::integer() {
  std::int64_t value = 0;
  get(&value, sizeof value);
  return value;
}

double Child::real() {
  double value = 0;
  get(&value, sizeof value);
  return value;
}

std::string Child::text() {
  std::string value(static_cast<std::size_t>(integer()), '\0');
  get(value.data(), value.size());
  return value;
}

}  // namespace gaussweep::io
