/// Runs a whole sweep in one process for tests: a coordinator, a supervisor per rank, scripted workers, and a
/// clock that advances whenever it is read.

#include "tests/driver/sweep/sweep_in_process.hpp"

#include <fmt/format.h>

#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

// The simulated seconds that each query of the clock takes, far less than the time after which a silent
// process counts as lost.
constexpr double tick = 0.05;

/// Returns the method of all trials. It is never called, because the workers are scripted.
Method scripted() {
  Method method;
  method.problem = Problem::named("gesv");
  method.variant = "scripted";
  method.backends = {Backend::host};
  method.host.float64 = [](Context&, Operands<double>&, const Parameters&) {};  // never called
  return method;
}

io::DeviceRow device_row() {
  io::DeviceRow row;
  row.gpu_name = "a device";
  row.host = "here";
  row.gemm_flops_float = row.gemm_flops_double = 5e13;
  return row;
}

}  // namespace

WorkerMessages good_answer(const Trial& trial) {
  io::Record record;
  record.key = trial.key;
  record.problem = to_string(trial.problem);
  record.method = trial.method;
  record.status = "pass";
  record.n = trial.shape.n;
  return {message_json(FromWorker{message::StepBegun{"run"}}),
          message_json(FromWorker{message::Done{record, {}, {}}})};
}

/// The mailboxes of one rank, in memory.
class SweepInProcess::RankMailboxes final : public MessagePort {
 public:
  RankMailboxes(SweepInProcess& sweep, int rank, int size) : sweep_(sweep), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  double sigkill_delay() const override { return sweep_.sigkill_delay; }
  void lose_peer() override { sweep_.lost_peer_ = true; }
  void send(int to, Mailbox box, const nlohmann::json& message) override {
    if (message.at("type") == message::Batch::name) {
      sweep_.batches_.push_back(message.at("trials").size());
      if (sweep_.on_batch) sweep_.on_batch(to, message.at("trials"));
    }
    // The message is encoded and decoded again, as it is on its way through MPI.
    const auto bytes = nlohmann::json::to_cbor(message);
    sweep_.mailboxes_[{to, box}].push_back({rank_, nlohmann::json::from_cbor(bytes)});
  }
  std::optional<Arrived> receive(Mailbox box) override {
    std::vector<Envelope>& waiting = sweep_.mailboxes_[{rank_, box}];
    if (waiting.empty()) return std::nullopt;
    Arrived arrived{waiting.front().from, std::move(waiting.front().message)};
    waiting.erase(waiting.begin());
    return arrived;
  }

 private:
  SweepInProcess& sweep_;
  int rank_, size_;
};

class SweepInProcess::ScriptedWorker final : public WorkerProcess {
 public:
  ScriptedWorker(SweepInProcess& sweep, int rank, int start) : sweep_(sweep), rank_(rank), start_(start) {}
  pid_t pid() const override { return 1; }
  bool listens() const override { return alive_; }
  void send(const ToWorker& message) override {
    if (!alive_) throw ChannelClosed("the worker is gone");
    const WorkerScript& script = sweep_.script;
    if (std::holds_alternative<message::Setup>(message)) {
      const auto unfit = script.unfit ? script.unfit(rank_, start_) : std::nullopt;
      if (unfit) {
        outbox_.push_back(message_json(FromWorker{*unfit}));
      } else if (!script.sends_hello || script.sends_hello(rank_, start_)) {
        outbox_.push_back(message_json(FromWorker{message::Hello{device_row()}}));
      }
      return;
    }
    if (std::holds_alternative<message::Close>(message)) {
      sweep_.closed_.insert(rank_);
      for (const FromWorker& each :
           script.closes ? script.closes(rank_) : std::vector<FromWorker>{message::Closed{}})
        outbox_.push_back(message_json(each));
      return;
    }
    if (busy_) return;  // the worker stays busy and does nothing else
    const Trial& trial = std::get<message::Work>(message).trial;
    if (script.dies && script.dies(rank_, trial)) {
      alive_ = false;
      return;
    }
    std::vector<nlohmann::json> messages = script.answers ? script.answers(rank_, trial) : good_answer(trial);
    const nlohmann::json last = messages.empty() ? nlohmann::json() : messages.back();
    busy_ = !last.is_object() || last.value("type", "") == "at" || last.value("end", "none") != "none";
    for (nlohmann::json& each : messages) outbox_.push_back(std::move(each));
  }
  std::optional<FromWorker> receive(int /*wait_ms*/) override {
    sweep_.now_ += tick;
    if (outbox_.empty()) {
      if (!alive_) throw ChannelClosed("the other end closed");
      return sweep_.script.unsolicited ? sweep_.script.unsolicited(rank_) : std::nullopt;
    }
    const nlohmann::json next = std::move(outbox_.front());
    outbox_.pop_front();
    return read_message<FromWorker>(next);
  }
  bool poll_end(Ending& how) override {
    how = {false, 11};  // by signal 11
    return !alive_;
  }
  bool out_of_memory() const override { return false; }
  bool kill() noexcept override {
    alive_ = false;
    return true;
  }

