/// The coordinator, on rank 0: assigns trials to ranks in batches, writes the records of finished trials, and
/// stops the sweep at its limits. Records go to the journal (a log file) and to results.h5 (HDF5). On every
/// rank, a supervisor receives the trials and its worker process runs them. A trial is one method on one
/// matrix.

#include "driver/sweep/coordinator.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <tuple>
#include <utility>

#include "driver/base/text_format.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

// Seconds of work per batch. A rank requests the next batch when half of its batch is done, so messages,
// syncs and writes of results.h5 delay no rank.
constexpr double batch_seconds = 0.2;
constexpr std::size_t max_batch_size = 128;  // in trials, also if their estimates are near 0 s
constexpr double note_interval = 10;         // seconds between notes of the time left
// Seconds between syncs of the journal, so that under load many lines share one sync.
constexpr double sync_interval = 0.05;
// Seconds within which a rank must answer `Abandon` or `Finish`, otherwise it is lost. A healthy rank kills
// its worker and answers much sooner.
constexpr double answer_timeout = 15;
// A rank that runs a trial sends `Alive` every few seconds. The rank is lost if no message arrives for the
// trial's timeout plus this many seconds, because then its node, file system or process hangs.
constexpr double silence_margin = 30;
// The shutdown ends the workers and writes journal and results before the launcher's SIGKILL. It gets the
// larger of these seconds and this fraction of the time between SIGTERM and SIGKILL.
constexpr double min_shutdown_seconds = 0.6, shutdown_fraction = 1.0 / 3;
// If this many ranks are lost while they run the same trial, the trial is not run again.
constexpr int max_losses = 2;

/// Returns the estimated seconds of each trial.
std::vector<double> estimates(const CostModel& model, const std::vector<Trial>& trials) {
  std::vector<double> costs;
  for (const Trial& trial : trials) costs.push_back(model.estimate(trial));
  return costs;
}

/// Returns the other ranks on each rank's host, for `Coordinator::host_peers_`. The lists stay empty if all
/// trials run on the CPU, or if none does.
std::vector<std::vector<int>> host_peers(const std::vector<std::string>& hosts,
                                         const std::vector<Trial>& trials) {
  std::vector<std::vector<int>> peers(hosts.size());
  const auto on_cpu = std::count_if(trials.begin(), trials.end(),
                                    [](const Trial& trial) { return trial.backend == Backend::host; });
  if (on_cpu == 0 || on_cpu == static_cast<std::ptrdiff_t>(trials.size())) return peers;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    for (std::size_t other = 0; other < hosts.size(); ++other) {
      if (other != rank && hosts[other] == hosts[rank]) peers[rank].push_back(static_cast<int>(other));
    }
  }
  return peers;
}

/// Returns a cost model that has learned from the journal's records.
CostModel learned_model(const Registry& registry, const io::JournalContents& journal) {
  CostModel model(registry);
  for (const io::Record& record : journal.records) model.learn(record);
  return model;
}

}  // namespace

Coordinator::Coordinator(MessagePort& port, RunDirectory& directory, const Registry& registry,
                         Assignments assignments, Clock clock, StopSignals signals)
    : port_(port),
      directory_(directory),
      trials_(std::move(assignments.trials)),
      host_peers_(host_peers(assignments.hosts, trials_)),
      hosts_(std::move(assignments.hosts)),
      model_(learned_model(registry, directory.journal())),
      costs_(estimates(model_, trials_)),
      time_left_(model_, registry, trials_),
      queue_(trials_, costs_, registry, port_.size(), assignments.limits.order),
      keeper_(io::MatrixStore(directory.path() / "matrices"), assignments.limits.store_bytes, trials_),
      limits_(assignments.limits),
      clock_(std::move(clock)),
      signals_(std::move(signals)),
      progress_(trials_.size() + assignments.done, assignments.done - assignments.unexpected.size(),
                assignments.shows_progress) {
  for (const std::string& status : assignments.unexpected) progress_.count(status, /*expected=*/false);
  for (std::size_t i = 0; i < trials_.size(); ++i) index_[trials_[i].key] = i;
  ranks_.resize(static_cast<std::size_t>(port_.size()));
  for (Rank& rank : ranks_) rank.last_heard = clock_.now();
}

