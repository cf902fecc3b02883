#pragma once
/// The supervisor, on every rank: requests trials from the coordinator on rank 0, sends them to its worker
/// and watches the worker. A trial is one method on one matrix. The worker is the process that runs the
/// trials. A worker that crashes, hangs or must abandon its trial is replaced.
///
/// The next trial is requested while the worker runs the current one. A short next trial is sent before the
/// current one ends, so that the worker does not wait for a message. The worker runs trials in order and
/// reports the end of each trial. If the worker dies, the first trial without a report is considered the
/// cause. Trials that were not sent to the worker yet can be returned to the coordinator.
///
/// Every new worker first runs a probe, a computation with a known result. A trial that ended two workers is
/// recorded only once a new worker has passed the probe, which shows that the device still works. If no
/// worker can start, the rank retires, i.e. runs no more trials. It then does not record the trial, because
/// the device may be the cause. If other processes have filled or reserved the device, the start is retried
/// for a minute.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/in_flight.hpp"
#include "driver/sweep/message_port.hpp"
#include "driver/sweep/worker_process.hpp"
#include "driver/system/clock.hpp"
#include "io/records/record.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {

/// The state machine of one rank; `step` drives it.
class Supervisor {
 public:
  /// @param port carries the messages to and from the coordinator
  Supervisor(MessagePort& port, WorkerSpec spec, const Registry& registry,
             StartWorker start = start_worker_process, Clock clock = {});
  /// Handles messages and timeouts. Waits for the worker at most `wait_ms`. Reports errors to the
  /// coordinator; throws only if it cannot report.
  void step(int wait_ms);
  /// Returns true once the rank has sent `Finished`.
  bool finished() const { return state_ == State::finished; }

 private:
  /// The part of `step` that starts the worker, sends it trials and handles its messages.
  void do_step(int wait_ms);
  void send(const ToCoordinator& message);
  void handle(const message::Batch& batch);
  void handle(const message::Return& message);
  void handle(const message::Abandon& message);
  void handle(const message::Finish& finish);
  void handle(const message::StepBegun& begun);
  void handle(const message::Hello& hello);
  void handle(message::Done done);
  void handle(const message::Closed& closed);
  void handle(const message::WorkerFailed& failure);
  void handle(const message::StorageFailed& failed);
  void start_worker();
  /// Schedules the next start, or retires after too many failed ones.
  void handle_failed_start(const std::string& cause);
  /// Schedules the next start, or retires if the device has been busy for a minute.
  void handle_busy_device(const std::string& cause);
  /// Ends the worker because of `cause`. The running trial has then failed; without a running trial, the
  /// worker's start has failed.
  void handle_worker_end(io::Status status, const std::string& cause);
  /// Replaces the worker after its trial failed, and keeps the trial's record. The record is sent only if a
  /// second worker fails, too, and its replacement passes the probe.
  void handle_failed_trial(io::Record record);
  /// Handles the messages that arrive within `wait_ms`, then checks the timeouts.
  void handle_worker_messages(int wait_ms);
  /// Finds out why the worker closed its channel, and handles its end.
  void handle_channel_end();
  /// Returns a record without results for the running trial, the first one of `tasks_`.
  io::Record blank() const;
  /// Adds the time during which this process was suspended to the start times that timeouts use.
  /// @return the time of this check
  double discount_suspension();
  /// Ends the worker if its trial, or a step of its start or end, takes too long.
  void check_timeouts();
  /// Sends the first trial's record to the coordinator, and removes the trial.
  void report(const io::Record& record);
  /// Requests more trials if at most `request_at_` of the rank's trials are left.
  void request_trials();
  /// Sends trials to the worker if it can take more.
  void send_trials();
  /// Notes that the first trial of `tasks_` begins now.
  void note_start();
  /// Replaces the worker, because each round (repetition of the plan's trials) needs a new process.
  void renew_worker();
  /// Removes all trials from `tasks_`, because the coordinator takes them back.
  void drop_trials();
  /// Ends the worker, and reports to the coordinator that this rank runs no more trials.
  void retire(const std::string& reason);
  void end_worker();
  /// The state of the worker. The table `transitions` in supervisor.cpp lists the allowed changes.
  enum class State {
    no_worker,        ///< the next worker starts at `start_again_at_`, if that is set
    starting,         ///< the worker has not passed its probe yet
    working,          ///< trials can be sent
    renewing,         ///< the worker stores its matrices and ends; a new one follows
    leaving,          ///< the worker stores its matrices and ends; then the rank ends
    awaiting_finish,  ///< the rank has retired, or the storage failed; only `Finish` is awaited
    finished
  };
  struct Transition {
    State from, to;
  };
  static const Transition transitions[];
  /// Changes the state. @throws std::logic_error if `transitions` does not allow it
  void enter(State next);
  bool is_closing() const { return state_ == State::renewing || state_ == State::leaving; }
  /// Makes the worker store its matrices and end. @param then `renewing` or `leaving`
  void close_worker(State then);
  /// Ends this rank or starts a new worker, once the worker has closed or timed out after `close_worker`.
  void after_close();
  /// Ends the worker and sends `Finished`.
  void leave();

  MessagePort& port_;
  WorkerSpec spec_;
  InFlight in_flight_;  ///< the file that names the running trial
  const Registry& registry_;
  StartWorker start_;  ///< starts a worker process
  Clock clock_;
  std::unique_ptr<WorkerProcess> worker_;
  /// The device as the first worker described it. Later workers reuse its measured peak rates.
  std::optional<io::DeviceRow> device_;
  State state_ = State::no_worker;
  std::int64_t worker_round_ = 0;  ///< the round of the trials that the worker got; 0: none yet
  double step_started_ = 0;        ///< start of the current step while the worker starts or closes
  int failed_starts_ = 0;          ///< consecutive failed starts
  double last_message_at_ = -1;    ///< when the last message was sent to the coordinator
  double last_check_ = -1;         ///< time of the last `discount_suspension`; negative before the first
  double busy_since_ = -1;         ///< when a start first found the device in use; negative: not in use
  double start_again_at_ = -1;  ///< when the next worker starts after a failed start; negative: none is due
  std::string step_;            ///< the last step that the worker reported
  /// Number of steps reported since the worker started, the trial began, or `Close` was sent.
  int steps_ = 0;
  struct Task {
    Trial trial;
    bool is_short;  ///< true if the trial came in a batch of several, because all of these are short
  };
  std::deque<Task> tasks_;      ///< trials to run and record, in this order
  std::size_t sent_ = 0;        ///< number of trials sent to the worker, which runs the first
  bool requested_ = false;      ///< true while a request (`Ready`) for trials is unanswered
  std::size_t request_at_ = 0;  ///< more trials are requested when at most this many are left
  double trial_started_ = 0;    ///< start of the first trial, by the monotonic clock
  std::string start_stamp_;     ///< `trial_started_` as a time stamp
  int failed_tries_ = 0;        ///< number of workers that ended while they ran the first trial
  std::string first_cause_;     ///< the cause for the end of the first of these workers
  io::Record failure_;  ///< the first trial's record, sent if two workers have ended and the device works
  std::string held_;    ///< digest (hash) of the matrix that the worker has in memory
  /// Digests of matrices that the worker still has to store, from its last record.
  std::vector<std::string> writing_;
};

}  // namespace gaussweep::driver
