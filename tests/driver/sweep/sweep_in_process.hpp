#pragma once
/// A whole sweep in one process, without MPI, worker processes or waiting. It has a coordinator, a supervisor
/// per rank, scripted workers, and a clock that advances whenever it is read.

#include "driver/sweep/coordinator.hpp"
#include "driver/sweep/supervisor.hpp"
#include "driver/system/channel.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {

/// The messages that a worker sends to its supervisor, in order, as JSON.
using WorkerMessages = std::vector<nlohmann::json>;

/// Faults of the workers. They may depend on the rank, the start number (from 1) or the trial. An empty
/// function means no fault.
struct WorkerScript {
  std::function<bool(int rank, int start)> sends_hello;  ///< false: the worker never sends hello
  /// Messages of the worker for a trial. If there are none, the worker hangs.
  std::function<WorkerMessages(int rank, const Trial& trial)> answers;
  std::function<bool(int rank, const Trial& trial)> dies;  ///< true: dies by SIGSEGV instead of an answer
  std::function<std::optional<message::WorkerFailed>(int rank, int start)> unfit;
  /// An unsolicited message, sent whenever the worker has nothing else to send.
  std::function<std::optional<FromWorker>(int rank)> unsolicited;
  /// The worker's messages after the request to store its matrices and end. If there are none, it hangs.
  std::function<std::vector<FromWorker>(int rank)> closes;
};

/// The messages of a correct worker that has finished its trial.
WorkerMessages good_answer(const Trial& trial);
/// The message of a worker whose trial runs into its timeout.
inline WorkerMessages endless_answer() {
  return {message_json(FromWorker{message::StepBegun{"loop"}})};
}
/// Reports that the device is unfit if `broken`.
inline std::optional<message::WorkerFailed> unfit_if(bool broken, const char* why = "fell off the bus",
                                                     bool may_recover = false) {
  return broken ? std::optional(message::WorkerFailed{why, may_recover}) : std::nullopt;
}

class SweepInProcess {
 public:
  explicit SweepInProcess(int ranks, int trials);
  ~SweepInProcess();

  WorkerScript script;
  RunLimits limits;
  std::vector<std::string> hosts;  ///< host names of the ranks; empty: all the same
  double store_limit = 1e12;
  std::set<std::size_t> stored;  ///< trials whose matrices may be stored
  std::function<void(int rank, const nlohmann::json& trials)> on_batch;  ///< called when a rank gets trials
  double trial_timeout = 600;
  std::int64_t n = 10;              ///< n of every trial
  Backend backend = Backend::host;  ///< backend of every trial
  /// Backends that the trials take in turn; empty: all take `backend`.
  std::vector<Backend> backends;
  /// Orders of shared matrices, which the trials take in turn; empty: each trial has its own, of order n.
  std::vector<std::int64_t> orders;
  std::vector<std::string> expect;  ///< expected statuses of every trial
  std::int64_t rounds = 1;          ///< trial i belongs to round 1 + i % rounds
  std::set<int> frozen_ranks;       ///< ranks that take no more steps, as if they hung
  int signals = 0;                  ///< number of signals that rank 0 has received
  int signal = 10;                  ///< the latest signal
  double sigkill_delay = 1e300;     ///< seconds that the launcher waits after SIGTERM

  const std::vector<Trial>& trials() const { return trials_; }
  bool is_trial(std::size_t number, const Trial& trial) const { return trial.key == trials_[number].key; }
  double now() const { return now_; }
  /// Advances the clock while no process takes a step.
  void advance_clock(double seconds) { now_ += seconds; }
  /// Steps all processes until the sweep ends. @return false if it did not end within `most_seconds` of the
  /// simulated clock
  bool run(double most_seconds = 2000, const std::function<void()>& each_step = {});
  /// Returns the record of a trial in the journal, if any.
  std::optional<io::Record> record_of(std::size_t trial) const;
  std::size_t records() const;
  /// Expects that all trials, except `but`, passed on their first attempt.
  void expect_all_passed(std::size_t but = SIZE_MAX) const;
  const Coordinator& coordinator() const { return *coordinator_; }
  bool lost_peer() const { return lost_peer_; }
  /// Returns the ranks whose worker was asked to store its remaining matrices and end.
  const std::set<int>& closed() const { return closed_; }
  /// Returns the batch sizes in order of time, over all ranks.
  const std::vector<std::size_t>& batches() const { return batches_; }
  /// Sends a message to the coordinator in the name of rank `from`.
  void send_to_coordinator(int from, const nlohmann::json& message);

 private:
  class RankMailboxes;
  class ScriptedWorker;
  struct Envelope {
    int from;
    nlohmann::json message;
  };
  TestFolder scratch_;
  Registry registry_;
  std::vector<Trial> trials_;
  std::unique_ptr<RunDirectory> directory_;
  double now_ = 1000;
  bool lost_peer_ = false;
  std::set<int> closed_;
  std::vector<std::size_t> batches_;
  std::map<std::pair<int, int>, std::vector<Envelope>> mailboxes_;  ///< by rank and mailbox
  std::vector<int> starts_;
  std::vector<std::unique_ptr<RankMailboxes>> rank_mailboxes_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Supervisor>> supervisors_;
};

}  // namespace gaussweep::driver
