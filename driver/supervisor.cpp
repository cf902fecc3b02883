#include "driver/supervisor.hpp"

#include <unistd.h>

#include <csignal>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "driver/execute.hpp"
#include "driver/machine.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr int most_ends = 2;           // of one trial, before it is left alone
constexpr int most_failed_starts = 3;  // in a row, before the rank retires
constexpr double start_timeout = 120;  // CUDA start-up on a busy node, with the peaks' measurement

/// A record of a second try says how the first one ended.
io::Record with_first_end(io::Record record, const std::string& cause) {
  const std::string words = "second try; the first ended its worker: " + cause;
  record.message = record.message.empty() ? words : record.message + "; " + words;
  return record;
}

}  // namespace

Supervisor::Supervisor(World& world, WorkerPlace place, const Registry& registry)
    : world_(world), place_(std::move(place)), registry_(registry) {
  start_worker();
  ask();
}

void Supervisor::ask() {
  world_.send(0, World::coordinator, {{"type", "ready"}, {"held", held_}});
}

void Supervisor::report(const io::Record& record) {
  world_.send(0, World::coordinator,
              {{"type", "record"}, {"key", record.key}, {"record", io::to_json(record)}});
  trial_.reset();
  ends_ = 0;
  first_cause_.clear();
  ask();
}

void Supervisor::start_worker() {
  std::vector<std::string> changes = {fmt::format("OPENBLAS_NUM_THREADS={}", place_.threads)};
  if (!place_.gpu_uuid.empty()) changes.push_back("CUDA_VISIBLE_DEVICES=" + place_.gpu_uuid);
  const std::string log = fmt::format("{}/logs/worker-{}.log", place_.directory, place_.rank);
  worker_ready_ = false;
  sent_ = false;
  step_ = "start-up";
  worker_started_ = now_seconds();
  kills_before_ = memory_kills();
  try {
    worker_ = Process({"worker", "--parent", std::to_string(::getpid())}, child_environment(changes), log);
    worker_.channel().send({{"type", "setup"},
                            {"backend", to_string(place_.backend)},
                            {"matrices", place_.directory + "/matrices"},
                            {"host", place_.host},
                            {"job", to_json(place_.job)},
                            {"run_id", place_.run_id},
                            {"rank", place_.rank},
                            {"device_index", place_.device_index},
                            {"peaks", peaks_}});
  } catch (const ChannelClosed&) {
    // it ended at once: seen and counted by step()
  }
}

void Supervisor::end_worker() {
  if (!worker_.end())
    spdlog::error("rank {}: the worker cannot be ended: it is stuck in the kernel", place_.rank);
  worker_ready_ = false;
}

void Supervisor::retire(const std::string& reason) {
  end_worker();
  json message = {{"type", "retired"}, {"reason", reason}};
  if (trial_) message["key"] = trial_->key;
  trial_.reset();
  world_.send(0, World::coordinator, message);
  finished_ = true;
}

void Supervisor::worker_is_gone(const std::string& status, const std::string& cause) {
  end_worker();
  held_.clear();
  if (trial_ && sent_) {
    failed_starts_ = 0;
    ++ends_;
    spdlog::warn("rank {}: {}: {} {} (at {})", place_.rank, describe(*trial_), status, cause, step_);
    if (ends_ >= most_ends) {
      Site site;
      site.host = place_.host;
      site.job = place_.job;
      site.run_id = place_.run_id;
      site.commit = version_commit;
      site.rank = place_.rank;
      io::Record record = blank_record(*trial_, registry_.find(trial_->problem, trial_->method), site);
      record.status = status;
      record.message = fmt::format("{} (at {}); tried {} times", cause, step_, ends_);
      if (trial_->backend == Backend::cuda) {
        record.gpu_uuid = place_.gpu_uuid;
        record.device_index = place_.device_index;
      }
      report(record);
    } else {
      first_cause_ = cause;
    }
  } else if (++failed_starts_ >= most_failed_starts) {
    retire(fmt::format("{} workers in a row could not start: {}", failed_starts_, cause));
    return;
  }
  start_worker();
}

