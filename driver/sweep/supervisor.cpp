/// The supervisor, on every rank: requests trials from the coordinator on rank 0, sends them to its worker
/// process and watches the worker. A worker that crashes, hangs or must abandon its trial is killed and
/// replaced. A trial is one method on one matrix.

#include "driver/sweep/supervisor.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <spdlog/spdlog.h>
#include <stdexcept>
#include <utility>

#include "driver/protocol/trial_record.hpp"
#include "driver/system/clock.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t max_sent = 2;   // trials at the worker: the running trial and a short next one
constexpr int max_tries = 2;          // a trial that ended this number of workers is recorded as failed
constexpr int max_failed_starts = 3;  // the rank retires after this number of consecutive failed starts
/// Seconds to wait before the next start, by the number of failed starts, because a GPU may be resetting.
constexpr double pauses[max_failed_starts] = {0, 1, 3};
constexpr double busy_timeout = 60;   // seconds to wait for a GPU that others use
constexpr double longest_pause = 15;  // maximum seconds between two starts on a busy GPU
constexpr double alive_interval = 5;  // seconds between `Alive` messages to the coordinator
// Limit on the bytes of unreceived messages to the coordinator. Above it the worker gets no further trial.
constexpr std::size_t max_unsent_bytes = std::size_t{64} << 20;
// Timeouts in seconds per step of a worker's start. The first start may have to load the driver, read
// libraries, and compile kernels for this GPU.
constexpr double first_start_timeout = 300, start_timeout = 120;
// Limits on a worker's messages. A worker may be another build, or its memory damaged, and send too many.
constexpr int max_messages = 16;    // messages per step; timeouts and the coordinator are served in between
constexpr int max_start_steps = 8;  // steps of a start that restart its timeout; a correct worker has four
// Steps that a worker may report per start, trial or end. While it stores matrices, it reports one per
// second.
constexpr int max_steps = 10'000;
constexpr std::size_t max_cause_bytes = 500;  // maximum length of a text that quotes the worker

/// Adds the reason why the first try ended its worker to the record of the second try.
io::Record with_first_failure(io::Record record, const std::string& cause) {
  const std::string note = "second try; the first ended its worker: " + cause;
  record.message = record.message.empty() ? note : record.message + "; " + note;
  return record;
}

}  // namespace

const Supervisor::Transition Supervisor::transitions[] = {
    {State::no_worker, State::starting},         // the pause is over
    {State::no_worker, State::awaiting_finish},  // too many starts failed, or the storage failed
    {State::no_worker, State::finished},        {State::starting, State::working},  // the worker sent `Hello`
    {State::starting, State::no_worker},                                            // the worker ended
    {State::working, State::no_worker},         {State::working, State::renewing},
    {State::working, State::leaving},           {State::renewing, State::no_worker},
    {State::renewing, State::leaving},          {State::leaving, State::no_worker},
    {State::awaiting_finish, State::finished},
};

void Supervisor::enter(State next) {
  const bool allowed = std::any_of(std::begin(transitions), std::end(transitions),
                                   [&](const Transition& t) { return t.from == state_ && t.to == next; });
  if (!allowed)
    throw std::logic_error(
        fmt::format("no transition from state {} to {}", static_cast<int>(state_), static_cast<int>(next)));
  state_ = next;
}

Supervisor::Supervisor(MessagePort& port, WorkerSpec spec, const Registry& registry, StartWorker start,
                       Clock clock)
    : port_(port),
      spec_(std::move(spec)),
      in_flight_(spec_.directory, spec_.origin),
      registry_(registry),
      start_(std::move(start)),
      clock_(std::move(clock)) {
  if (!spec_.cannot_run_because.empty()) {
    retire(spec_.cannot_run_because);
  } else {
    request_trials();
    start_again_at_ = 0;  // the first `step` starts the worker
  }
}

void Supervisor::send(const ToCoordinator& message) {
  port_.send_to_coordinator(message);
  last_message_at_ = clock_.now();
}

void Supervisor::request_trials() {
  if (requested_ || tasks_.size() > request_at_) return;
  requested_ = true;
  send(message::Ready{tasks_.empty() ? held_ : tasks_.back().trial.matrix.digest});
}

void Supervisor::report(const io::Record& record) {
  send(message::Recorded{record, writing_});
  in_flight_.end();
  tasks_.pop_front();
  failed_tries_ = 0;
  first_cause_.clear();
  if (sent_ > 0 && --sent_ > 0) note_start();  // the worker already runs the next trial
  request_trials();
}

void Supervisor::note_start() {
  step_ = "start";
  steps_ = 0;
  trial_started_ = clock_.now();
  start_stamp_ = time_stamp();
}

