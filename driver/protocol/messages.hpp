#pragma once
/// All messages between the coordinator, the supervisors and the workers: one struct per message, and one
/// variant per direction. The coordinator, on rank 0, assigns trials (one method on one matrix each) to
/// ranks. Each rank's supervisor sends them to its worker, the process that runs them. A message is sent as a
/// JSON object; the member "type" is the struct's `name`.

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "driver/plan/method_library.hpp"
#include "driver/plan/trial.hpp"
#include "driver/system/origin.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

namespace message {

/// To a worker: the first message, with which the worker sets up its device and libraries.
struct Setup {
  static constexpr const char* name = "setup";
  Backend backend = Backend::host;
  std::string matrices;  ///< the folder in which workers store matrices
  Origin origin;         ///< the columns that all records of the rank share
  /// The device as an earlier worker described it, so that its peak rates need not be measured again.
  std::optional<io::DeviceRow> device;
  std::vector<LibraryFile> libraries;  ///< shared libraries with methods that this program does not contain
  int gpus = 1;                        ///< the number of GPUs, or of emulated devices, that the worker owns
};

/// To a worker: run this trial after the trials that were sent earlier.
struct Work {
  static constexpr const char* name = "trial";
  Trial trial;
};

/// To a supervisor that sent `Ready`: run these trials in this order.
struct Batch {
  static constexpr const char* name = "batch";
  std::vector<Trial> trials;
};

/// To a worker: no more trials follow; store the remaining matrices, send `Closed`, and exit.
struct Close {
  static constexpr const char* name = "close";
};

/// From a worker: it begins the step `step` of its start ("libraries", "device", "probe", "peaks"), or is
/// still storing matrices ("store"). The probe is a computation with a known result. The peaks are the
/// device's peak rates of memory copies and GEMM.
struct StepBegun {
  static constexpr const char* name = "at";
  std::string step;
};

/// From a worker: its device works, so trials can be sent.
struct Hello {
  static constexpr const char* name = "hello";
  io::DeviceRow device;
};

/// The worker's next action after a trial.
enum class WorkerEnd {
  none,    ///< waits for the next trial
  fatal,   ///< exits, because its device failed; a new worker may succeed with the trial
  replace  ///< exits, because a failed allocation may have leaked memory; the trial is done
};

/// From a worker: the end of a trial.
struct Done {
  static constexpr const char* name = "done";
  io::Record record;
  WorkerEnd end = WorkerEnd::none;
  /// Digests (hashes that identify matrices) of the matrices that the worker still has to store.
  std::vector<std::string> writing;
};

/// From a worker: all matrices are stored.
struct Closed {
  static constexpr const char* name = "closed";
};

/// From a worker: it cannot start or continue. `busy`: a later start may succeed, because other processes use
/// the device, or the device is not ready.
struct WorkerFailed {
  static constexpr const char* name = "unfit";
  std::string message;
  bool busy = false;
};

/// From a worker and from its supervisor: the storage failed, not the method, so the run must end.
struct StorageFailed {
  static constexpr const char* name = "storage_failed";
  std::string message;
};

/// From a supervisor: the rank requests trials. `held_digest` is the digest of the matrix that the rank's
/// worker holds or will hold; empty: none.
struct Ready {
  static constexpr const char* name = "ready";
  std::string held_digest;
};

/// From a supervisor: the end of a trial.
struct Recorded {
  static constexpr const char* name = "record";
  io::Record record;
  std::vector<std::string> writing;  ///< digests of the matrices that the rank's worker still has to store
};

/// From a supervisor: the rank got `Finish` and is still storing matrices.
struct Storing {
  static constexpr const char* name = "storing";
};

/// From a supervisor: its process is alive. Sent every few seconds if there is no other message.
struct Alive {
  static constexpr const char* name = "alive";
};

/// From a supervisor, in answer to `Abandon`: the rank has abandoned all its trials.
struct Released {
  static constexpr const char* name = "released";
};

/// From a supervisor, in answer to `Return`: the keys of the trials that it has not started.
struct Returned {
  static constexpr const char* name = "returned";
  std::vector<std::string> keys;
};

/// From a supervisor: the device as the rank's first worker described it, with its peak rates.
struct DeviceSeen {
  static constexpr const char* name = "device";
  io::DeviceRow row;
};

/// From a supervisor: the rank can run no more trials. Other ranks can try the rank's unfinished trials,
/// because these trials may not be the cause.
struct Retired {
  static constexpr const char* name = "retired";
  std::string reason;
};

/// From a supervisor: a stop signal reached the rank.
struct Stop {
  static constexpr const char* name = "stop";
};

/// From a supervisor: the supervisor has ended; this is its last message.
struct Finished {
  static constexpr const char* name = "finished";
};

/// To a supervisor: return the trials that are not started yet in a message `Returned`, because another rank
/// is idle.
struct Return {
  static constexpr const char* name = "return";
};

/// To a supervisor: end the running trial and return all trials.
struct Abandon {
  static constexpr const char* name = "abandon";
};

/// To a supervisor: end the worker and send `Finished`. `at_once`: do not store the remaining matrices.
struct Finish {
  static constexpr const char* name = "finish";
  bool at_once = false;
};

}  // namespace message

using ToWorker = std::variant<message::Setup, message::Work, message::Close>;
using FromWorker = std::variant<message::StepBegun, message::Hello, message::Done, message::Closed,
                                message::WorkerFailed, message::StorageFailed>;
using ToSupervisor = std::variant<message::Batch, message::Return, message::Abandon, message::Finish>;
using ToCoordinator = std::variant<message::Ready, message::Recorded, message::Returned, message::Released,
                                   message::DeviceSeen, message::Retired, message::StorageFailed,
                                   message::Storing, message::Alive, message::Stop, message::Finished>;

/// Thrown for a message of unknown type, or with a missing or malformed member.
struct BadMessage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Converts a message of one of the four variants to JSON.
template <class Message>
nlohmann::json message_json(const Message& message);
/// Converts a message from JSON. @throws BadMessage naming the received type and the allowed ones
template <class Message>
Message read_message(const nlohmann::json& json);

}  // namespace gaussweep::driver