void Supervisor::take_from_worker(const json& message) {
  const std::string type = message.at("type");
  if (type == "at") {
    step_ = message.at("step");
  } else if (type == "hello") {
    failed_starts_ = 0;
    worker_ready_ = true;
    const json& row = message.at("device");
    if (peaks_.is_null()) {
      peaks_ = {{"copy", row.at("copy_bytes_per_second")},
                {"float", row.at("gemm_flops_float")},
                {"double", row.at("gemm_flops_double")}};
      world_.send(0, World::coordinator, {{"type", "device"}, {"row", row}});
    }
  } else if (type == "unfit") {
    worker_is_gone("crashed", message.at("message"));
  } else if (type == "storage_failed") {
    world_.send(0, World::coordinator, message);
    trial_.reset();
    end_worker();
  } else if (type == "record") {
    const io::Record record = io::record_from_json(message.at("record"));
    if (message.at("fatal").get<bool>()) {
      // the process can do no more: a fresh one tries the trial again, once
      step_ = "run";
      const std::string cause = record.message;
      if (ends_ + 1 >= most_ends) {
        io::Record last = record;
        last.message += fmt::format("; tried {} times", ends_ + 1);
        end_worker();
        held_.clear();
        report(last);
        start_worker();
      } else {
        worker_is_gone(record.status, cause);
      }
      return;
    }
    held_ = trial_ ? trial_->matrix.digest : std::string();
    report(ends_ == 0 ? record : with_first_end(record, first_cause_));
  }
}

void Supervisor::take_message(const json& message) {
  const std::string type = message.at("type");
  if (type == "trial") {
    trial_ = trial_from_json(message.at("trial"));
    sent_ = false;
    ends_ = 0;
  } else if (type == "abandon") {
    if (trial_) {
      world_.send(0, World::coordinator, {{"type", "given_back"}, {"key", trial_->key}});
      trial_.reset();
      end_worker();
    }
  } else if (type == "finish") {
    end_worker();
    finished_ = true;
  }
}

void Supervisor::watch_time() {
  const double now = now_seconds();
  if (trial_ && sent_ && now - sent_at_ > trial_->timeout_seconds) {
    worker_is_gone("timeout", fmt::format("no end after {:g} s", trial_->timeout_seconds));
  } else if (!worker_ready_ && worker_.running() && now - worker_started_ > start_timeout) {
    worker_is_gone("crashed", fmt::format("no sign of life within {:g} s", start_timeout));
  }
}

void Supervisor::step(int wait_ms) {
  while (auto arrived = world_.receive(World::supervisor)) {
    take_message(arrived->message);
    if (finished_) return;
  }
  if (!worker_.running()) return;
  if (trial_ && !sent_ && worker_ready_) {
    step_ = "start";
    sent_ = true;
    sent_at_ = now_seconds();
    try {
      worker_.channel().send({{"type", "trial"}, {"trial", to_json(*trial_)}});
    } catch (const ChannelClosed&) {
      // seen below as the end of the channel
    }
  }
  try {
    std::optional<json> message = worker_.channel().receive(wait_ms);
    while (message) {
      take_from_worker(*message);
      if (finished_ || !worker_.running() || !worker_.channel().open()) return;
      message = worker_.channel().receive(0);
    }
  } catch (const ChannelClosed&) {
    // its last words are read; now wait for its end, which follows at once, or is brought about
    Ending how;
    const double deadline = now_seconds() + 1;
    bool ended = false;
    while (!(ended = worker_.ended(how)) && now_seconds() < deadline) ::usleep(1000);
    const bool memory = ended && !how.exited && how.code == SIGKILL && memory_kills() > kills_before_;
    worker_is_gone(memory ? "oom" : "crashed", memory  ? "killed by the system, host memory ran out"
                                               : ended ? how.words()
                                                       : "closed its channel and hung");
    return;
  } catch (const std::exception& e) {
    worker_is_gone("crashed", fmt::format("its messages cannot be understood any more ({})", e.what()));
    return;
  }
  watch_time();
}

}  // namespace gaussweep::driver
