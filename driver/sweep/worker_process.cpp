/// Starts a worker process for its supervisor, exchanges messages with it, and ends it.

#include "driver/sweep/worker_process.hpp"

#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

#include "driver/system/machine.hpp"
#include "driver/system/stop_signals.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the environment variables of the worker's process.
std::vector<std::string> environment_of(const WorkerSpec& spec) {
  // Python and Fortran in a method have their own buffers, whose text would be lost if the worker is killed.
  std::vector<std::string> variables = {fmt::format("OPENBLAS_NUM_THREADS={}", spec.threads),
                                        "PYTHONUNBUFFERED=1", "GFORTRAN_UNBUFFERED_PRECONNECTED=y"};
  // malloc keeps freed memory for the next trial, because page faults on fresh pages cost more than the work
  // on them. Free memory beyond 1 GiB returns to the system. malloc uses huge pages if available.
  if (environment_value("GLIBC_TUNABLES").empty()) {
    variables.emplace_back(
        "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1073741824:"
        "glibc.malloc.top_pad=67108864:glibc.malloc.hugetlb=1");
  }
  if (!spec.visible.empty()) variables.push_back("CUDA_VISIBLE_DEVICES=" + spec.visible);
  return child_environment(variables);
}

/// A worker in a child process, started with `gaussweep worker`.
class SpawnedWorker : public WorkerProcess {
 public:
  explicit SpawnedWorker(const WorkerSpec& spec)
      : memory_kills_before_(memory_kills()),
        process_({"worker", "--parent", std::to_string(::getpid())}, environment_of(spec),
                 fmt::format("{}/logs/worker-{}.log", spec.directory, spec.origin.rank), spec.program),
        pid_(process_.pid()) {
    ignore_stop_signals_of(pid_);
  }

  pid_t pid() const override { return pid_; }
  bool listens() const override { return process_.running() && process_.channel().open(); }
  void send(const ToWorker& message) override { process_.channel().send_nonblocking(message_json(message)); }
  std::optional<FromWorker> receive(int wait_ms) override {
    const auto message = process_.channel().receive(wait_ms);
    if (!message) return std::nullopt;
    return read_message<FromWorker>(*message);
  }
  std::string step() const override { return process_.step(); }
  bool poll_end(Ending& how) override {
    if (!process_.poll_end(how)) return false;
    was_killed_ = !how.exited && how.code == SIGKILL;
    return true;
  }
  bool out_of_memory() const override { return was_killed_ && memory_kills() > memory_kills_before_; }
  bool kill() noexcept override { return process_.kill(); }

 private:
  std::int64_t memory_kills_before_;  ///< memory_kills() at the start; a later rise means a kill for memory
  Process process_;
  pid_t pid_;
  bool was_killed_ = false;
};

}  // namespace

std::unique_ptr<WorkerProcess> start_worker_process(const WorkerSpec& spec) {
  return std::make_unique<SpawnedWorker>(spec);
}

}  // namespace gaussweep::driver