void Supervisor::drop_trials() {
  in_flight_.end();
  tasks_.clear();
  sent_ = 0;
  failed_tries_ = 0;
  first_cause_.clear();
}

io::Record Supervisor::blank() const {
  const Trial& trial = tasks_.front().trial;
  io::Record record = blank_record(trial, registry_.find(trial.problem, trial.method), spec_.origin);
  if (trial.backend == Backend::cuda) {
    record.gpu_uuid = spec_.gpu_uuid;
    record.gpu_name = device_->gpu_name;  // `Hello` has set `device_`, and trials are sent only afterwards
    record.capability = device_->capability;
    record.device_index = spec_.origin.device_index;
  }
  return record;
}

void Supervisor::start_worker() {
  start_again_at_ = -1;
  worker_round_ = 0;
  sent_ = 0;
  steps_ = 0;
  step_ = "start-up";
  step_started_ = clock_.now();
  try {
    worker_ = start_(spec_);
    enter(State::starting);
    worker_->send(message::Setup{spec_.backend, spec_.directory + "/matrices", spec_.origin, device_,
                                 spec_.libraries, spec_.gpus});
  } catch (const ChannelClosed&) {
    // The worker ended immediately; the next step handles the closed channel.
  } catch (const io::StorageError&) {
    throw;
  } catch (const std::exception& e) {
    handle_failed_start(e.what());
  }
}

void Supervisor::end_worker() {
  const bool during_trial = sent_ > 0;
  const std::unique_ptr<WorkerProcess> ending = std::move(worker_);
  if (ending && !ending->kill())
    spdlog::error("rank {}: the worker cannot be ended: it is stuck in the kernel", spec_.origin.rank);
  if (ending) enter(State::no_worker);
  sent_ = 0;
  if (ending && (during_trial || !writing_.empty()))
    io::remove_temporaries_of(ending->pid(), spec_.directory + "/matrices");
  if (!writing_.empty()) {
    spdlog::warn("rank {}: its worker ended before it stored {}; {} made again where needed",
                 spec_.origin.rank,
                 writing_.size() == 1 ? "a matrix" : fmt::format("{} matrices", writing_.size()),
                 writing_.size() == 1 ? "it is" : "they are");
  }
  writing_.clear();
}

void Supervisor::close_worker(State then) {
  enter(then);
  steps_ = 0;
  step_ = "store";
  step_started_ = clock_.now();
  try {
    worker_->send(message::Close{});
  } catch (const ChannelClosed&) {
    // `handle_worker_messages` handles the closed channel.
  }
}

void Supervisor::after_close() {
  if (state_ == State::leaving) return leave();
  end_worker();
  start_worker();
}

void Supervisor::leave() {
  end_worker();
  enter(State::finished);
  send(message::Finished{});
}

void Supervisor::retire(const std::string& reason) {
  end_worker();
  drop_trials();
  enter(State::awaiting_finish);
  send(message::Retired{reason});
}

void Supervisor::handle_failed_start(const std::string& cause) {
  end_worker();
  if (++failed_starts_ >= max_failed_starts) {
    retire(fmt::format("{} workers in a row could not start: {} (at {})", failed_starts_, cause, step_));
  } else {
    start_again_at_ = clock_.now() + pauses[failed_starts_];
  }
}

void Supervisor::handle_busy_device(const std::string& cause) {
  end_worker();
  const double now = clock_.now();
  if (busy_since_ < 0) {
    busy_since_ = now;
    spdlog::warn("rank {}: the device is in use or not ready; retrying for {:g} s: {} (at {})",
                 spec_.origin.rank, busy_timeout, cause, step_);
  }
  const double waited = now - busy_since_;
  if (waited >= busy_timeout) {
    retire(fmt::format("no worker could start for {:.0f} s: {} (at {})", waited, cause, step_));
  } else {
    start_again_at_ = now + std::clamp(waited / 2, 1.0, longest_pause);
  }
}

void Supervisor::handle_failed_trial(io::Record record) {
  end_worker();
  held_.clear();
  ++failed_tries_;
  spdlog::warn("rank {}: {}: {} {}", spec_.origin.rank, describe(tasks_.front().trial), record.status,
               record.message);
  if (failed_tries_ == 1) first_cause_ = record.message;
  if (failed_tries_ > 1) record.message += fmt::format("; tried {} times", failed_tries_);
  failure_ = std::move(record);
  start_worker();
}

