#pragma once
/// The coordinator, on rank 0: assigns trials to ranks, writes the journal and results.h5, shows progress,
/// and stops the sweep at its limits. A sweep runs the trials of a plan. A trial is one method on one matrix.
/// The journal is a log file with one record per finished trial; results.h5 has the same records in HDF5. On
/// every rank, a supervisor receives the trials, and its child process, the worker, runs them. A rank is lost
/// if it retires, i.e. can run no more trials, or if it sends no message for too long. Other ranks then run
/// its trials.

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/plan/cost_model.hpp"
#include "driver/plan/time_left.hpp"
#include "driver/plan/trial.hpp"
#include "driver/sweep/message_port.hpp"
#include "driver/sweep/progress.hpp"
#include "driver/sweep/queue.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/sweep/store_keeper.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/stop_signals.hpp"

namespace gaussweep::driver {

/// Limits of a sweep.
struct RunLimits {
  double deadline = 0;  ///< when the sweep must stop, in seconds of the coordinator's clock; 0: no limit
  double grace = 20;    ///< seconds that running trials get after the first stop signal
  /// Maximum bytes of the matrices in the run directory.
  double store_bytes = std::numeric_limits<double>::infinity();
  QueueOrder order = QueueOrder::longest_first;
};

/// Returns the number of stop signals that this process has received, and sets `last` to the last one. Tests
/// pass another function than `stop_signals`.
using StopSignals = std::function<int(int* last)>;

/// The trials of a sweep and the ranks that run them.
struct Assignments {
  std::vector<Trial> trials;       ///< trials that the journal has no record of
  std::size_t done = 0;            ///< number of the plan's trials that already have a record
  std::vector<std::string> hosts;  ///< host name per rank
  RunLimits limits;
  bool shows_progress = true;
  /// Status of each of the `done` trials that did not end as the plan expects.
  std::vector<std::string> unexpected = {};
};

/// The sweep's scheduler on rank 0. Rank 0 calls `step` in a loop.
class Coordinator {
 public:
  Coordinator(MessagePort& port, RunDirectory& directory, const Registry& registry, Assignments assignments,
              Clock clock = {}, StopSignals signals = stop_signals);
  /// Handles all messages that have arrived, checks the limits, and updates journal and progress. Does not
  /// block.
  /// @throws io::StorageError if a write to disk fails; the records synced before stay on disk
  void step();
  /// Returns true once everything is on disk and every other rank has sent `Finished` or timed out.
  bool finished() const { return finished_; }
  /// Returns why the run ended early; empty if all trials are done.
  const std::string& stopped_because() const { return stopped_because_; }
  /// Returns true if trials are left because ranks were lost.
  bool lost_its_ranks() const { return lost_its_ranks_; }
  /// Returns which ranks stopped responding, and their hosts; empty if none did.
  const std::string& silent_ranks() const { return silent_ranks_; }
  /// Sends `Finish` to every supervisor and receives their last messages, after an error of the coordinator.
  void finish_after_error() noexcept;

 private:
  /// The coordinator's knowledge of one rank.
  struct Rank {
    /// Indices of the trials assigned to the rank that have no record yet, in the order in which they run.
    std::deque<std::size_t> trials;
    double front_since = 0;           ///< when the first of `trials` became the first
    bool recalled = false;            ///< true if the rank was asked to return all but the first trial
    std::optional<std::size_t> last;  ///< index of the trial that was assigned to the rank last
    /// Set while the rank waits for trials: the digest (hash that identifies a matrix) of the matrix that its
    /// worker has in memory; "" for none.
    std::optional<std::string> waiting;
    double last_heard = 0;      ///< when the rank's last message arrived
    bool device_known = false;  ///< true once the rank has sent `DeviceSeen`
    bool lost = false;          ///< true once the rank is lost: no more trials are assigned to it
    bool finished = false;      ///< true once the rank has sent `Finished` or has timed out
  };

