#include "driver/sweep/worker_process.hpp"

#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "driver/system/machine.hpp"

namespace gaussweep::driver {
namespace {

class SpawnedWorker : public WorkerProcess {
 public:
  enum class Start { with_its_run, early };
  SpawnedWorker(const WorkerPlace& place, Start start) : kills_before_(memory_kills()) {
    std::vector<std::string> changes = {fmt::format("OPENBLAS_NUM_THREADS={}", place.threads)};
    // Memory that a trial gave back serves the next one: fresh pages cost more than what is done with them.
    // What is free beyond a gibibyte goes back to the system. With large pages where the system has them.
    if (environment_value("GLIBC_TUNABLES").empty()) {
      changes.emplace_back(
          "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1073741824:"
          "glibc.malloc.top_pad=67108864:glibc.malloc.hugetlb=1");
    }
    if (!place.visible.empty()) changes.push_back("CUDA_VISIBLE_DEVICES=" + place.visible);
    const std::vector<std::string> environment = child_environment(changes);
    std::vector<std::string> words = {"worker", "--parent", std::to_string(::getpid())};
    if (start == Start::early) {
      words.emplace_back("--early");
      words.emplace_back(to_string(place.backend));
      process_ = Process(words, environment);
    } else {
      process_ = Process(words, environment, log_of(place));
    }
    pid_ = process_.pid();
  }

  /// For one that started early, before its first message. @throws io::StorageError
  void give_log(const WorkerPlace& place) { process_.give_log(log_of(place)); }
  pid_t pid() const override { return pid_; }
  bool listens() const override { return process_.running() && process_.channel().open(); }
  void send(const ToWorker& message) override { process_.channel().send(message_json(message)); }
  std::optional<FromWorker> receive(int wait_ms) override {
    const auto message = process_.channel().receive(wait_ms);
    if (!message) return std::nullopt;
    return read_message<FromWorker>(*message);
  }
  std::string step() const override { return process_.step(); }
  bool ended(Ending& how) override {
    if (!process_.ended(how)) return false;
    killed_ = !how.exited && how.code == SIGKILL;
    return true;
  }
  bool out_of_memory() const override { return killed_ && memory_kills() > kills_before_; }
  bool end() noexcept override { return process_.end(); }

 private:
  static std::string log_of(const WorkerPlace& place) {
    return fmt::format("{}/logs/worker-{}.log", place.directory, place.origin.rank);
  }

  Process process_;
  pid_t pid_ = -1;
  std::int64_t kills_before_;
  bool killed_ = false;
};

}  // namespace

std::unique_ptr<WorkerProcess> start_worker_process(const WorkerPlace& place) {
  return std::make_unique<SpawnedWorker>(place, SpawnedWorker::Start::with_its_run);
}

StartWorker start_first_worker(const WorkerPlace& early) {
  const auto first = std::make_shared<std::unique_ptr<SpawnedWorker>>();
  try {
    *first = std::make_unique<SpawnedWorker>(early, SpawnedWorker::Start::early);
  } catch (const std::exception&) {
    // started when it is asked for: what keeps it from that is said then
  }
  return [first, backend = early.backend](const WorkerPlace& place) -> std::unique_ptr<WorkerProcess> {
    std::unique_ptr<SpawnedWorker> worker = std::move(*first);
    if (worker && backend != place.backend) worker.reset();
    if (!worker) return start_worker_process(place);
    worker->give_log(place);
    return worker;
  };
}

}  // namespace gaussweep::driver