void Coordinator::store_record(io::Record record) {
  const auto found = index_.find(record.key);
  const bool expected = found == index_.end() || as_expected(trials_[found->second], record.status);
  if (found != index_.end()) record.expected = expected ? 1 : 0;
  directory_.append(record);
  model_.learn(record);
  costs_are_stale_ = true;
  ++record_count_;
  if (found != index_.end()) {
    time_left_.done(found->second, record);
    queue_.done(found->second);
    keeper_.release(trials_[found->second], /*done=*/true);
  }
  unsynced_.emplace_back(record.status, expected);
}

void Coordinator::update_costs() {
  queue_.reorder([&] { costs_ = estimates(model_, trials_); });
  costs_are_stale_ = false;
  // Updates become rarer, because each further record changes the estimates less.
  estimate_at_ = 4 * std::max(record_count_, estimate_at_);
}

HostCpu Coordinator::host_cpu_of(int rank) const {
  const std::vector<int>& others = host_peers_[static_cast<std::size_t>(rank)];
  if (others.empty()) return HostCpu::unshared;
  for (const int other : others) {
    const auto& trials = at(other).trials;
    if (std::any_of(trials.begin(), trials.end(), [&](std::size_t trial) { return queue_.takes_cpu(trial); }))
      return HostCpu::taken;
  }
  return HostCpu::free;
}

std::vector<std::size_t> Coordinator::next_batch(int rank, const std::string& held) {
  if (!stopped_because_.empty()) return {};
  if (record_count_ >= estimate_at_) update_costs();
  double max_seconds = HUGE_VAL;
  if (limits_.deadline > 0) max_seconds = limits_.deadline - clock_.now() - assigned_seconds(at(rank));
  std::optional<std::size_t>& last = at(rank).last;
  const HostCpu cpu = host_cpu_of(rank);
  std::optional<std::size_t> next = queue_.next(held, max_seconds, last, cpu);
  // Estimates made without records tend to be too high, so a trial may fit into the time after an update.
  if (!next && queue_.size() > 0 && costs_are_stale_) {
    update_costs();
    next = queue_.next(held, max_seconds, last, cpu);
  }
  std::vector<std::size_t> batch;
  // A batch takes at most half of the remaining seconds per rank. The last trials are therefore assigned one
  // by one, so that all ranks end at about the same time.
  const double remaining_seconds = queue_.total() + (next ? costs_[*next] : 0);
  double room_seconds = std::min(batch_seconds, remaining_seconds / (2.0 * port_.size()));
  while (next) {
    batch.push_back(*next);
    room_seconds -= costs_[*next];
    max_seconds -= costs_[*next];
    if (room_seconds <= 0 || batch.size() == max_batch_size) break;
    next = queue_.next(trials_[*next].matrix.digest, max_seconds, next, cpu);
    // A trial that does not fit ends the batch. No shorter trial is taken instead, because it has another
    // matrix, or is compared with the longer trial and must run after it.
    if (next && costs_[*next] > room_seconds) {
      queue_.put_back(*next);
      break;
    }
  }
  if (!batch.empty()) last = batch.back();
  return batch;
}

/// Returns true if the rank can get its next trials now. A busy rank gets trials before it is idle, so that
/// it never waits for a message. A busy rank gets no trials if the queue is short, i.e. if all ranks together
/// finish it within about twice the rank's busy time. An idle rank could then start these trials sooner.
/// Estimates may be too low: a trial that has run for t seconds is assumed to run for at least t seconds
/// more.
bool Coordinator::can_assign(int rank) const {
  const Rank& state = at(rank);
  if (state.trials.empty()) return true;
  const double busy_seconds = std::max(assigned_seconds(state), clock_.now() - state.front_since);
  return queue_.total() > 2.0 * port_.size() * busy_seconds;
}

