#include "driver/sweep/coordinator.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "driver/base/words.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

// Seconds of work that are handed out at once: a rank asks again when half of it is done, so messages, syncs
// and results.h5 hold up nobody.
constexpr double batch_seconds = 0.2;
constexpr std::size_t most_in_batch = 128;
constexpr double note_interval = 10;    // seconds: the time left is noted so often
constexpr double sync_interval = 0.05;  // seconds: so many lines share one sync under load
// Seconds that a rank may take to answer: more than ending a worker for sure takes.
constexpr double answer_patience = 15;
// A rank that runs a trial reports every few seconds that it lives. It is lost if nothing arrives for the
// trial's timeout and this margin, in seconds: its node, its file system or its process hangs.
constexpr double silence_margin = 30;
// Of the time before a launcher's SIGKILL, what an orderly end gets (workers ended, journal and results
// written): at least so many seconds, which is little on a busy machine, and so large a share.
constexpr double least_to_end = 0.6, share_to_end = 1.0 / 3;
// The number of ranks that may be lost while they run one trial; the trial is not given to a further rank.
constexpr int most_retirements = 2;

std::vector<double> estimates(const CostModel& model, const std::vector<Trial>& trials) {
  std::vector<double> costs;
  for (const Trial& trial : trials) costs.push_back(model.estimate(trial));
  return costs;
}

bool is_on_cpu(const Trial& trial) {
  return trial.backend == Backend::host;
}

std::vector<std::vector<int>> beside(const std::vector<std::string>& hosts,
                                     const std::vector<Trial>& trials) {
  std::vector<std::vector<int>> others(hosts.size());
  const auto on_cpu = std::count_if(trials.begin(), trials.end(), is_on_cpu);
  if (on_cpu == 0 || on_cpu == static_cast<std::ptrdiff_t>(trials.size())) return others;
  std::map<std::string, std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    ranks[hosts[rank]].push_back(static_cast<int>(rank));
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    for (const int other : ranks[hosts[rank]]) {
      if (other != static_cast<int>(rank)) others[rank].push_back(other);
    }
  }
  return others;
}

CostModel learned(const Registry& registry, const io::JournalContents& journal) {
  CostModel model(registry);
  for (const io::Record& record : journal.records) model.learn(record);
  return model;
}

}  // namespace

Coordinator::Coordinator(Post& post, RunDirectory& directory, const Registry& registry,
                         Assignments assignments, Clock clock, StopSignals signals)
    : post_(post),
      directory_(directory),
      trials_(std::move(assignments.trials)),
      beside_(beside(assignments.hosts, trials_)),
      model_(learned(registry, directory.journal())),
      costs_(estimates(model_, trials_)),
      time_left_(model_, registry, trials_),
      queue_(trials_, costs_, registry, post_.size(), assignments.limits.order),
      keeper_(io::MatrixStore(directory.path() / "matrices"), assignments.limits.store_bytes, trials_),
      limits_(assignments.limits),
      clock_(std::move(clock)),
      signals_(std::move(signals)),
      progress_(trials_.size() + assignments.done, assignments.done) {
  for (std::size_t i = 0; i < trials_.size(); ++i) index_[trials_[i].key] = i;
  ranks_.resize(static_cast<std::size_t>(post_.size()));
  for (Rank& rank : ranks_) rank.heard = clock_.now();
}

void Coordinator::keep(io::Record record) {
  const auto found = index_.find(record.key);
  const bool expected = found == index_.end() || as_expected(trials_[found->second], record.status);
  if (found != index_.end()) record.expected = expected ? 1 : 0;
  directory_.append(record);
  model_.learn(record);
  learned_since_ = true;
  ++kept_;
  if (found != index_.end()) {
    time_left_.done(found->second, record);
    queue_.done(found->second);
    keeper_.release(trials_[found->second], true);
  }
  unsynced_.emplace_back(record.status, expected);
}

void Coordinator::estimate_anew() {
  queue_.after([&] { costs_ = estimates(model_, trials_); });
  learned_since_ = false;
  estimate_at_ = 4 * std::max(kept_, estimate_at_);
}

