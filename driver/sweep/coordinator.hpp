#pragma once
/// Rank 0's part: hands out trials, keeps the journal and results.h5, shows progress, stops in time.

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
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
  /// Does what can be done now. @throws io::StorageError: the medium failed; what was synced is safe
  void step();
  /// True once everything is on disk and every other rank has said goodbye, or is not waited for any longer.
  bool finished() const { return finished_; }
  /// Why the run ended before everything was done; empty where it did not.
  const std::string& stopped_because() const { return stopped_because_; }
  /// Whether trials were left because ranks retired, not because of a signal or a limit.
  bool lost_its_ranks() const { return lost_its_ranks_; }
  /// After an error of the coordinator's own: tells every supervisor to end and hears them out.
  void give_up() noexcept;

 private:
  void take(int rank, const message::Ready& ready);
  void take(int rank, const message::Recorded& recorded);
  void take(int rank, const message::Returned& returned);
  void take(int rank, const message::GivenBack& given_back);
  void take(int rank, const message::DeviceSeen& seen);
  void take(int rank, const message::Retired& retired);
  void take(int rank, const message::StorageFailed& failed);
  void take(int rank, const message::Storing& storing);
  void take(int rank, const message::Stop& stop);
  void take(int rank, const message::Bye& bye);
  bool is_time_for(int rank) const;
  void give(int rank, const std::string& held);
  /// Takes trials out of the queue: one, or as many short ones as keep a rank busy for a while. Does not take
  /// several while others have nothing to do. Empty where there is none, or none fits into the time left.
  std::vector<std::size_t> next_batch(int rank, const std::string& held);
  /// Whether a rank shares its host, and whether another one there has a trial on the CPU in hands.
  HostCpu cpu_of(int rank) const;
  /// Asks again for the ranks that got nothing.
  void give_to_waiting();
  /// Asks for what lies behind a long trial, where another rank has nothing to do.
  void ask_back();
  void keep(io::Record record);
  /// Seconds of the trials that a rank has in hands.
  double in_hand(int rank) const;
  std::size_t running() const;
  /// Prices what is left by what was learned in this run.
  void estimate_anew();
  void make_safe(double now, bool nothing_more);
  void count(std::vector<std::pair<std::string, bool>>& safe);
  void watch_limits();
  /// Whether there is time left, but not enough for any trial, as far as can be known.
  bool nothing_fits() const;
  void stop(const std::string& reason);
  /// After SIGTERM: running trials get no more grace than mpirun leaves its ranks.
  void heed_launcher();
  void take_back(int rank);
  void put_back(std::size_t trial);
  void forget_the_silent(double now);
  void tell_all_to_finish(bool at_once);
  void heard_storing();
  void await_goodbyes(double now);
  std::optional<TimeRange> seconds_left();
  /// For `status`: what is left, into the journal.
  void note_left(double now);

  Post& post_;
  RunDirectory& directory_;
  std::vector<Trial> trials_;
  std::unordered_map<std::string, std::size_t> index_;
  /// The other ranks of each rank's host; none where it makes no difference: all trials are on the CPU, or
  /// none is.
  std::vector<std::vector<int>> beside_;
  CostModel model_;
  std::vector<double> costs_;
  TimeLeft time_left_;
  std::optional<TimeRange> told_left_;  ///< what was said last of the time left
  double next_tell_ = 0;                ///< when that is estimated anew
  bool noted_left_ = false;             ///< the journal's last note of it knows it
  double next_note_ = 0;                ///< when it is noted anew
  Queue queue_;
  StoreKeeper keeper_;
  RunLimits limits_;
  Clock clock_;
  StopSignals signals_;
  Progress progress_;
  struct Hand {
    std::deque<std::size_t> trials;  ///< never empty; the rank does them in this order
    double since;                    ///< the first of them is the first
    bool asked_back = false;         ///< for those behind it
  };
  std::map<int, Hand> running_;         ///< by rank
  std::map<int, std::size_t> last_;     ///< what each rank was given last
  std::map<int, std::string> waiting_;  ///< ranks that asked and got nothing yet, with the matrix they hold
  std::set<int> greeted_;               ///< their worker's device is known
  std::set<int> gone_;                  ///< retired, or silent: they get no more trials
  std::set<int> left_;                  ///< said goodbye
  std::map<std::size_t, int> retired_with_;  ///< trial → ranks that retired while they had it
  /// Statuses, and whether they are as expected, of records that are not on disk yet, and of those that are
  /// on their way there.
  std::vector<std::pair<std::string, bool>> unsynced_, syncing_;
  double last_sync_ = 0;
  bool learned_since_ = false;    ///< since the costs were estimated
  std::size_t kept_ = 0;          ///< records of this run
  std::size_t estimate_at_ = 16;  ///< so many, costs are estimated anew
  double stopping_since_ = 0;
  double abandoned_at_ = -1;  ///< negative: running trials were not abandoned
  std::string stopped_because_;
  bool lost_its_ranks_ = false;
  double told_at_ = -1;  ///< when everybody was told to finish; negative: not yet
  double heard_at_ = 0;  ///< when that was, or a rank last said that it still stores matrices
  bool storing_ = false;
  bool finished_ = false;
};

}  // namespace gaussweep::driver
