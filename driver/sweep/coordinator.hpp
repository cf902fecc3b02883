#pragma once
/// The coordinator, on rank 0: assigns trials to ranks, writes the journal and results.h5, shows progress,
/// and stops the sweep at its limits.

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
#include "driver/sweep/post.hpp"
#include "driver/sweep/progress.hpp"
#include "driver/sweep/queue.hpp"
#include "driver/sweep/run_directory.hpp"
#include "driver/sweep/store_keeper.hpp"
#include "driver/system/clock.hpp"
#include "driver/system/stop_signals.hpp"

namespace gaussweep::driver {

struct RunLimits {
  double deadline = 0;  ///< on the coordinator's clock; 0: none
  double grace = 20;    ///< seconds that running trials get after the first signal
  double store_bytes = std::numeric_limits<double>::infinity();  ///< in the run directory's matrices
  QueueOrder order = QueueOrder::longest_first;
};

/// How many signals to stop have arrived, and the newest's number, as `stop_signals` says it.
using StopSignals = std::function<int(int* last)>;

/// What there is to do.
struct Assignments {
  std::vector<Trial> trials;       ///< now; nothing that is recorded already
  std::size_t done = 0;            ///< so many trials of the plan are recorded already
  std::vector<std::string> hosts;  ///< of the ranks, by their names
  RunLimits limits;
};

class Coordinator {
 public:
  Coordinator(Post& post, RunDirectory& directory, const Registry& registry, Assignments assignments,
              Clock clock = {}, StopSignals signals = stop_signals);
  /// Does everything that can be done without waiting.
  /// @throws io::StorageError if the medium fails; records that were synced are safe
  void step();
  /// True once everything is on disk and every other rank has left or is not waited for any longer.
  bool finished() const { return finished_; }
  /// The reason for a run that ended before everything was done; empty if everything was done.
  const std::string& stopped_because() const { return stopped_because_; }
  /// True if trials are left because ranks retired or fell silent, not because of a signal or a limit.
  bool lost_its_ranks() const { return lost_its_ranks_; }
  /// Tells every supervisor to end and receives their last messages, after an error of the coordinator.
  void give_up() noexcept;

 private:
  /// One rank, as the coordinator knows it.
  struct Rank {
    std::deque<std::size_t> trials;      ///< trials that the rank has and has not recorded, in its order
    double since = 0;                    ///< when the first of them became the first
    bool asked_back = false;             ///< true if the rank was asked to return those behind the first
    std::optional<std::size_t> last;     ///< the trial that the rank was given last
    std::optional<std::string> waiting;  ///< set while the rank waits for trials: the matrix that it holds
    double heard = 0;                    ///< when its last message arrived
    bool greeted = false;                ///< true once its device is known
    bool gone = false;                   ///< true once it retired or fell silent: it gets no more trials
    bool left = false;                   ///< true once it said goodbye or is not waited for
  };

  void take(int rank, const message::Ready& ready);
  void take(int rank, const message::Recorded& recorded);
  void take(int rank, const message::Returned& returned);
  void take(int rank, const message::Released& released);
  void take(int rank, const message::DeviceSeen& seen);
  void take(int rank, const message::Retired& retired);
  void take(int rank, const message::StorageFailed& failed);
  void take(int rank, const message::Storing& storing);
  void take(int rank, const message::Alive& alive);
  void take(int rank, const message::Stop& stop);
  void take(int rank, const message::Finished& bye);
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  bool is_time_for(int rank) const;
  void give(int rank, const std::string& held);
  /// Takes trials out of the queue: one, or several short ones that together keep a rank busy for
  /// `batch_seconds`. Takes one only while other ranks have nothing to do. Empty if nothing fits into the
  /// time left.
  std::vector<std::size_t> next_batch(int rank, const std::string& held);
  /// Returns whether the CPU of the rank's host is its own, free, or taken by a trial of another rank.
  HostCpu cpu_of(int rank) const;
  /// Gives trials to the ranks that asked and got nothing.
  void give_to_waiting();
  /// Asks ranks for the trials behind a long one if other ranks have nothing to do.
  void ask_back();
  void keep(io::Record record);
  /// Returns the estimated seconds of work left in a rank's trials.
  double in_hand(const Rank& rank) const;
  std::size_t running() const;
  bool any_running() const;
  bool any_waiting() const;
  /// Estimates the costs of the trials that are left from this run's records.
  void estimate_anew();
  void make_safe(double now, bool nothing_more);
  void count(std::vector<std::pair<std::string, bool>>& safe);
  void watch_limits();
  /// Returns true if time is left, but not enough for any trial, as far as can be known.
  bool nothing_fits() const;
  void stop(const std::string& reason);
  /// Shortens the grace of running trials after SIGTERM to what mpirun leaves its ranks.
  void heed_launcher();
  void take_back(Rank& rank);
  void put_back(std::size_t trial);
  /// Gives the trials of a rank to others, except one that `most_retirements` ranks had when they were lost.
  void lose(int rank, const std::string& reason);
  /// Loses a rank that does not answer and stops waiting for its goodbye.
  void lose_silent(int rank, double seconds);
  /// Loses every rank that was silent for longer than its trial may take, plus a margin.
  void watch_silence(double now);
  void forget_abandoned(double now);
  void tell_all_to_finish(bool at_once);
  void heard_storing();
  void await_goodbyes(double now);
  std::optional<TimeRange> seconds_left();
  /// Notes the estimated time left in the journal, for `status`.
  void note_left(double now);

  Post& post_;
  RunDirectory& directory_;
  std::vector<Trial> trials_;
  std::unordered_map<std::string, std::size_t> index_;
  /// The other ranks of each rank's host; empty if all trials run on the CPU or none does.
  std::vector<std::vector<int>> beside_;
  CostModel model_;
  std::vector<double> costs_;
  TimeLeft time_left_;
  std::optional<TimeRange> told_left_;  ///< the last estimate of the time left
  double next_tell_ = 0;                ///< when the time left is estimated again
  bool noted_left_ = false;             ///< true if the journal's last note of the time left has a value
  double next_note_ = 0;                ///< when the time left is noted again
  Queue queue_;
  StoreKeeper keeper_;
  RunLimits limits_;
  Clock clock_;
  StopSignals signals_;
  Progress progress_;
  std::vector<Rank> ranks_;
  double last_step_ = -1;                 ///< time of the last step; negative before the first
  std::map<std::size_t, int> lost_with_;  ///< trial → number of ranks that were lost while they ran it
  /// Status and expectedness of records that are not on disk yet, and of those that a sync is writing.
  std::vector<std::pair<std::string, bool>> unsynced_, syncing_;
  double last_sync_ = 0;
  bool learned_since_ = false;    ///< true if records arrived since the costs were estimated
  std::size_t kept_ = 0;          ///< records of this run
  std::size_t estimate_at_ = 16;  ///< the number of records at which costs are estimated again
  double stopping_since_ = 0;
  double abandoned_at_ = -1;  ///< when running trials were abandoned; negative if they were not
  std::string stopped_because_;
  bool lost_its_ranks_ = false;
  double told_at_ = -1;  ///< when all ranks were told to finish; negative before
  double heard_at_ = 0;  ///< `told_at_`, or when a rank last reported that it still stores matrices
  bool storing_ = false;
  bool finished_ = false;
};

}  // namespace gaussweep::driver
