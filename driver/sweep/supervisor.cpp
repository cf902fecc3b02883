#include "driver/sweep/supervisor.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "driver/records/blank_record.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/machine.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr int most_ends = 2;           // of one trial, before it is left alone
constexpr int most_failed_starts = 3;  // in a row, before the rank retires
constexpr double pauses[most_failed_starts] = {0, 1,
                                               3};  // seconds after failed starts: a GPU may be resetting
constexpr double shortest_standstill = 1;           // seconds; steps follow each other within milliseconds
constexpr double busy_patience = 60;                // seconds in which a GPU that others use may become free
constexpr double longest_pause = 15;                // between two looks at it
// Seconds for a step of a worker's start. The first one may find the driver not loaded, libraries not read
// yet, and kernels that have to be translated for this GPU.
constexpr double first_start_timeout = 300, start_timeout = 120;

/// A record of a second try says how the first one ended.
io::Record with_first_end(io::Record record, const std::string& cause) {
  const std::string words = "second try; the first ended its worker: " + cause;
  record.message = record.message.empty() ? words : record.message + "; " + words;
  return record;
}

}  // namespace

Supervisor::Supervisor(World& world, WorkerPlace place, const Registry& registry)
    : world_(world), place_(std::move(place)), registry_(registry) {
  if (!place_.unfit.empty()) {
    retire(place_.unfit);
  } else {
    ask();
    start_again_at_ = 0;  // by the first step
  }
}

void Supervisor::ask() {
  world_.send(0, World::coordinator, {{"type", "ready"}, {"held", held_}});
}

void Supervisor::report(const io::Record& record) {
  world_.send(0, World::coordinator,
              {{"type", "record"}, {"key", record.key}, {"record", io::to_json(record)}});
  trial_.reset();
  sent_ = false;
  ends_ = 0;
  first_cause_.clear();
  ask();
}

io::Record Supervisor::blank() const {
  io::Record record = blank_record(*trial_, registry_.find(trial_->problem, trial_->method), place_.origin);
  if (trial_->backend == Backend::cuda) {
    record.gpu_uuid = place_.gpu_uuid;
    record.gpu_name = device_.at("gpu_name");  // a trial is only sent to a worker that has said it
    record.capability = device_.at("capability");
    record.device_index = place_.origin.device_index;
  }
  return record;
}

void Supervisor::start_worker() {
  std::vector<std::string> changes = {fmt::format("OPENBLAS_NUM_THREADS={}", place_.threads)};
  if (!place_.visible.empty()) changes.push_back("CUDA_VISIBLE_DEVICES=" + place_.visible);
  const std::string log = fmt::format("{}/logs/worker-{}.log", place_.directory, place_.origin.rank);
  start_again_at_ = -1;
  worker_ready_ = false;
  sent_ = false;
  step_ = "start-up";
  step_started_ = now_seconds();
  kills_before_ = memory_kills();
  try {
    worker_ = Process({"worker", "--parent", std::to_string(::getpid())}, child_environment(changes), log);
    worker_pid_ = worker_.pid();
    worker_.channel().send({{"type", "setup"},
                            {"backend", to_string(place_.backend)},
                            {"matrices", place_.directory + "/matrices"},
                            {"origin", to_json(place_.origin)},
                            {"device", device_}});
  } catch (const ChannelClosed&) {
    // it ended at once: heard and counted by the next step
  } catch (const io::StorageError&) {
    throw;
  } catch (const std::exception& e) {
    worker_could_not_start(e.what());
  }
}

void Supervisor::end_worker() {
  const bool in_the_middle = sent_;
  if (!worker_.end())
    spdlog::error("rank {}: the worker cannot be ended: it is stuck in the kernel", place_.origin.rank);
  worker_ready_ = false;
  sent_ = false;
  if (in_the_middle) io::remove_temporaries_of(worker_pid_, place_.directory + "/matrices");
}

void Supervisor::retire(const std::string& reason) {
  end_worker();
  trial_.reset();
  out_of_work_ = true;
  world_.send(0, World::coordinator, {{"type", "retired"}, {"reason", reason}});
}

void Supervisor::worker_could_not_start(const std::string& cause) {
  end_worker();
  if (++failed_starts_ >= most_failed_starts) {
    retire(fmt::format("{} workers in a row could not start: {} (at {})", failed_starts_, cause, step_));
  } else {
    start_again_at_ = now_seconds() + pauses[failed_starts_];
  }
}

void Supervisor::device_is_busy(const std::string& cause) {
  end_worker();
  const double now = now_seconds();
  if (busy_since_ < 0) {
    busy_since_ = now;
    spdlog::warn("rank {}: the device is in use, or not ready; tried again for {:g} s: {} (at {})",
                 place_.origin.rank, busy_patience, cause, step_);
  }
  const double waited = now - busy_since_;
  if (waited >= busy_patience) {
    retire(fmt::format("no worker could start for {:.0f} s: {} (at {})", waited, cause, step_));
  } else {
    start_again_at_ = now + std::clamp(waited / 2, 1.0, longest_pause);
  }
}

void Supervisor::trial_ended_worker(io::Record record) {
  end_worker();
  held_.clear();
  ++ends_;
  spdlog::warn("rank {}: {}: {} {}", place_.origin.rank, describe(*trial_), record.status, record.message);
  if (ends_ == 1) first_cause_ = record.message;
  if (ends_ > 1) record.message += fmt::format("; tried {} times", ends_);
  last_end_ = std::move(record);
  start_worker();
}