  /// One handler per type of message that supervisors send (the variant `ToCoordinator`).
  void handle(int rank, const message::Ready& ready) { assign(rank, ready.held_digest); }
  void handle(int rank, const message::Recorded& recorded);
  void handle(int rank, const message::Returned& returned);
  void handle(int rank, const message::Released& released);
  void handle(int rank, const message::DeviceSeen& seen);
  void handle(int rank, const message::Retired& retired);
  void handle(int rank, const message::StorageFailed& failed);
  void handle(int /*rank*/, const message::Storing& /*storing*/) { note_storing(); }
  void handle(int /*rank*/, const message::Alive& /*alive*/) {}
  void handle(int rank, const message::Stop& stop);
  void handle(int rank, const message::Finished& /*finished*/) { at(rank).finished = true; }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  bool can_assign(int rank) const;
  void assign(int rank, const std::string& held);
  /// Takes trials out of the queue: one trial, or several short ones that together take 0.2 s. Near the end
  /// of the sweep the batches become shorter. Returns an empty list if no trial fits into the time left.
  /// @param held digest of the matrix that the rank's worker has in memory
  std::vector<std::size_t> next_batch(int rank, const std::string& held);
  /// Returns how other ranks use the CPU of the rank's host.
  HostCpu host_cpu_of(int rank) const;
  /// Assigns trials to the ranks whose requests are unanswered.
  void assign_to_waiting();
  /// If some ranks are idle, asks the others to return the trials that wait behind a long one.
  void recall_trials();
  /// Appends a record to the journal. Updates the cost model and the queue, and releases the trial's stored
  /// matrices.
  void store_record(io::Record record);
  /// Returns the estimated seconds of work left in the rank's trials.
  double assigned_seconds(const Rank& rank) const;
  /// Returns the number of trials that are assigned to ranks.
  std::size_t assigned_count() const;
  bool any_waiting() const;
  /// Estimates the costs of the remaining trials again, from this run's records.
  void update_costs();
  /// Writes the received records to disk. @param all_done true if no trial is left; then waits for the disk
  void sync_records(double now, bool all_done);
  /// Adds records that are on disk now to the progress display. Clears the list.
  /// @param synced per record: its status, and true if the plan expects this status
  void count_synced(std::vector<std::pair<std::string, bool>>& synced);
  /// Stops the sweep at its time limit or after a signal. Abandons the running trials once the grace is over.
  void check_limits();
  /// Returns true if the estimate of every remaining trial exceeds the time left.
  bool nothing_fits() const;
  /// Assigns no more trials from now on. Running trials continue.
  void stop(const std::string& reason);
  /// Shortens the grace period of running trials after SIGTERM, so that they end before mpirun sends SIGKILL.
  void shorten_grace();
  /// Puts all trials of a rank back into the queue.
  void requeue_all(Rank& rank);
  /// Puts one trial back into the queue.
  void requeue(std::size_t trial);
  /// Marks a rank as lost and puts its trials back into the queue. A trial is not run again if `max_losses`
  /// (2) ranks were lost while they ran it.
  void lose(int rank, const std::string& reason);
  /// Marks an unresponsive rank as lost and stops waiting for its `Finished`.
  void lose_silent(int rank, double seconds);
  /// Marks every rank as lost that was silent for longer than its trial's timeout plus a margin.
  void check_silence(double now);
  /// Tells all ranks to end. @param at_once true: the ranks do not store their remaining matrices
  void send_finish_to_all(bool at_once);
  /// Records that a rank still stores matrices, so that the coordinator keeps waiting for it.
  void note_storing();
  /// Reports a rank that stopped responding.
  void report_silent(int rank, const std::string& reason);
  /// Sets `finished_` once all ranks have sent `Finished`, or once no rank has sent `Storing` for
  /// `answer_timeout` seconds.
  void await_finished(double now);
  /// Returns the estimated time left, or nothing if it is unknown.
  std::optional<TimeRange> seconds_left();
  /// Notes the estimated time left in the journal, for `gaussweep status`.
  void note_left(double now);

  MessagePort& port_;
  RunDirectory& directory_;
  std::vector<Trial> trials_;
  std::unordered_map<std::string, std::size_t> index_;  ///< trial key → index into `trials_`
  /// The other ranks on each rank's host. The lists are filled only if some trials run on the CPU and others
  /// do not. Otherwise no rank can choose between CPU and GPU trials.
  std::vector<std::vector<int>> host_peers_;
  std::vector<std::string> hosts_;  ///< host name per rank
  CostModel model_;                 ///< estimates the seconds of a trial from earlier records
  std::vector<double> costs_;       ///< estimated seconds per trial
  TimeLeft time_left_;
  std::optional<TimeRange> left_estimate_;  ///< the last estimate of the time left
  double next_estimate_ = 0;                ///< when `left_estimate_` is computed again
  bool noted_left_ = false;                 ///< true if the journal's last note of the time left has a value
  double next_note_ = 0;                    ///< when the time left is noted in the journal again
  Queue queue_;
  StoreKeeper keeper_;  ///< limits the size of the matrix store
  RunLimits limits_;
  Clock clock_;
  StopSignals signals_;
  Progress progress_;
  std::vector<Rank> ranks_;
  double last_step_ = -1;                       ///< time of the last `step`; negative before the first
  std::map<std::size_t, int> losses_of_trial_;  ///< trial → number of ranks that were lost while they ran it
  /// Status of each record that is not on disk yet, and true if the plan expects this status. The running
  /// sync writes the records in `syncing_`; the next one writes those in `unsynced_`.
  std::vector<std::pair<std::string, bool>> unsynced_, syncing_;
  double last_sync_ = 0;  ///< when records were last flushed or synced
  /// True if records or `DeviceSeen` messages arrived after the last cost estimate.
  bool costs_are_stale_ = false;
  std::size_t record_count_ = 0;  ///< records received in this run
  std::size_t estimate_at_ = 16;  ///< the value of `record_count_` at which costs are estimated again
  double stopping_since_ = 0;     ///< when `stop` was called
  double abandoned_at_ = -1;      ///< when `Abandon` was sent; negative if it was not
  std::string stopped_because_;
  bool lost_its_ranks_ = false;
  std::string silent_ranks_;
  double finish_sent_at_ = -1;  ///< when `Finish` was sent to all ranks; negative before
  /// When a rank last reported that it still stores matrices; initially `finish_sent_at_`.
  double last_storing_at_ = 0;
  bool storing_ = false;   ///< true once a rank has reported that it still stores matrices
  bool finished_ = false;  ///< see `finished()`
};

}  // namespace gaussweep::driver
