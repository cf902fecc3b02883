// Measures how many records per second the coordinator handles. The coordinator is real, with its queue,
// journal, syncs and results.h5 on a disk. The ranks are simulated. Each sends a record for every trial of
// its batch, with the bytes that MPI would carry. Like a supervisor, it asks for more after half of the
// batch.
//
// By hand: ninja -C build coordinator_rate && build/tests/coordinator_rate FOLDER [RANKS [TRIALS [SECONDS]]]
// SECONDS: the simulated time of a trial; with 0 the coordinator is never idle.

#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/protocol/trial_record.hpp"
#include "driver/sweep/coordinator.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {

using Bytes = std::vector<std::uint8_t>;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A rank that runs one trial after the other, and returns a record after each. Times in seconds.
struct SimulatedRank {
  std::deque<Trial> trials;       ///< the trials that it has yet to run
  std::size_t ask_when_left = 0;  ///< It asks for the next batch when this many trials are left.
  bool asked = false;             ///< true if it has asked for a batch that has not arrived yet
  double next_end = 0;            ///< when the first trial of `trials` ends
  double idle_since = -1;         ///< when it last ran out of trials; -1: never
  double idle = 0;                ///< the sum of the times in which it waited for a batch
};

/// A MessagePort that gives the coordinator messages from simulated ranks.
class SimulatedRanks final : public MessagePort {
 public:
  SimulatedRanks(int ranks, const Registry& registry, double seconds)
      : registry_(registry), seconds_(seconds), ranks_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_[static_cast<std::size_t>(rank)].asked = true;
      send_from(rank, message::Ready{});
    }
  }
  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  double sigkill_delay() const override { return 1e300; }
  void lose_peer() override {}

  /// Sends the records of all trials that have ended by now.
  void work(double now) {
    constexpr int max_records = 4;  // With SECONDS 0 a rank would otherwise send its whole batch at once.
    for (int rank = 0; rank < size(); ++rank) {
      SimulatedRank& sender = ranks_[static_cast<std::size_t>(rank)];
      for (int i = 0; i < max_records && !sender.trials.empty() && sender.next_end <= now; ++i) {
        send_from(rank, message::Recorded{record_of(sender.trials.front(), rank), {}});
        sender.trials.pop_front();
        sender.next_end = std::max(sender.next_end + seconds_, sender.next_end);
        if (!sender.asked && sender.trials.size() <= sender.ask_when_left) {
          sender.asked = true;
          send_from(rank, message::Ready{});
        }
        if (sender.trials.empty()) sender.idle_since = now;
      }
    }
  }
  /// Returns the mean idle seconds per rank between batches.
  double mean_idle() const {
    double sum = 0;
    for (const SimulatedRank& rank : ranks_) sum += rank.idle;
    return sum / static_cast<double>(ranks_.size());
  }
  std::size_t batches() const { return batches_; }
  std::size_t message_bytes() const { return record_bytes_; }

 protected:
  void send(int to, Mailbox /*box*/, const nlohmann::json& message) override {
    SimulatedRank& rank = ranks_[static_cast<std::size_t>(to)];
    const auto received =
        read_message<ToSupervisor>(nlohmann::json::from_cbor(nlohmann::json::to_cbor(message)));
    if (const auto* batch = std::get_if<message::Batch>(&received)) {
      const double now = now_seconds();
      if (rank.trials.empty()) rank.next_end = now + seconds_;
      if (rank.trials.empty() && rank.idle_since >= 0) rank.idle += now - rank.idle_since;
      rank.trials.insert(rank.trials.end(), batch->trials.begin(), batch->trials.end());
      rank.asked = false;
      rank.ask_when_left = batch->trials.size() / 2;
      ++batches_;
    } else {
      send_from(to, message::Finished{});
    }
  }
  std::optional<Arrived> receive(Mailbox /*box*/) override {
    if (mail_.empty()) return std::nullopt;
    Arrived arrived{mail_.front().first, nlohmann::json::from_cbor(mail_.front().second)};
    mail_.pop_front();
    return arrived;
  }

 private:
  void send_from(int rank, const ToCoordinator& message) {
    mail_.emplace_back(rank, nlohmann::json::to_cbor(message_json(message)));
    if (std::holds_alternative<message::Recorded>(message)) record_bytes_ = mail_.back().second.size();
  }
  io::Record record_of(const Trial& trial, int rank) const {
    Origin origin = this_origin("0123456789abcdef0123456789abcdef", rank);
    io::Record record = blank_record(trial, registry_.find(trial.problem, trial.method), origin);
    record.status = "pass";
    record.gpu_uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
    record.gpu_name = "a GPU that nobody has";
    const double now = epoch_seconds();
    for (double io::Record::*began :
         {&io::Record::wait_began, &io::Record::prepare_began, &io::Record::inputs_began,
          &io::Record::timed_began, &io::Record::verify_began, &io::Record::compare_began})
      record.*began = now;
    record.end_time = fine_time_stamp();
    record.samples = 5;
    for (int i = 0; i < 5; ++i) record.sample_list.push_back({1e-4 + 1e-7 * i, 1980, false, 2619, 180.5, 41});
    record.seconds_median = 1e-4;
    for (const char* stage : {"eliminate", "substitute"}) {
      io::Stage row;
      row.kernel = stage;
      row.calls = 1;
      row.seconds = row.mean = 5e-5;
      record.stages.push_back(row);
    }
    return record;
  }

  const Registry& registry_;
  double seconds_;
  std::vector<SimulatedRank> ranks_;
  std::deque<std::pair<int, Bytes>> mail_;
  std::size_t batches_ = 0, record_bytes_ = 0;
};

