#pragma once
/// One a rank: asks the coordinator for a trial, hands it to its worker, watches the worker, ends it for sure
/// where it crashes, hangs or is to be abandoned, and goes on with a fresh one.
///
/// Messages, each an object with "type":
///   to the coordinator: ready {held}, record {key, record}, given_back {key}, device {row}, retired
///   {reason},
///                       storage_failed {message}, bye {} (the last one: nothing follows it)
///   to the supervisor:  trial {trial}, abandon {}, finish {}
/// Every worker's first act is a probe whose result is known. A trial that ended its worker twice is recorded
/// only once a fresh worker has shown that the device still works; where none can start, the rank retires and
/// hands the trial back, for it may be innocent. A device that others fill or have to themselves is waited
/// for, a minute.

#include <optional>
#include <string>

#include "driver/plan/trial.hpp"
#include "driver/sweep/world.hpp"
#include "driver/system/origin.hpp"
#include "driver/system/process.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// What a supervisor needs to start its worker.
struct WorkerPlace {
  Backend backend = Backend::host;
  std::string gpu_uuid;  ///< empty: no GPU
  std::string visible;   ///< what its worker's CUDA_VISIBLE_DEVICES says; empty: as this process's
  std::string unfit;     ///< not empty: why this rank can have no worker; it retires at once
  int threads = 1;       ///< for OpenBLAS
  std::string directory;
  Origin origin;
};

class Supervisor {
 public:
  Supervisor(World& world, WorkerPlace place, const Registry& registry);
  /// Does what can be done now. Waits for the worker at most `wait_ms`. What fails here goes to the
  /// coordinator in words; only a broken link to it throws.
  void step(int wait_ms);
  /// True once the coordinator said that there is no more.
  bool finished() const { return finished_; }

 private:
  void do_step(int wait_ms);
  void take_message(const nlohmann::json& message);
  void take_from_worker(const nlohmann::json& message);
  void start_worker();
  void worker_could_not_start(const std::string& cause);
  void device_is_busy(const std::string& cause);
  void worker_is_gone(const std::string& status, const std::string& cause);
  void trial_ended_worker(io::Record record);
  void hear(int wait_ms);
  void hear_the_end();
  io::Record blank() const;
  void forgive_standstill();
  void watch_time();
  void report(const io::Record& record);
  void ask();
  void retire(const std::string& reason);
  void end_worker();

  World& world_;
  WorkerPlace place_;
  const Registry& registry_;
  Process worker_;
  nlohmann::json
      device_;  ///< its row, as the first worker said it: the peaks in it are given to the later ones
  bool worker_ready_ = false;
  double step_started_ = 0;  ///< of the worker's start
  pid_t worker_pid_ = -1;
  int failed_starts_ = 0;       ///< in a row
  double last_look_ = -1;       ///< at the clock; negative: there was none
  double busy_since_ = -1;      ///< since when starts found the device in use; negative: they did not
  double start_again_at_ = -1;  ///< after a failed start; negative: none is due
  bool out_of_work_ = false;    ///< retired, or the medium failed: it waits for `finish`
  std::string step_;            ///< the last step that the worker named
  std::optional<Trial> trial_;
  bool sent_ = false;  ///< the trial was sent to the worker
  double sent_at_ = 0;
  int ends_ = 0;  ///< workers that this trial has ended
  std::string first_cause_;
  io::Record last_end_;  ///< how it ended the last one: its record, once the device is known to work
  std::string held_;
  std::int64_t kills_before_ = -1;
  bool finished_ = false;
};

}  // namespace gaussweep::driver