HostCpu Coordinator::cpu_of(int rank) const {
  const std::vector<int>& others = beside_[static_cast<std::size_t>(rank)];
  if (others.empty()) return HostCpu::own;
  for (const int other : others) {
    const auto& theirs = at(other).trials;
    if (std::any_of(theirs.begin(), theirs.end(), [&](std::size_t trial) { return queue_.takes_cpu(trial); }))
      return HostCpu::taken;
  }
  return HostCpu::free;
}

std::vector<std::size_t> Coordinator::next_batch(int rank, const std::string& held) {
  if (!stopped_because_.empty()) return {};
  if (kept_ >= estimate_at_) estimate_anew();
  double most_seconds = HUGE_VAL;
  if (limits_.deadline > 0) most_seconds = limits_.deadline - clock_.now() - in_hand(at(rank));
  std::optional<std::size_t>& last = at(rank).last;
  const HostCpu cpu = cpu_of(rank);
  std::optional<std::size_t> next = queue_.next(held, most_seconds, last, cpu);
  if (!next && queue_.size() > 0 && learned_since_) {  // the first guesses err on the careful side
    estimate_anew();
    next = queue_.next(held, most_seconds, last, cpu);
  }
  std::vector<std::size_t> batch;
  // The last ones go one by one, so that all ranks end together.
  const double left = queue_.total() + (next ? costs_[*next] : 0);
  double room = std::min(batch_seconds, left / (2.0 * post_.size()));
  while (next) {
    batch.push_back(*next);
    room -= costs_[*next];
    most_seconds -= costs_[*next];
    if (room <= 0 || batch.size() == most_in_batch) break;
    next = queue_.next(trials_[*next].matrix.digest, most_seconds, next, cpu);
    // What does not fit ends the batch: a shorter one in its stead would be one with another matrix, or one
    // that is to be compared with it.
    if (next && costs_[*next] > room) {
      queue_.put_back(*next);
      break;
    }
  }
  if (!batch.empty()) last = batch.back();
  return batch;
}

/// Returns true if a rank that gets trials now would surely also be the one that runs them soonest. A rank
/// that is at work gets its next trials early, so that it never waits for a message, as long as the queue
/// outlasts the work that it has. A trial that exceeds its estimate may go on for as long again.
bool Coordinator::is_time_for(int rank) const {
  const Rank& own = at(rank);
  if (own.trials.empty()) return true;
  const double busy = std::max(in_hand(own), clock_.now() - own.since);
  return queue_.total() > 2.0 * post_.size() * busy;
}

void Coordinator::give(int rank, const std::string& held) {
  const std::vector<std::size_t> batch =
      is_time_for(rank) ? next_batch(rank, held) : std::vector<std::size_t>();
  Rank& own = at(rank);
  if (batch.empty()) {
    own.waiting = held;
    return;
  }
  message::Batch message;
  for (const std::size_t index : batch) {
    message.trials.push_back(trials_[index]);
    keeper_.admit(message.trials.back());
  }
  if (own.trials.empty()) {
    own.since = clock_.now();
    own.asked_back = false;
  }
  own.trials.insert(own.trials.end(), batch.begin(), batch.end());
  post_.tell(rank, message);
}

double Coordinator::in_hand(const Rank& rank) const {
  if (rank.trials.empty()) return 0;
  double work = -(clock_.now() - rank.since);
  for (const std::size_t trial : rank.trials) work += costs_[trial];
  return std::max(0.0, work);
}

std::size_t Coordinator::running() const {
  std::size_t count = 0;
  for (const Rank& rank : ranks_) count += rank.trials.size();
  return count;
}

bool Coordinator::any_running() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return !rank.trials.empty(); });
}

bool Coordinator::any_waiting() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.waiting.has_value(); });
}

void Coordinator::give_to_waiting() {
  std::vector<std::pair<int, std::string>> waiting;
  for (int rank = 0; rank < post_.size(); ++rank) {
    if (at(rank).waiting) waiting.emplace_back(rank, *std::exchange(at(rank).waiting, std::nullopt));
  }
  // Ranks that run a trial only want something for later.
  std::stable_partition(waiting.begin(), waiting.end(),
                        [&](const auto& each) { return at(each.first).trials.empty(); });
  for (const auto& [rank, held] : waiting) give(rank, held);
}

