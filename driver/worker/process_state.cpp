#include "driver/worker/process_state.hpp"

#include <array>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

#include "kernels/vendor/blas_threads.hpp"

namespace gaussweep::driver {
namespace {

/// The C library uses signals 32 and 33 for its own purposes, from the first thread on.
constexpr unsigned long long own_signals = 3ULL << 31;

/// Returns a signal mask in hex without the C library's signals.
std::string users_signals(const std::string& mask) {
  return fmt::format("{:x}", std::stoull(mask, nullptr, 16) & ~own_signals);
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

/// Returns true if another thread of this process is running or could run.
bool has_runnable_thread() {
  const std::string own = std::to_string(::gettid());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (entry.path().filename() == own) continue;
    const std::string text = text_of_file((entry.path() / "stat").c_str());  // "12 (name) R ..."
    const std::size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0) return true;
  }
  return false;
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  std::ifstream status("/proc/self/status");
  for (std::string name, value; status >> name && std::getline(status >> std::ws, value);) {
    if (name == "Threads:") state.threads_ = std::stoi(value);
    if (name == "Umask:") state.parts_["umask"] = value;
    if (name == "Cpus_allowed:") state.parts_["CPU affinity"] = value;
    if (name == "SigBlk:" || name == "SigIgn:" || name == "SigCgt:")
      state.parts_["signal handling"] += users_signals(value) + ' ';
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
  // On a busy machine a running thread may get little CPU time, so this reads the thread's state instead of
  // its time.
  for (int look = 0; look < 10; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!has_runnable_thread()) return false;
  }
  return true;
}

}  // namespace gaussweep::driver