std::vector<Trial> small_trials(const Registry& registry, std::size_t count) {
  std::vector<Trial> trials;
  const char* methods[] = {"cusolver", "gauss_jordan_global", "gauss_jordan_shared", "lu_fixed_point",
                           "gauss_block"};
  for (std::size_t i = 0; i < count; ++i) {
    Trial trial;
    trial.problem = Problem::named("gesv");
    trial.key = fmt::format("{:032x}", i + 1);
    trial.method = methods[i % 5];
    trial.parameters = defaults_of(*registry.find(trial.problem, trial.method));
    trial.backend = Backend::cuda;
    const auto n = static_cast<std::int64_t>(33 + i / 5 % 64);
    trial.shape = {n, n, n, 1, Uplo::lower};
    trial.matrix.kind = "uniform";
    trial.matrix.digest = fmt::format("{:064x}", i / 5);
    trial.matrix.spec.rows = trial.matrix.spec.cols = n;
    trials.push_back(trial);
  }
  return trials;
}

int measure(const std::string& folder, int ranks, std::size_t count, double seconds) {
  const Registry registry = builtin_registry();
  RunDirectory directory(folder, false);
  SimulatedRanks simulated(ranks, registry, seconds);
  const double setup = now_seconds();
  Coordinator coordinator(simulated, directory, registry,
                          {small_trials(registry, count),
                           0,
                           std::vector<std::string>(static_cast<std::size_t>(ranks), "a host"),
                           {}});
  const double start = now_seconds();
  double wall = 0, cpu = 0, longest = 0;  // seconds inside the coordinator's steps
  while (!coordinator.finished()) {
    simulated.work(now_seconds());
    const double step_start = now_seconds(), cpu_start = cpu_seconds();
    coordinator.step();
    cpu += cpu_seconds() - cpu_start;
    longest = std::max(longest, now_seconds() - step_start);
    wall += now_seconds() - step_start;
  }
  const double total = now_seconds() - start;
  const auto records = static_cast<double>(count);
  fmt::print(
      "{} ranks, {} records of {} bytes, {} batches: {:.0f} records per second in {:.2f} s (set up in "
      "{:.2f} s)\n"
      "coordinator, per record: {:.1f} us of wall time, {:.1f} us of CPU time, which allows {:.0f} records "
      "per second; longest step {:.0f} ms\n"
      "a rank had nothing to do for {:.1f} % of the time\n",
      ranks, count, simulated.message_bytes(), simulated.batches(), records / total, total, start - setup,
      1e6 * wall / records, 1e6 * cpu / records, records / cpu, 1e3 * longest,
      100 * simulated.mean_idle() / total);
  return directory.safe_records() == count ? 0 : 1;
}

}  // namespace
}  // namespace gaussweep::driver

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: coordinator_rate FOLDER [RANKS [TRIALS [SECONDS]]]\n", stderr);
    return 2;
  }
  return gaussweep::driver::measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 64,
                                    argc > 3 ? static_cast<std::size_t>(std::atoll(argv[3])) : 20000,
                                    argc > 4 ? std::atof(argv[4]) : 0);
}