void Supervisor::handle_worker_end(io::Status status, const std::string& cause) {
  if (sent_ > 0) {
    // The worker notes its step in shared memory, which outlives it.
    const std::string noted_step = worker_ ? worker_->step() : std::string();
    if (!noted_step.empty()) step_ = noted_step;
    io::Record record = blank();
    record.start_time = start_stamp_;
    record.end_time = fine_time_stamp();
    record.status = name_of(status);
    record.message = fmt::format("{} (at {})", cause, step_);
    handle_failed_trial(std::move(record));
  } else {
    handle_failed_start(cause);
  }
}

void Supervisor::handle(const message::StepBegun& begun) {
  if (++steps_ > max_steps) throw BadMessage(fmt::format("it has reported more than {} steps", max_steps));
  step_ = begun.step.substr(0, max_cause_bytes);
  if (is_closing() || (state_ == State::starting && steps_ <= max_start_steps)) step_started_ = clock_.now();
  if (state_ == State::leaving) send(message::Storing{});
}

void Supervisor::handle(const message::Closed& /*closed*/) {
  if (!is_closing()) throw BadMessage("the worker sent 'closed' without an order to close");
  writing_.clear();
  after_close();
}

void Supervisor::handle(const message::Hello& hello) {
  failed_starts_ = 0;
  busy_since_ = -1;
  enter(State::working);
  if (!device_) {
    device_ = hello.device;
    send(message::DeviceSeen{hello.device});
  }
  if (failed_tries_ >= max_tries) report(failure_);  // the device works, so the trial is the cause
}

void Supervisor::handle(const message::WorkerFailed& failure) {
  if (is_closing()) return after_close();
  // If a trial runs, the failure is the trial's; otherwise the start failed.
  if (sent_ > 0 || !failure.busy) {
    handle_worker_end(io::Status::crashed, failure.message);
  } else {
    handle_busy_device(failure.message);
  }
}

void Supervisor::handle(const message::StorageFailed& failed) {
  throw io::StorageError(failed.message);
}

void Supervisor::handle(message::Done done) {
  using message::WorkerEnd;
  if (sent_ == 0) throw BadMessage("a record came without a trial");
  if (done.record.key != tasks_.front().trial.key) {
    throw BadMessage(fmt::format("the record of another trial came, {}/{} n={}", done.record.problem,
                                 done.record.method, done.record.n));
  }
  writing_ = std::move(done.writing);
  // The library may have printed the reason.
  if (done.record.status == io::Status::error && !done.record.library.empty())
    done.record.message += fmt::format("; its output: logs/worker-{}.log", spec_.origin.rank);
  if (done.end == WorkerEnd::fatal) return handle_failed_trial(std::move(done.record));
  held_ = done.end == WorkerEnd::none ? tasks_.front().trial.matrix.digest : std::string();
  report(failed_tries_ == 0 ? done.record : with_first_failure(done.record, first_cause_));
  if (done.end == WorkerEnd::none) return send_trials();
  end_worker();
  start_worker();
}

void Supervisor::handle(const message::Batch& batch) {
  // This rank has reported its end. The coordinator assigns the batch to other ranks or ends the run.
  if (state_ == State::awaiting_finish) return;
  for (const Trial& trial : batch.trials) tasks_.push_back({trial, batch.trials.size() > 1});
  requested_ = false;
  // The minimum of 1 makes the rank request its next trial while the last one runs. The coordinator delays
  // its answer if another rank can run the next trial sooner.
  request_at_ = std::max<std::size_t>(1, batch.trials.size() / 2);
  request_trials();
}

void Supervisor::handle(const message::Return& /*message*/) {
  if (state_ == State::awaiting_finish) return;
  message::Returned returned;
  while (tasks_.size() > sent_) {
    // If the only trial left has ended a worker and is tried again, it stays on this rank.
    if (sent_ == 0 && failed_tries_ > 0 && tasks_.size() == 1) break;
    returned.keys.push_back(tasks_.back().trial.key);
    tasks_.pop_back();
  }
  send(returned);
  request_trials();
}

void Supervisor::renew_worker() {
  held_.clear();
  if (!writing_.empty()) return close_worker(State::renewing);
  end_worker();
  start_worker();
}

void Supervisor::handle(const message::Abandon& /*message*/) {
  end_worker();
  drop_trials();
  requested_ = true;  // `Released` below also counts as a request for trials
  start_again_at_ = -1;
  send(message::Released{});
}

void Supervisor::handle(const message::Finish& finish) {
  if (state_ == State::leaving && !finish.at_once) return;
  const bool idle = (state_ == State::working || state_ == State::renewing) && sent_ == 0;
  if (finish.at_once || !idle || writing_.empty()) return leave();
  close_worker(State::leaving);
}

