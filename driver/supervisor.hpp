#pragma once
/// One a rank: asks the coordinator for a trial, hands it to its worker, watches the worker, ends it for sure
/// where it crashes, hangs or is to be abandoned, and goes on with a fresh one.
///
/// Messages, each an object with "type":
///   to the coordinator: ready {held}, record {key, record}, given_back {key}, device {row}, retired {reason,
///   key?} to the supervisor:  trial {trial}, abandon {}, finish {}

#include <optional>
#include <string>

#include "driver/batch_job.hpp"
#include "driver/link.hpp"
#include "driver/process.hpp"
#include "driver/trial.hpp"
#include "io/record.hpp"

namespace gaussweep::driver {

/// What a supervisor needs to start its worker.
struct WorkerPlace {
  Backend backend = Backend::host;
  std::string gpu_uuid;  ///< empty: no GPU
  int device_index = -1;
  int rank = 0;
  int threads = 1;  ///< for OpenBLAS
  std::string directory, host, run_id;
  BatchJob job;
};

class Supervisor {
 public:
  Supervisor(World& world, WorkerPlace place, const Registry& registry);
  /// Does what can be done now. Waits for the worker at most `wait_ms`.
  void step(int wait_ms);
  /// True once the coordinator said that there is no more.
  bool finished() const { return finished_; }

 private:
  void take_message(const nlohmann::json& message);
  void take_from_worker(const nlohmann::json& message);
  void start_worker();
  void worker_is_gone(const std::string& status, const std::string& cause);
  void watch_time();
  void report(const io::Record& record);
  void ask();
  void retire(const std::string& reason);
  void end_worker();

  World& world_;
  WorkerPlace place_;
  const Registry& registry_;
  Process worker_;
  nlohmann::json peaks_;  ///< measured by the first worker, given to the later ones
  bool worker_ready_ = false;
  double worker_started_ = 0;
  int failed_starts_ = 0;
  std::string step_;  ///< the last step that the worker named
  std::optional<Trial> trial_;
  bool sent_ = false;  ///< the trial was sent to the worker
  double sent_at_ = 0;
  int ends_ = 0;  ///< workers that this trial has ended
  std::string first_cause_;
  std::string held_;
  std::int64_t kills_before_ = -1;
  bool finished_ = false;
};

}  // namespace gaussweep::driver