void Supervisor::worker_is_gone(const std::string& status, const std::string& cause) {
  if (trial_ && sent_) {
    io::Record record = blank();
    record.status = status;
    record.message = fmt::format("{} (at {})", cause, step_);
    trial_ended_worker(std::move(record));
  } else {
    worker_could_not_start(cause);
  }
}

void Supervisor::take_from_worker(const json& message) {
  const std::string type = message.at("type");
  if (type == "at") {
    step_ = message.at("step");
    if (!worker_ready_) step_started_ = now_seconds();
  } else if (type == "hello") {
    failed_starts_ = 0;
    busy_since_ = -1;
    worker_ready_ = true;
    if (device_.is_null()) {
      device_ = message.at("device");
      world_.send(0, World::coordinator, {{"type", "device"}, {"row", device_}});
    }
    if (ends_ >= most_ends) report(last_end_);  // the device works, so it was the trial
  } else if (type == "unfit") {
    // while a trial runs, it is the trial's failure; else there was no start
    if ((trial_ && sent_) || !message.value("busy", false)) {
      worker_is_gone("crashed", message.at("message"));
    } else {
      device_is_busy(message.at("message"));
    }
  } else if (type == "storage_failed") {
    throw io::StorageError(message.at("message").get<std::string>());
  } else if (type == "record") {
    io::Record record = io::record_from_json(message.at("record"));
    const std::string end = message.at("end");
    if (end == "fatal") return trial_ended_worker(std::move(record));
    held_ = trial_ && end.empty() ? trial_->matrix.digest : std::string();
    report(ends_ == 0 ? record : with_first_end(record, first_cause_));
    if (end.empty()) return;
    end_worker();
    start_worker();
  }
}

void Supervisor::take_message(const json& message) {
  const std::string type = message.at("type");
  if (type == "trial") {
    trial_ = trial_from_json(message.at("trial"));
    ends_ = 0;
  } else if (type == "abandon") {
    end_worker();
    trial_.reset();
    start_again_at_ = -1;
    world_.send(0, World::coordinator, {{"type", "given_back"}});
  } else if (type == "finish") {
    end_worker();
    finished_ = true;
    world_.send(0, World::coordinator, {{"type", "bye"}});
  }
}

void Supervisor::watch_time() {
  forgive_standstill();  // also of the wait for the worker's words just now
  const double now = now_seconds();
  if (trial_ && sent_ && now - sent_at_ > trial_->timeout_seconds) {
    worker_is_gone("timeout", fmt::format("no end after {:g} s", trial_->timeout_seconds));
    return;
  }
  const double limit = device_.is_null() ? first_start_timeout : start_timeout;
  if (!worker_ready_ && worker_.running() && now - step_started_ > limit)
    worker_is_gone("crashed", fmt::format("no sign of life within {:g} s", limit));
}

void Supervisor::hear_the_end() {
  // its last words are read; now wait for its end, which follows at once, or is brought about
  Ending how;
  const double deadline = now_seconds() + 1;
  bool ended = false;
  while (!(ended = worker_.ended(how)) && now_seconds() < deadline) ::usleep(1000);
  const bool memory = ended && !how.exited && how.code == SIGKILL && memory_kills() > kills_before_;
  worker_is_gone(memory ? "oom" : "crashed", memory  ? "killed by the system, host memory ran out"
                                             : ended ? how.words()
                                                     : "closed its channel and hung");
}

void Supervisor::hear(int wait_ms) {
  try {
    std::optional<json> message = worker_.channel().receive(wait_ms);
    while (message) {
      take_from_worker(*message);
      if (!worker_.running() || !worker_.channel().open()) return;
      message = worker_.channel().receive(0);
    }
  } catch (const ChannelClosed&) {
    return hear_the_end();
  } catch (const io::StorageError&) {
    throw;
  } catch (const std::exception& e) {
    return worker_is_gone("crashed",
                          fmt::format("its messages cannot be understood any more ({})", e.what()));
  }
  watch_time();
}

void Supervisor::do_step(int wait_ms) {
  if (start_again_at_ >= 0 && now_seconds() >= start_again_at_) start_worker();
  if (!worker_.running()) {
    ::usleep(static_cast<useconds_t>(1000 * wait_ms));
    return;
  }
  if (trial_ && !sent_ && worker_ready_) {
    step_ = "start";
    sent_ = true;
    sent_at_ = now_seconds();
    try {
      worker_.channel().send({{"type", "trial"}, {"trial", to_json(*trial_)}});
    } catch (const ChannelClosed&) {
      // heard below as the end of the channel
    }
  }
  hear(wait_ms);
}

/// Where this process itself was held up (a suspended job, a file system that did not answer rank 0), its
/// worker may have been too, or its words lie here unread: that time is not the trial's.
void Supervisor::forgive_standstill() {
  const double now = now_seconds();
  const double standstill = last_look_ < 0 ? 0 : now - last_look_;
  last_look_ = now;
  if (standstill < shortest_standstill) return;
  sent_at_ += standstill;
  step_started_ += standstill;
}

void Supervisor::step(int wait_ms) {
  forgive_standstill();
  while (auto arrived = world_.receive(World::supervisor)) {
    take_message(arrived->message);
    if (finished_) return;
  }
  try {
    if (out_of_work_) {
      ::usleep(static_cast<useconds_t>(1000 * wait_ms));
    } else {
      do_step(wait_ms);
    }
  } catch (const io::StorageError& e) {
    end_worker();
    trial_.reset();
    out_of_work_ = true;
    world_.send(0, World::coordinator, {{"type", "storage_failed"}, {"message", e.what()}});
  }
}

}  // namespace gaussweep::driver
