/// Compares the state of the worker process before and after a trial. The code of a method's shared library
/// may change this state, which would affect later trials.

#include "driver/worker/process_state.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "kernels/vendor/blas_threads.hpp"

namespace gaussweep::driver {
namespace {

/// The bits of signals 32 and 33 in a mask. The C library itself uses these signals once the process starts a
/// thread.
constexpr unsigned long long libc_signals = 3ULL << 31;  // bit s - 1 is signal s

/// Returns a signal mask in hex without the C library's signals.
std::string application_signals(const std::string& mask) {
  return fmt::format("{:x}", std::stoull(mask, nullptr, 16) & ~libc_signals);
}

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string working_directory() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/cwd", path.data(), path.size());
  return length < 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
}

std::string timers() {
  std::string text;
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    ::getitimer(which, &timer);
    text += timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0 ? '1' : '0';
  }
  return text;
}

/// Calls visit(thread's folder in /proc) for every thread of a process and of its descendants.
template <class Visit>
void visit_threads(const std::string& pid, Visit&& visit) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + pid + "/task", error)) {
    visit(entry.path());
    std::istringstream children(text_of_file((entry.path() / "children").c_str()));
    for (std::string child; children >> child;) visit_threads(child, visit);
  }
}

/// Returns true if another thread of this process, or one of its descendants, is running or could run.
bool has_runnable_thread() {
  const std::string thread_id = std::to_string(::gettid());
  bool found = false;
  visit_threads("self", [&](const std::filesystem::path& thread) {
    if (thread.filename() == thread_id) return;
    const std::string text = text_of_file((thread / "stat").c_str());  // "12 (name) R ..."
    const std::size_t name_end = text.rfind(')');
    found = found || (name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0);
  });
  return found;
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  visit_threads("self", [&](const std::filesystem::path& /*thread*/) { ++state.threads_; });
  std::ifstream status("/proc/self/status");
  for (std::string name, value; status >> name && std::getline(status >> std::ws, value);) {
    if (name == "Umask:") state.parts_["umask"] = value;
    if (name == "Cpus_allowed:") state.parts_["CPU affinity"] = value;
    if (name == "SigBlk:" || name == "SigIgn:" || name == "SigCgt:")
      state.parts_["signal handling"] += application_signals(value) + ' ';
  }
  state.parts_["limits"] = text_of_file("/proc/self/limits");
  state.parts_["timers"] = timers();
  state.parts_["working directory"] = working_directory();
  state.parts_["OpenBLAS's threads"] = std::to_string(vendor::blas_threads());
  return state;
}

std::string ProcessState::changes_since(const ProcessState& before) const {
  std::string names;
  for (const auto& [name, text] : parts_) {
    const auto other = before.parts_.find(name);
    if (other != before.parts_.end() && other->second == text) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

bool has_busy_threads() {
  // Checks the threads' states, not their CPU times, because a thread gets little CPU time on a busy machine.
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!has_runnable_thread()) return false;
  }
  return true;
}

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void end_descendants() noexcept {
  // Children of a killed child become children of this process (`adopt_orphans`), so the next round kills
  // them. The number of rounds is limited, because a process may start others faster than they are killed.
  for (int round = 0; round < 1000; ++round) {
    std::vector<pid_t> children;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
      std::ifstream list(entry.path() / "children");
      for (pid_t child = 0; list >> child;) children.push_back(child);
    }
    if (children.empty()) return;
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  }
}

}  // namespace gaussweep::driver
