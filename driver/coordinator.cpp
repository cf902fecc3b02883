#include "driver/coordinator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "driver/execute.hpp"
#include "driver/process.hpp"
#include "driver/stop_signals.hpp"
#include "io/errors.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr double sync_interval = 0.05;  // seconds: so many lines share one sync under load

std::vector<double> estimates(const CostModel& model, const std::vector<Trial>& trials) {
  std::vector<double> costs;
  for (const Trial& trial : trials) costs.push_back(model.estimate(trial));
  return costs;
}

CostModel learned(const Registry& registry, const io::JournalContents& journal) {
  CostModel model(registry);
  for (const io::Record& record : journal.records) model.learn(record);
  return model;
}

}  // namespace

bool as_expected(const Trial& trial, const std::string& status) {
  if (status == "skipped") return true;
  if (trial.expect.empty()) return status == "pass";
  return std::find(trial.expect.begin(), trial.expect.end(), status) != trial.expect.end();
}

Coordinator::Coordinator(World& world, RunDirectory& directory, const Registry& registry,
                         std::vector<Trial> trials, std::size_t done, RunLimits limits)
    : world_(world),
      directory_(directory),
      trials_(std::move(trials)),
      model_(learned(registry, directory.journal())),
      costs_(estimates(model_, trials_)),
      queue_(trials_, costs_),
      limits_(limits),
      progress_(trials_.size() + done, done) {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    index_[trials_[i].key] = i;
    queued_cost_ += costs_[i];
  }
}

void Coordinator::keep(const io::Record& record) {
  directory_.append(record);
  model_.learn(record);
  learned_since_ = true;
  const auto found = index_.find(record.key);
  unsynced_.emplace_back(record.status,
                         found == index_.end() || as_expected(trials_[found->second], record.status));
}

void Coordinator::estimate_anew() {
  queue_.after([&] { costs_ = estimates(model_, trials_); });
  queued_cost_ = queue_.total();
  learned_since_ = false;
}

void Coordinator::give(int rank, const std::string& held) {
  double most_seconds = HUGE_VAL;
  if (limits_.deadline > 0) most_seconds = limits_.deadline - now_seconds();
  std::optional<std::size_t> next;
  if (stopped_because_.empty()) {
    next = queue_.next(held, most_seconds);
    if (!next && queue_.size() > 0 && learned_since_) {  // the first guesses err on the careful side
      estimate_anew();
      next = queue_.next(held, most_seconds);
    }
  }
  if (!next) {
    waiting_[rank] = held;
    return;
  }
  queued_cost_ -= costs_[*next];
  running_[rank] = {*next, now_seconds()};
  world_.send(rank, World::supervisor, {{"type", "trial"}, {"trial", to_json(trials_[*next])}});
}

void Coordinator::give_to_waiting() {
  const std::map<int, std::string> idle = std::move(waiting_);
  waiting_.clear();
  for (const auto& [rank, held] : idle) give(rank, held);
}

void Coordinator::take(const World::Arrived& arrived) {
  const json& message = arrived.message;
  const std::string type = message.at("type");
  if (type == "record") {
    running_.erase(arrived.from);
    keep(io::record_from_json(message.at("record")));
  } else if (type == "ready") {
    give(arrived.from, message.at("held"));
  } else if (type == "given_back") {
    const auto run = running_.find(arrived.from);
    if (run != running_.end()) {
      queue_.put_back(run->second.trial);
      queued_cost_ += costs_[run->second.trial];
      running_.erase(run);
    }
    waiting_[arrived.from] = "";
  } else if (type == "device") {
    directory_.note({{"note", "device"}, {"row", message.at("row")}});
  } else if (type == "retired") {
    spdlog::error("rank {} retires: {}", arrived.from, message.at("reason").get<std::string>());
    directory_.note({{"note", "retired"}, {"rank", arrived.from}, {"reason", message.at("reason")}});
    const auto run = running_.find(arrived.from);
    if (run != running_.end()) {
      queue_.put_back(run->second.trial);
      queued_cost_ += costs_[run->second.trial];
      running_.erase(run);
    }
    waiting_.erase(arrived.from);
    gone_.insert(arrived.from);
    give_to_waiting();
  } else if (type == "storage_failed") {
    if (!unsynced_.empty()) directory_.sync();
    throw io::StorageError(message.at("message").get<std::string>());
  } else if (type == "stop") {
    stop("a signal reached rank " + std::to_string(arrived.from));
  }
}

void Coordinator::stop(const std::string& reason) {
  if (!stopped_because_.empty()) return;
  stopped_because_ = reason;
  stopping_since_ = now_seconds();
  spdlog::warn("stopping: {}; {} trials are running, {} are left for --resume", reason, running_.size(),
               queue_.size());
}

void Coordinator::watch_limits() {
  const double now = now_seconds();
  int number = 0;
  const int signals = stop_signals(&number);
  if (signals > 0) stop(fmt::format("signal {}", strsignal(number)));
  if (limits_.deadline > 0 && now > limits_.deadline) stop("the time limit is reached");
  if (limits_.deadline > 0 && learned_since_ && !waiting_.empty()) give_to_waiting();
  if (limits_.deadline > 0 && running_.empty() && queue_.size() > 0 && !waiting_.empty()) {
    stop("no trial that is left fits into the time limit");
  }
  const bool patience_over = !stopped_because_.empty() && now - stopping_since_ > limits_.grace;
  const bool at_once = signals > 1;
  if (!abandoned_ && (patience_over || at_once)) {
    abandoned_ = true;
    for (const auto& [rank, run] : running_) {
      spdlog::warn("abandoning {} on rank {}", describe(trials_[run.trial]), rank);
      world_.send(rank, World::supervisor, {{"type", "abandon"}});
    }
  }
}

double Coordinator::work_left() const {
  double work = queued_cost_;
  const double now = now_seconds();
  for (const auto& [rank, run] : running_) work += std::max(0.0, costs_[run.trial] - (now - run.since));
  return work;
}

double Coordinator::seconds_left() const {
  const auto at_work = static_cast<double>(world_.size()) - static_cast<double>(gone_.size());
  return at_work > 0 ? work_left() / at_work : -1;
}

void Coordinator::tell_all_to_finish() {
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (gone_.insert(rank).second) world_.send(rank, World::supervisor, {{"type", "finish"}});
  }
  finished_ = true;
}

void Coordinator::step() {
  while (auto arrived = world_.receive(World::coordinator)) take(*arrived);
  watch_limits();
  const double now = now_seconds();
  const bool nothing_more = running_.empty() && (queue_.size() == 0 || !stopped_because_.empty());
  if (!unsynced_.empty() && (nothing_more || now - last_sync_ > sync_interval)) {
    directory_.sync();
    last_sync_ = now;
    for (const auto& [status, expected] : unsynced_) progress_.count(status, expected);
    unsynced_.clear();
  }
  progress_.show(seconds_left());
  directory_.write_results(false);
  const bool all_retired = static_cast<int>(gone_.size()) == world_.size();
  if (all_retired && !nothing_more) stop("every rank has retired");
  if (nothing_more || all_retired) {
    progress_.finish(0);
    tell_all_to_finish();
  }
}

}  // namespace gaussweep::driver