void Coordinator::assign(int rank, const std::string& held) {
  const std::vector<std::size_t> batch =
      can_assign(rank) ? next_batch(rank, held) : std::vector<std::size_t>();
  Rank& state = at(rank);
  if (batch.empty()) {
    state.waiting = held;
    return;
  }
  message::Batch message;
  for (const std::size_t index : batch) {
    message.trials.push_back(trials_[index]);
    keeper_.admit(message.trials.back());
  }
  if (state.trials.empty()) {
    state.front_since = clock_.now();
    state.recalled = false;
  }
  state.trials.insert(state.trials.end(), batch.begin(), batch.end());
  port_.send_to_supervisor(rank, message);
}

double Coordinator::assigned_seconds(const Rank& rank) const {
  if (rank.trials.empty()) return 0;
  double work = -(clock_.now() - rank.front_since);
  for (const std::size_t trial : rank.trials) work += costs_[trial];
  return std::max(0.0, work);
}

std::size_t Coordinator::assigned_count() const {
  std::size_t count = 0;
  for (const Rank& rank : ranks_) count += rank.trials.size();
  return count;
}

bool Coordinator::any_waiting() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.waiting.has_value(); });
}

void Coordinator::assign_to_waiting() {
  std::vector<std::pair<int, std::string>> waiting;
  for (int rank = 0; rank < port_.size(); ++rank) {
    if (at(rank).waiting) waiting.emplace_back(rank, *std::exchange(at(rank).waiting, std::nullopt));
  }
  // Idle ranks come first.
  std::stable_partition(waiting.begin(), waiting.end(),
                        [&](const auto& each) { return at(each.first).trials.empty(); });
  for (const auto& [rank, held] : waiting) assign(rank, held);
}

void Coordinator::handle(int rank, const message::Recorded& recorded) {
  Rank& state = at(rank);
  const auto known = index_.find(recorded.record.key);
  const auto found = known == index_.end()
                         ? state.trials.end()
                         : std::find(state.trials.begin(), state.trials.end(), known->second);
  if (found != state.trials.end()) {
    state.trials.erase(found);
    state.front_since = clock_.now();
    state.recalled = false;
  }
  keeper_.note_writing(rank, recorded.writing);
  store_record(recorded.record);
  if (state.waiting && state.trials.empty()) assign(rank, *std::exchange(state.waiting, std::nullopt));
}

void Coordinator::recall_trials() {
  if (!any_waiting() || queue_.size() > 0 || !stopped_because_.empty()) return;
  for (int rank = 0; rank < port_.size(); ++rank) {
    Rank& state = at(rank);
    const bool has_waiting_trials =
        state.trials.size() > 1 && clock_.now() - state.front_since > batch_seconds;
    if (!has_waiting_trials || state.recalled) continue;
    state.recalled = true;
    port_.send_to_supervisor(rank, message::Return{});
  }
}

void Coordinator::handle(int rank, const message::Returned& returned) {
  std::deque<std::size_t>& trials = at(rank).trials;
  for (const std::string& key : returned.keys) {
    const auto found = index_.find(key);
    if (found == index_.end()) continue;
    const auto held = std::find(trials.begin(), trials.end(), found->second);
    if (held == trials.end()) continue;
    trials.erase(held);
    requeue(found->second);
  }
  assign_to_waiting();
}

void Coordinator::handle(int rank, const message::Released& /*released*/) {
  keeper_.note_writing(rank, {});  // its worker has ended
  requeue_all(at(rank));
  at(rank).waiting = "";  // `Released` is also a request; the rank's new worker holds no matrix
}

void Coordinator::handle(int rank, const message::DeviceSeen& seen) {
  at(rank).device_known = true;
  model_.learn(seen.row);
  costs_are_stale_ = true;
  directory_.note(io::note::Device{seen.row, fine_time_stamp()});
}