 private:
  SweepInProcess& sweep_;
  int rank_, start_;
  bool alive_ = true;
  bool busy_ = false;  ///< has an endless trial, or stores matrices
  std::deque<nlohmann::json> outbox_;
};

SweepInProcess::SweepInProcess(int ranks, int trials)
    : scratch_(TestFolder::Place::memory),
      registry_({scripted()}),
      starts_(static_cast<std::size_t>(ranks), 0) {
  for (int i = 0; i < trials; ++i) {
    Trial trial;
    trial.problem = Problem::named("gesv");
    trial.key = fmt::format("{:032x}", i + 1);
    trial.method = "scripted";
    trial.shape.n = 10;
    trial.matrix.digest = fmt::format("{:032x}", i);
    trial.matrix.store = false;
    trials_.push_back(trial);
  }
  directory_ = std::make_unique<RunDirectory>(scratch_ / "run", false);
}

SweepInProcess::~SweepInProcess() = default;

bool SweepInProcess::run(double most_seconds, const std::function<void()>& each_step) {
  for (Trial& trial : trials_) {
    const auto number = static_cast<std::size_t>(&trial - trials_.data());
    trial.timeout_seconds = trial_timeout;
    trial.matrix.store = stored.count(number) > 0;
    trial.round = 1 + static_cast<std::int64_t>(number) % rounds;
    const std::int64_t order = orders.empty() ? n : orders[number % orders.size()];
    trial.shape = {order, order, order, 1, Uplo::lower};
    if (!orders.empty()) trial.matrix.digest = fmt::format("{:032x}", number / orders.size());
    trial.backend = backends.empty() ? backend : backends[number % backends.size()];
    trial.expect = expect;
  }
  const Clock clock{[this] { return now_; }, [this](double seconds) { now_ += seconds; }};
  const int ranks = static_cast<int>(starts_.size());
  for (int rank = 0; rank < ranks; ++rank)
    rank_mailboxes_.push_back(std::make_unique<RankMailboxes>(*this, rank, ranks));
  if (limits.deadline > 0) limits.deadline += now_;
  limits.store_bytes = store_limit;
  if (hosts.empty()) hosts.assign(starts_.size(), "a host");
  const StopSignals arrived = [this](int* last) {
    *last = signal;
    return signals;
  };
  coordinator_ = std::make_unique<Coordinator>(*rank_mailboxes_[0], *directory_, registry_,
                                               Assignments{trials_, 0, hosts, limits}, clock, arrived);
  for (int rank = 0; rank < ranks; ++rank) {
    WorkerSpec spec;
    spec.directory = directory_->path();
    spec.origin.rank = rank;
    const StartWorker start = [this, rank](const WorkerSpec&) -> std::unique_ptr<WorkerProcess> {
      return std::make_unique<ScriptedWorker>(*this, rank, ++starts_[static_cast<std::size_t>(rank)]);
    };
    supervisors_.push_back(std::make_unique<Supervisor>(*rank_mailboxes_[static_cast<std::size_t>(rank)],
                                                        spec, registry_, start, clock));
  }
  const double until = now_ + most_seconds;
  while (!coordinator_->finished() && now_ < until) {
    if (each_step) each_step();
    coordinator_->step();
    for (int rank = 0; rank < ranks; ++rank) {
      Supervisor& supervisor = *supervisors_[static_cast<std::size_t>(rank)];
      if (frozen_ranks.count(rank) == 0 && !supervisor.finished()) supervisor.step(1);
    }
    now_ += tick;
  }
  return coordinator_->finished();
}

std::optional<io::Record> SweepInProcess::record_of(std::size_t trial) const {
  std::optional<io::Record> found;
  for (const io::Record& record : directory_->journal().records) {
    if (record.key == trials_[trial].key) found = record;
  }
  return found;
}

void SweepInProcess::expect_all_passed(std::size_t but) const {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (i == but) continue;
    const std::optional<io::Record> record = record_of(i);
    ASSERT_TRUE(record) << i;
    EXPECT_EQ(record->status + record->message, "pass") << i;
  }
}

std::size_t SweepInProcess::records() const {
  return directory_->journal().records.size();
}

void SweepInProcess::send_to_coordinator(int from, const nlohmann::json& message) {
  mailboxes_[{0, 0}].push_back({from, message});
}

}  // namespace gaussweep::driver