void Coordinator::take(int rank, const message::Recorded& recorded) {
  Rank& own = at(rank);
  const auto known = index_.find(recorded.record.key);
  const auto found = known == index_.end() ? own.trials.end()
                                           : std::find(own.trials.begin(), own.trials.end(), known->second);
  if (found != own.trials.end()) {
    own.trials.erase(found);
    own.since = clock_.now();
    own.asked_back = false;
  }
  keeper_.note_writing(rank, recorded.writing);
  keep(recorded.record);
  if (own.waiting && own.trials.empty()) give(rank, *std::exchange(own.waiting, std::nullopt));
}

void Coordinator::take(int rank, const message::Ready& ready) {
  give(rank, ready.held);
}

void Coordinator::ask_back() {
  if (!any_waiting() || queue_.size() > 0 || !stopped_because_.empty()) return;
  for (int rank = 0; rank < post_.size(); ++rank) {
    Rank& own = at(rank);
    const bool is_behind_a_long_one = own.trials.size() > 1 && clock_.now() - own.since > batch_seconds;
    if (!is_behind_a_long_one || own.asked_back) continue;
    own.asked_back = true;
    post_.tell(rank, message::Return{});
  }
}

void Coordinator::take(int rank, const message::Returned& returned) {
  std::deque<std::size_t>& trials = at(rank).trials;
  for (const std::string& key : returned.keys) {
    const auto found = index_.find(key);
    if (found == index_.end()) continue;
    const auto held = std::find(trials.begin(), trials.end(), found->second);
    if (held == trials.end()) continue;
    trials.erase(held);
    put_back(found->second);
  }
  give_to_waiting();
}

void Coordinator::take(int rank, const message::Released& /*released*/) {
  keeper_.note_writing(rank, {});  // its worker has ended
  take_back(at(rank));
  at(rank).waiting = "";
}

void Coordinator::take(int rank, const message::DeviceSeen& seen) {
  at(rank).greeted = true;
  model_.learn(seen.row);
  learned_since_ = true;
  directory_.note(io::note::Device{seen.row, fine_time_stamp()});
}

void Coordinator::take(int /*rank*/, const message::StorageFailed& failed) {
  directory_.sync();
  throw io::StorageError(failed.message);
}

void Coordinator::heard_storing() {
  heard_at_ = clock_.now();
  if (!storing_) spdlog::info("the trials are done; matrices are still being stored");
  storing_ = true;
}

void Coordinator::take(int /*rank*/, const message::Storing& /*storing*/) {
  heard_storing();
}

void Coordinator::take(int rank, const message::Stop& /*stop*/) {
  stop("a signal reached rank " + std::to_string(rank));
}

void Coordinator::take(int /*rank*/, const message::Alive& /*alive*/) {}

void Coordinator::take(int rank, const message::Finished& /*bye*/) {
  at(rank).left = true;
}

void Coordinator::take_back(Rank& rank) {
  for (const std::size_t trial : std::exchange(rank.trials, {})) put_back(trial);
}

void Coordinator::put_back(std::size_t trial) {
  queue_.put_back(trial);
  keeper_.release(trials_[trial], false);
}

void Coordinator::take(int rank, const message::Retired& retired) {
  spdlog::error("rank {} retires: {}", rank, retired.reason);
  lose(rank, retired.reason);
}

void Coordinator::lose(int rank, const std::string& reason) {
  directory_.note(io::note::Retired{rank, reason});
  directory_.sync();
  keeper_.note_writing(rank, {});
  Rank& own = at(rank);
  own.gone = true;
  own.waiting.reset();
  const bool counts = !own.trials.empty() && stopped_because_.empty();
  if (counts && ++lost_with_[own.trials.front()] >= most_retirements) {
    const std::size_t trial = own.trials.front();
    // The trial may be what breaks the devices, so it does not get all of them.
    spdlog::error("{}: {} ranks were lost while they ran it; it is left for --resume",
                  describe(trials_[trial]), most_retirements);
    queue_.done(trial);
    keeper_.release(trials_[trial], true);  // no rank of this run needs its matrix any more
    own.trials.pop_front();
    lost_its_ranks_ = true;
  }
  take_back(own);
  give_to_waiting();
}

void Coordinator::stop(const std::string& reason) {
  if (!stopped_because_.empty()) return;
  stopped_because_ = reason;
  stopping_since_ = clock_.now();
  spdlog::warn("stopping: {}; {} running, {} not begun", reason, counted(running(), "trial"), queue_.size());
}