void Coordinator::handle(int /*rank*/, const message::StorageFailed& failed) {
  directory_.sync();
  throw io::StorageError(failed.message);
}

void Coordinator::note_storing() {
  last_storing_at_ = clock_.now();
  if (!storing_) spdlog::info("the trials are done; matrices are still being stored");
  storing_ = true;
}

void Coordinator::handle(int rank, const message::Stop& /*stop*/) {
  stop("a signal reached rank " + std::to_string(rank));
}

void Coordinator::requeue_all(Rank& rank) {
  for (const std::size_t trial : std::exchange(rank.trials, {})) requeue(trial);
}

void Coordinator::requeue(std::size_t trial) {
  queue_.put_back(trial);
  keeper_.release(trials_[trial], /*done=*/false);
}

void Coordinator::handle(int rank, const message::Retired& retired) {
  spdlog::error("rank {} retires: {}", rank, retired.reason);
  lose(rank, retired.reason);
}

void Coordinator::lose(int rank, const std::string& reason) {
  directory_.note(io::note::Retired{rank, reason});
  directory_.sync();
  keeper_.note_writing(rank, {});
  Rank& state = at(rank);
  state.lost = true;
  state.waiting.reset();
  const bool is_counted = !state.trials.empty() && stopped_because_.empty();
  if (is_counted && ++losses_of_trial_[state.trials.front()] >= max_losses) {
    const std::size_t trial = state.trials.front();
    // The trial may have caused the losses, so no further rank runs it.
    spdlog::error("{}: {} ranks were lost while they ran this trial; it is left for --resume",
                  describe(trials_[trial]), max_losses);
    queue_.done(trial);
    keeper_.release(trials_[trial], /*done=*/true);  // no rank of this run needs its matrix any more
    state.trials.pop_front();
    lost_its_ranks_ = true;
  }
  requeue_all(state);
  assign_to_waiting();
}

void Coordinator::stop(const std::string& reason) {
  if (!stopped_because_.empty()) return;
  stopped_because_ = reason;
  stopping_since_ = clock_.now();
  spdlog::warn("stopping: {}; {} assigned to ranks, {} not", reason, counted(assigned_count(), "trial"),
               queue_.size());
}

void Coordinator::shorten_grace() {
  const double kill_delay = port_.sigkill_delay();
  const double max_grace =
      std::max(0.0, std::min(kill_delay - min_shutdown_seconds, (1 - shutdown_fraction) * kill_delay));
  if (limits_.grace <= max_grace) return;
  spdlog::warn(
      "mpirun kills its ranks {:g} s after SIGTERM, so running trials do not get their {:g} s. Signal USR1, "
      "which mpirun passes on, gives them that time. If nobody sent SIGTERM, mpirun sent it because a rank "
      "was killed; its last lines name that rank",
      kill_delay, limits_.grace);
  limits_.grace = max_grace;
}

bool Coordinator::nothing_fits() const {
  if (limits_.deadline == 0 || assigned_count() > 0 || queue_.size() == 0 || !any_waiting()) return false;
  // Costs are poorly known until every waiting rank has sent `DeviceSeen` with its device's peak rates.
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.device_known || !rank.waiting; });
}

