#pragma once
/// One a rank: asks the coordinator for trials, hands them to its worker and watches it. A worker that
/// crashes, hangs or is to be abandoned is ended for sure and replaced by a fresh one.
///
/// While the worker does a trial the next one is here. Where trials are short it lies with the worker, which
/// so waits for no message. The worker does them in order and says the end of each: what ends it is the first
/// that it has not answered. What the worker was not given yet can be asked back.
///
/// Every worker's first act is a probe whose result is known. A trial that ended its worker twice is recorded
/// only once a fresh worker has shown that the device still works. Where none can start, the rank retires and
/// hands the trial back, for it may be innocent. A device that others fill or have to themselves is waited
/// for, a minute.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "driver/sweep/post.hpp"
#include "driver/sweep/worker_process.hpp"
#include "driver/system/clock.hpp"
#include "io/records/record.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {

class Supervisor {
 public:
  Supervisor(Post& post, WorkerSpec spec, const Registry& registry, StartWorker start = start_worker_process,
             Clock clock = {});
  /// Does what can be done now. Waits for the worker at most `wait_ms`. What fails here goes to the
  /// coordinator in words; only a broken link to it throws.
  void step(int wait_ms);
  /// True once the coordinator said that there is no more.
  bool finished() const { return state_ == State::finished; }

 private:
  void do_step(int wait_ms);
  void tell(const ToCoordinator& message);
  void take(const message::Batch& batch);
  void take(const message::Return& give_back);
  void take(const message::Abandon& abandon);
  void take(const message::Finish& finish);
  void hear(const message::At& at);
  void hear(const message::Hello& hello);
  void hear(message::Done done);
  void hear(const message::Closed& closed);
  void hear(const message::Unfit& unfit);
  void hear(const message::StorageFailed& failed);
  void start_worker();
  void worker_could_not_start(const std::string& cause);
  void device_is_busy(const std::string& cause);
  void worker_is_gone(io::Status status, const std::string& cause);
  void trial_ended_worker(io::Record record);
  void listen(int wait_ms);
  void hear_the_end();
  io::Record blank() const;
  double forgive_standstill();
  void watch_time();
  void report(const io::Record& record);
  /// Asks for trials where it is time to.
  void ask();
  void send_trials();
  /// The first of the trials begins now.
  void note_begin();
  /// Trials that differ in their round have workers that differ.
  void renew_worker();
  /// What was handed to this rank is another's now, or nobody's.
  void drop_trials();
  void retire(const std::string& reason);
  void end_worker();
  /// What there is of a worker, and what comes of it. `transitions` in supervisor.cpp says what may follow.
  enum class State {
    waiting,      ///< there is none; `start_again_at_` says when the next one starts, if any does
    starting,     ///< its device is not known to work yet
    working,      ///< it can be given trials
    renewing,     ///< it stores what is left and ends; a fresh one follows
    leaving,      ///< likewise, but the rank's last step follows
    out_of_work,  ///< retired, or the medium failed: the rank waits for `finish`
    finished
  };
  struct Transition {
    State from, to;
  };
  static const Transition transitions[];
  /// @throws std::logic_error where `transitions` does not have it
  void enter(State next);
  bool is_closing() const { return state_ == State::renewing || state_ == State::leaving; }
  /// Has the worker store the rest and end (`renewing` or `leaving`); nothing more is sent to it.
  void close_worker(State then);
  /// After that, or where it cannot be waited for any longer: this rank leaves, or a fresh worker starts.
  void after_close();
  /// The rank's last step: the worker ended, and goodbye.
  void leave();

  Post& post_;
  WorkerSpec spec_;
  const Registry& registry_;
  StartWorker start_;
  Clock clock_;
  std::unique_ptr<WorkerProcess> worker_;
  /// As the first worker said it: the peaks in it are given to the later ones.
  std::optional<io::DeviceRow> device_;
  State state_ = State::waiting;
  std::int64_t worker_round_ = 0;  ///< of the trials that the worker was given; 0: none yet
  double step_started_ = 0;        ///< of the worker's start
  int failed_starts_ = 0;          ///< in a row
  double last_told_ = -1;          ///< when the coordinator was last sent a message
  double last_look_ = -1;          ///< at the clock; negative: there was none
  double busy_since_ = -1;         ///< since when starts found the device in use; negative: they did not
  double start_again_at_ = -1;     ///< after a failed start; negative: none is due
  std::string step_;               ///< the last step that the worker named
  int steps_ = 0;                  ///< named since its start, the trial's begin or the order to close
  struct Task {
    Trial trial;
    bool is_short;  ///< it came with others
  };
  std::deque<Task> tasks_;  ///< to be done, and recorded, in this order
  std::size_t sent_ = 0;    ///< so many of them were sent to the worker, which does the first
  bool asked_ = false;      ///< for more
  std::size_t ask_at_ = 0;  ///< so few of them are left when more are asked for
  double begin_ = 0;        ///< of the first of them, by the clock
  std::string began_;       ///< and by the time of day
  int ends_ = 0;            ///< workers that the first has ended
  std::string first_cause_;
  io::Record last_end_;  ///< how it ended the last one: its record, once the device is known to work
  std::string held_;
  std::vector<std::string> writing_;  ///< what the worker has yet to store, by its last record
};

}  // namespace gaussweep::driver