void Coordinator::heed_launcher() {
  const double patience = post_.launcher_patience();
  const double most = std::max(0.0, std::min(patience - least_to_end, (1 - share_to_end) * patience));
  if (limits_.grace <= most) return;
  spdlog::warn(
      "mpirun kills its ranks {:g} s after SIGTERM, so running trials do not get their {:g} s. Signal USR1, "
      "which it passes on, gives them that time",
      patience, limits_.grace);
  limits_.grace = most;
}

bool Coordinator::nothing_fits() const {
  if (limits_.deadline == 0 || any_running() || queue_.size() == 0 || !any_waiting()) return false;
  // Estimates are poor before the devices are known.
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.greeted || !rank.waiting; });
}

void Coordinator::watch_limits() {
  const double now = clock_.now();
  int number = 0;
  const int signals = signals_(&number);
  if (signals > 0) stop(fmt::format("signal {}", strsignal(number)));
  if (number == SIGTERM) heed_launcher();
  if (limits_.deadline > 0 && now > limits_.deadline) stop("the time limit is reached");
  if (limits_.deadline > 0 && learned_since_ && any_waiting()) give_to_waiting();
  if (nothing_fits()) {
    stop("no trial that is left fits into the time limit");
  }
  const bool patience_over = !stopped_because_.empty() && now - stopping_since_ > limits_.grace;
  const bool at_once = signals > 1;
  if (abandoned_at_ < 0 && (patience_over || at_once)) {
    abandoned_at_ = now;
    for (int rank = 0; rank < post_.size(); ++rank) {
      const std::deque<std::size_t>& trials = at(rank).trials;
      if (trials.empty()) continue;
      spdlog::warn("abandoning {} on rank {}{}", describe(trials_[trials.front()]), rank,
                   trials.size() == 1 ? "" : fmt::format(", and {} after it", trials.size() - 1));
      post_.tell(rank, message::Abandon{});
    }
  }
  if (abandoned_at_ >= 0 && now - abandoned_at_ > answer_patience) forget_abandoned(now);
}

void Coordinator::forget_abandoned(double now) {
  for (int rank = 0; rank < post_.size(); ++rank) {
    if (!at(rank).trials.empty()) lose_silent(rank, now - abandoned_at_);
  }
}

void Coordinator::lose_silent(int rank, double seconds) {
  const std::string reason =
      fmt::format("has not answered for {:.0f} s: its process, node or file system hangs", seconds);
  spdlog::error("rank {} {}; it is lost", rank, reason);
  at(rank).left = true;
  post_.lose_peer();
  post_.tell(rank, message::Finish{true});  // if it wakes up, it must not disturb the others
  lose(rank, reason);
}

void Coordinator::watch_silence(double now) {
  // Messages may lie here unread, or on their way, while this process stands still. A standstill counts as
  // the shortest one, so that a coordinator whose steps are all slow still finds a frozen rank.
  const double standstill = last_step_ < 0 ? 0 : now - last_step_;
  const double forgiven = std::max(0.0, standstill - shortest_standstill);
  last_step_ = now;
  for (int rank = 0; rank < post_.size(); ++rank) {
    Rank& own = at(rank);
    if (own.gone || own.left) continue;
    own.heard = std::min(now, own.heard + forgiven);
    const double busy = own.trials.empty() ? 0 : trials_[own.trials.front()].timeout_seconds;
    const double silence = now - std::max(own.heard, own.since);
    if (silence > busy + silence_margin) lose_silent(rank, silence);
  }
}

/// Estimated anew once a second, or, where that takes long, after fifty times as long.
std::optional<TimeRange> Coordinator::seconds_left() {
  const double now = clock_.now();
  if (now < next_tell_) return told_left_;
  double at_work = 0, spent = 0;
  for (const Rank& rank : ranks_) {
    at_work += rank.gone ? 0 : 1;
    spent += rank.trials.empty() ? 0 : now - rank.since;
  }
  told_left_ = at_work > 0 ? time_left_.seconds(at_work, spent) : std::nullopt;
  next_tell_ = now + std::max(1.0, 50 * (clock_.now() - now));
  return told_left_;
}

void Coordinator::note_left(double now) {
  if (now < next_note_) return;
  const std::optional<TimeRange> left = seconds_left();
  if (!left && !noted_left_) return;
  noted_left_ = left.has_value();
  next_note_ = now + note_interval;
  io::note::Left note;
  note.time = fine_time_stamp();
  if (left) std::tie(note.low, note.likely, note.high) = std::tie(left->low, left->likely, left->high);
  directory_.note(note);
  directory_.flush();
}