void Coordinator::check_limits() {
  const double now = clock_.now();
  int last_signal = 0;
  const int signal_count = signals_(&last_signal);
  if (signal_count > 0) stop(fmt::format("signal {}", strsignal(last_signal)));
  if (last_signal == SIGTERM) shorten_grace();
  if (limits_.deadline > 0 && now > limits_.deadline) stop("the time limit is reached");
  if (limits_.deadline > 0 && costs_are_stale_ && any_waiting()) assign_to_waiting();
  if (nothing_fits()) stop("no trial that is left fits into the time limit");
  const bool grace_is_over = !stopped_because_.empty() && now - stopping_since_ > limits_.grace;
  if (abandoned_at_ < 0 && (grace_is_over || signal_count > 1)) {
    abandoned_at_ = now;
    for (int rank = 0; rank < port_.size(); ++rank) {
      const std::deque<std::size_t>& trials = at(rank).trials;
      if (trials.empty()) continue;
      spdlog::warn("abandoning {} on rank {}{}", describe(trials_[trials.front()]), rank,
                   trials.size() == 1 ? "" : fmt::format(", and {} after it", trials.size() - 1));
      port_.send_to_supervisor(rank, message::Abandon{});
    }
  }
  if (abandoned_at_ < 0 || now - abandoned_at_ <= answer_timeout) return;
  for (int rank = 0; rank < port_.size(); ++rank) {
    if (!at(rank).trials.empty()) lose_silent(rank, now - abandoned_at_);
  }
}

void Coordinator::lose_silent(int rank, double seconds) {
  const std::string reason =
      fmt::format("has not answered for {:.0f} s: its process, node or file system hangs", seconds);
  report_silent(rank, reason);
  at(rank).finished = true;
  port_.send_to_supervisor(rank, message::Finish{/*at_once=*/true});  // if the rank wakes up, it must end
  lose(rank, reason);
}

void Coordinator::report_silent(int rank, const std::string& reason) {
  spdlog::error("rank {} {}; it is lost", rank, reason);
  append_text(silent_ranks_,
              fmt::format("rank {} on {} {}", rank, hosts_[static_cast<std::size_t>(rank)], reason));
  port_.lose_peer();
}

void Coordinator::check_silence(double now) {
  // While this process was suspended, messages may have arrived that it has not read yet. The time of a
  // suspension is therefore not counted as silence of a rank. Up to `min_suspension_seconds` per step are
  // counted, so that a coordinator whose steps are all slow still finds a frozen rank.
  const double since_last_step = last_step_ < 0 ? 0 : now - last_step_;
  const double suspended = std::max(0.0, since_last_step - min_suspension_seconds);
  last_step_ = now;
  for (int rank = 0; rank < port_.size(); ++rank) {
    Rank& state = at(rank);
    if (state.lost || state.finished) continue;
    state.last_heard = std::min(now, state.last_heard + suspended);
    const double timeout = state.trials.empty() ? 0 : trials_[state.trials.front()].timeout_seconds;
    const double silence = now - std::max(state.last_heard, state.front_since);
    if (silence > timeout + silence_margin) lose_silent(rank, silence);
  }
}

/// Updates the estimate at most once per second, and rarely enough that the updates take at most 2 % of the
/// time.
std::optional<TimeRange> Coordinator::seconds_left() {
  const double now = clock_.now();
  if (now < next_estimate_) return left_estimate_;
  double active_ranks = 0, spent = 0;
  for (const Rank& rank : ranks_) {
    active_ranks += rank.lost ? 0 : 1;
    spent += rank.trials.empty() ? 0 : now - rank.front_since;
  }
  left_estimate_ = active_ranks > 0 ? time_left_.seconds(active_ranks, spent) : std::nullopt;
  next_estimate_ = now + std::max(1.0, 50 * (clock_.now() - now));  // 50: the inverse of 2 %
  return left_estimate_;
}

void Coordinator::note_left(double now) {
  if (now < next_note_) return;
  const std::optional<TimeRange> left = seconds_left();
  if (!left && !noted_left_) return;
  noted_left_ = left.has_value();
  next_note_ = now + note_interval;
  io::note::TimeLeft note;
  note.time = fine_time_stamp();
  if (left) std::tie(note.low, note.likely, note.high) = std::tie(left->low, left->likely, left->high);
  directory_.note(note);
  directory_.flush();
}

void Coordinator::send_finish_to_all(bool at_once) {
  finish_sent_at_ = last_storing_at_ = clock_.now();
  for (int rank = 0; rank < port_.size(); ++rank) {
    if (!at(rank).finished) port_.send_to_supervisor(rank, message::Finish{at_once});
  }
}