void Supervisor::check_timeouts() {
  const double now = discount_suspension();  // again, because `handle_worker_messages` has just waited
  if (sent_ > 0 && now - trial_started_ > tasks_.front().trial.timeout_seconds) {
    handle_worker_end(io::Status::timeout,
                      fmt::format("no end after {:g} s", tasks_.front().trial.timeout_seconds));
    return;
  }
  const double limit = !device_ ? first_start_timeout : start_timeout;
  if (is_closing() && now - step_started_ > limit) return after_close();
  if (state_ == State::starting && now - step_started_ > limit)
    handle_worker_end(io::Status::crashed, fmt::format("no sign of life within {:g} s", limit));
}

void Supervisor::handle_channel_end() {
  if (is_closing()) return after_close();
  // All messages are read. The worker should exit now; otherwise `handle_worker_end` kills it.
  Ending how;
  const double deadline = clock_.now() + 1;
  bool ended = false;
  while (!(ended = worker_->poll_end(how)) && clock_.now() < deadline) clock_.wait(1e-3);
  const bool memory = ended && worker_->out_of_memory();
  if (memory) return handle_worker_end(io::Status::oom, "killed by the system, host memory ran out");
  handle_worker_end(io::Status::crashed, ended ? how.text() : "closed its channel and hung");
}

void Supervisor::handle_worker_messages(int wait_ms) {
  try {
    std::optional<FromWorker> message = worker_->receive(wait_ms);
    for (int received = 1; message; ++received) {
      std::visit([&](auto& each) { handle(std::move(each)); }, *message);
      if (!worker_ || !worker_->listens()) return;
      message = received < max_messages ? worker_->receive(0) : std::nullopt;
    }
  } catch (const ChannelClosed&) {
    return handle_channel_end();
  } catch (const io::StorageError&) {
    throw;
  } catch (const std::exception& e) {
    if (is_closing()) return after_close();
    const std::string cause = std::string(e.what()).substr(0, max_cause_bytes);
    return handle_worker_end(io::Status::crashed,
                             fmt::format("its messages cannot be understood any more ({})", cause));
  }
  check_timeouts();
}

void Supervisor::do_step(int wait_ms) {
  if (start_again_at_ >= 0 && clock_.now() >= start_again_at_) start_worker();
  if (!worker_) {
    clock_.wait(1e-3 * wait_ms);
    return;
  }
  send_trials();
  if (worker_) handle_worker_messages(wait_ms);
}

void Supervisor::send_trials() {
  while (state_ == State::working && sent_ < std::min(tasks_.size(), max_sent)) {
    if (port_.unsent_bytes() > max_unsent_bytes) return;
    const Trial& next = tasks_[sent_].trial;
    // A library's trial is sent only when all earlier trials are reported, because `in_flight_` names one
    // trial and must name the running one.
    if (sent_ > 0 && (!tasks_[sent_].is_short || !next.library_digest.empty())) return;
    // Rounds repeat trials to sample differences between processes, so each round has its own worker.
    if (worker_round_ != 0 && worker_round_ != next.round) {
      if (sent_ == 0) renew_worker();
      return;
    }
    if (sent_++ == 0) note_start();
    worker_round_ = next.round;
    in_flight_.begin(next);
    try {
      worker_->send(message::Work{next});
    } catch (const ChannelClosed&) {
      return;  // `handle_worker_messages` handles the closed channel
    }
  }
}

/// This process may have been suspended because the job was stopped, or because a file system blocked rank 0.
/// Then the worker may have been suspended too, or its messages are unread. The time of the suspension is
/// added to all start times, so that no timeout includes it. The clock is read only once per check, so that
/// no suspension between two readings is missed.
double Supervisor::discount_suspension() {
  const double now = clock_.now();
  const double since_check = last_check_ < 0 ? 0 : now - last_check_;
  last_check_ = now;
  if (since_check >= min_suspension_seconds) {
    trial_started_ += since_check;
    step_started_ += since_check;
  }
  return now;
}

void Supervisor::step(int wait_ms) {
  discount_suspension();
  while (const auto message = port_.next_for_supervisor()) {
    std::visit([&](const auto& each) { handle(each); }, *message);
    if (finished()) return;
  }
  try {
    if (state_ == State::awaiting_finish) {
      clock_.wait(1e-3 * wait_ms);
    } else {
      do_step(wait_ms);
    }
  } catch (const io::StorageError& e) {
    const bool was_leaving = state_ == State::leaving;
    end_worker();
    drop_trials();
    enter(State::awaiting_finish);
    send(message::StorageFailed{e.what()});
    if (was_leaving) leave();
  }
  if (!finished() && clock_.now() - last_message_at_ > alive_interval) send(message::Alive{});
}

}  // namespace gaussweep::driver