void Coordinator::tell_all_to_finish(bool at_once) {
  told_at_ = heard_at_ = clock_.now();
  for (int rank = 0; rank < post_.size(); ++rank) {
    if (!at(rank).left) post_.tell(rank, message::Finish{at_once});
  }
}

void Coordinator::await_goodbyes(double now) {
  // Every message is received before MPI_Finalize: an unanswered one could hold its sender there for ever.
  const bool all = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.left; });
  const bool patience_over = now - heard_at_ > answer_patience;
  finished_ = all || patience_over;
  if (all || !patience_over) return;
  post_.lose_peer();
  for (int rank = 0; rank < post_.size(); ++rank) {
    if (at(rank).left) continue;
    const std::string reason = fmt::format("did not end within {:.0f} s", now - heard_at_);
    spdlog::error("rank {} {}; it is lost", rank, reason);
    directory_.note(io::note::Retired{rank, reason});
  }
}

void Coordinator::give_up() noexcept {
  try {
    if (told_at_ < 0) tell_all_to_finish(true);
    at(0).left = true;  // this rank's own supervisor ends with it
    for (double now = told_at_; !finished_; now = clock_.now()) {
      while (const auto arrived = post_.next_for_coordinator()) {
        if (std::holds_alternative<message::Finished>(arrived->message)) at(arrived->rank).left = true;
        if (std::holds_alternative<message::Storing>(arrived->message)) heard_storing();
      }
      await_goodbyes(now);
      if (!finished_) clock_.wait(1e-3);
    }
  } catch (const std::exception& e) {
    spdlog::error("the other ranks cannot be told to finish: {}", e.what());
    post_.lose_peer();
  }
}

void Coordinator::count(std::vector<std::pair<std::string, bool>>& safe) {
  for (const auto& [status, expected] : safe) progress_.count(status, expected);
  safe.clear();
}

/// Brings records to disk, in the background as long as there is more to do: a disk that is busy with
/// matrices takes seconds for it, in which no rank would be given work.
void Coordinator::make_safe(double now, bool nothing_more) {
  if (nothing_more) {
    if (unsynced_.empty() && syncing_.empty()) return;
    directory_.sync();
    count(syncing_);
    count(unsynced_);
    return;
  }
  const bool settled = directory_.is_settled();
  if (settled) count(syncing_);
  if (unsynced_.empty() || now - last_sync_ <= sync_interval) return;
  last_sync_ = now;
  if (!settled) return directory_.flush();
  directory_.begin_sync();
  std::swap(syncing_, unsynced_);
}

void Coordinator::step() {
  while (const auto arrived = post_.next_for_coordinator()) {
    Rank& from = at(arrived->rank);
    from.heard = clock_.now();
    // A rank that was lost may wake up. Its trials belong to others by now, so its records do not count.
    const bool counts = !from.gone || std::holds_alternative<message::Finished>(arrived->message) ||
                        std::holds_alternative<message::Stop>(arrived->message);
    if (counts) std::visit([&](const auto& each) { take(arrived->rank, each); }, arrived->message);
  }
  const double now = clock_.now();
  if (told_at_ >= 0) {
    await_goodbyes(now);
    return;
  }
  watch_silence(now);
  watch_limits();
  ask_back();
  const bool nothing_more = !any_running() && (queue_.size() == 0 || !stopped_because_.empty());
  make_safe(now, nothing_more);
  if (!nothing_more) note_left(now);
  progress_.show([this] { return seconds_left(); });
  directory_.write_results(false);
  const bool all_retired =
      std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.gone; });
  if (all_retired && queue_.size() > 0 && stopped_because_.empty()) {
    stop("every rank has retired");
    lost_its_ranks_ = true;
  }
  if (nothing_more || all_retired) {
    progress_.finish();
    if (keeper_.refused() + keeper_.removed() > 0) {
      spdlog::info("the matrix store: {} matrices were removed to make room, {} times one did not fit",
                   keeper_.removed(), keeper_.refused());
    }
    tell_all_to_finish(!stopped_because_.empty());
  }
}

}  // namespace gaussweep::driver