void Coordinator::await_finished(double now) {
  // Rank 0 receives messages until all ranks have ended, because MPI_Finalize may block the sender of an
  // unreceived message forever.
  const bool all = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.finished; });
  const bool timed_out = now - last_storing_at_ > answer_timeout;
  finished_ = all || timed_out;
  if (all || !timed_out) return;
  for (int rank = 0; rank < port_.size(); ++rank) {
    if (at(rank).finished) continue;
    const std::string reason = fmt::format("did not end within {:.0f} s", now - last_storing_at_);
    report_silent(rank, reason);
    directory_.note(io::note::Retired{rank, reason});
  }
}

void Coordinator::finish_after_error() noexcept {
  try {
    if (finish_sent_at_ < 0) send_finish_to_all(/*at_once=*/true);
    at(0).finished = true;  // the supervisor of rank 0 ends with this process
    for (double now = finish_sent_at_; !finished_; now = clock_.now()) {
      while (const auto arrived = port_.next_for_coordinator()) {
        if (std::holds_alternative<message::Finished>(arrived->message)) at(arrived->rank).finished = true;
        if (std::holds_alternative<message::Storing>(arrived->message)) note_storing();
      }
      await_finished(now);
      if (!finished_) clock_.wait(1e-3);
    }
  } catch (const std::exception& e) {
    spdlog::error("the message to finish cannot be sent to the other ranks: {}", e.what());
    port_.lose_peer();
  }
}

void Coordinator::count_synced(std::vector<std::pair<std::string, bool>>& synced) {
  for (const auto& [status, expected] : synced) progress_.count(status, expected);
  synced.clear();
}

/// While trials are left, syncs the records in the background. A sync on a disk that is busy with matrices
/// takes seconds, in which no rank would get work.
void Coordinator::sync_records(double now, bool all_done) {
  if (all_done) {
    if (unsynced_.empty() && syncing_.empty()) return;
    directory_.sync();
    count_synced(syncing_);
    count_synced(unsynced_);
    return;
  }
  const bool settled = directory_.is_settled();
  if (settled) count_synced(syncing_);
  if (unsynced_.empty() || now - last_sync_ <= sync_interval) return;
  last_sync_ = now;
  if (!settled) return directory_.flush();
  directory_.begin_sync();
  std::swap(syncing_, unsynced_);
}

void Coordinator::step() {
  while (const auto arrived = port_.next_for_coordinator()) {
    Rank& sender = at(arrived->rank);
    sender.last_heard = clock_.now();
    // If a lost rank wakes up, its records are ignored, because other ranks run its trials.
    const bool is_handled = !sender.lost || std::holds_alternative<message::Finished>(arrived->message) ||
                            std::holds_alternative<message::Stop>(arrived->message);
    if (is_handled) std::visit([&](const auto& each) { handle(arrived->rank, each); }, arrived->message);
  }
  const double now = clock_.now();
  if (finish_sent_at_ >= 0) {
    await_finished(now);
    return;
  }
  check_silence(now);
  check_limits();
  recall_trials();
  const bool all_done = assigned_count() == 0 && (queue_.size() == 0 || !stopped_because_.empty());
  sync_records(now, all_done);
  if (!all_done) note_left(now);
  progress_.show([this] { return seconds_left(); });
  directory_.write_results(/*now=*/false);
  const bool all_retired =
      std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.lost; });
  if (all_retired && queue_.size() > 0 && stopped_because_.empty()) {
    stop("every rank has retired");
    lost_its_ranks_ = true;
  }
  if (all_done || all_retired) {
    progress_.finish();
    if (keeper_.refused() + keeper_.removed() > 0) {
      spdlog::info("matrix store: {} matrices were removed to make room; {} times a matrix did not fit",
                   keeper_.removed(), keeper_.refused());
    }
    send_finish_to_all(/*at_once=*/!stopped_because_.empty());
  }
}

}  // namespace gaussweep::driver
