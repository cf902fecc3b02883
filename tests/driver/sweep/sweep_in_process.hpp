#pragma once
/// A sweep in one process, without MPI, without workers' processes, without waiting. It has a coordinator and
/// a supervisor for each rank, workers that follow a script, a clock that steps when asked for time.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/sweep/coordinator.hpp"
#include "driver/sweep/supervisor.hpp"
#include "driver/system/channel.hpp"
#include "tests/scratch.hpp"

namespace gaussweep::driver::testing_help {

/// What a worker says.
using Words = std::vector<nlohmann::json>;

/// What goes wrong, by rank and count of starts (from 1). Each function may be empty: then all is well.
struct WorkerScript {
  std::function<bool(int rank, int start)> greets;  ///< false: it never says hello
  /// Its words after hello; none: it hangs.
  std::function<Words(int rank, const Trial& trial)> answers;
  std::function<bool(int rank, const Trial& trial)> dies;  ///< by signal 11, without an answer
  std::function<std::optional<message::Unfit>(int rank, int start)> unfit;
  /// What it says, without being asked, whenever it has nothing else to say.
  std::function<std::optional<FromWorker>(int rank)> mutters;
  /// What it says when it is told to store the rest and end; none: it hangs. Empty: it has stored all.
  std::function<std::vector<FromWorker>(int rank)> closes;
};

/// The messages of a good worker that has done its trial.
Words good_answer(const Trial& trial);

class SweepInProcess {
 public:
  explicit SweepInProcess(int ranks, int trials);
  ~SweepInProcess();

  WorkerScript script;
  RunLimits limits;
  std::vector<std::string> hosts;  ///< of the ranks; empty: the same
  double store_limit = 1e12;
  std::set<std::size_t> stored;  ///< trials whose matrices may be stored
  std::function<void(int rank, const nlohmann::json& trials)> on_batch;  ///< called when a rank gets trials
  double trial_timeout = 600;
  std::int64_t n = 10;              ///< of every trial
  Backend backend = Backend::host;  ///< likewise
  /// Trial i is for the one of these that is its turn; empty: `backend`.
  std::vector<Backend> backends;
  /// Of the trials that share a matrix, in turn; empty: each has a matrix of its own, of order n.
  std::vector<std::int64_t> orders;
  std::vector<std::string> expect;  ///< of every trial
  std::int64_t rounds = 1;          ///< trial i is of round 1 + i % rounds
  std::set<int> dead;               ///< ranks that take no step any more
  int signals = 0;                  ///< that have arrived at rank 0
  int signal = 10;                  ///< the newest
  double patience = 1e300;          ///< of the launcher

  const std::vector<Trial>& trials() const { return trials_; }
  bool is_trial(std::size_t number, const Trial& trial) const { return trial.key == trials_[number].key; }
  double now() const { return now_; }
  /// Lets time pass in which no process takes a step.
  void stand_still(double seconds) { now_ += seconds; }
  /// Steps all until the sweep ends. @return false where it had not after so many seconds of its clock
  bool run(double most_seconds = 2000, const std::function<void()>& each_step = {});
  /// The record of a trial in the journal, if there is one.
  std::optional<io::Record> record_of(std::size_t trial) const;
  std::size_t records() const;
  const Coordinator& coordinator() const { return *coordinator_; }
  bool lost_peer() const { return lost_peer_; }
  /// The ranks whose worker was told to store the rest and end.
  const std::set<int>& closed() const { return closed_; }
  /// How many trials each rank was given at once, in the order of time.
  const std::vector<std::size_t>& batches() const { return batches_; }
  /// A message to the coordinator as if rank `from` had sent it.
  void send_to_coordinator(int from, const nlohmann::json& message);

 private:
  class RankPost;
  class ScriptedWorker;
  struct Mail {
    int from;
    nlohmann::json message;
  };
  gaussweep::testing_help::Scratch scratch_;
  Registry registry_;
  std::vector<Trial> trials_;
  std::unique_ptr<RunDirectory> directory_;
  double now_ = 1000;
  bool lost_peer_ = false;
  std::set<int> closed_;
  std::vector<std::size_t> batches_;
  std::map<std::pair<int, int>, std::vector<Mail>> boxes_;  ///< by rank and mailbox
  std::vector<int> starts_;
  std::vector<std::unique_ptr<RankPost>> posts_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Supervisor>> supervisors_;
};

}  // namespace gaussweep::driver::testing_help
