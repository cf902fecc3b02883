#pragma once
/// Every message between coordinator, supervisor and worker: a struct each, and one variant for each way that
/// they go. On the way they are JSON objects whose member "type" is the struct's name.

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/plan/trial.hpp"
#include "driver/system/origin.hpp"
#include "io/records/record.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

namespace message {

/// The first one to a worker.
struct Setup {
  static constexpr const char* name = "setup";
  Backend backend = Backend::host;
  std::string matrices;  ///< the store's folder
  Origin origin;
  /// What an earlier worker said of the device: its peaks need not be measured again.
  std::optional<io::DeviceRow> device;
};

/// Do this trial, after those that were sent before. To a worker.
struct Work {
  static constexpr const char* name = "trial";
  Trial trial;
};

/// Do these trials, in this order. To a supervisor that said `Ready`.
struct Batch {
  static constexpr const char* name = "batch";
  std::vector<Trial> trials;
};

/// There is no more: store what is not stored yet, say `Closed`, and end. To a worker.
struct Close {
  static constexpr const char* name = "close";
};

/// The worker begins a step of its start, or shows that it lives.
struct At {
  static constexpr const char* name = "at";
  std::string step;
};

/// The worker's device works: it can be given trials.
struct Hello {
  static constexpr const char* name = "hello";
  io::DeviceRow device;
};

/// What becomes of a worker after a trial.
enum class WorkerEnd {
  none,   ///< it waits for the next one
  fatal,  ///< it can do no more, and a fresh one may fare better with the trial
  spent   ///< the trial is done, but memory may be lost in this process, which ends
};

/// A trial's end, from the worker.
struct Done {
  static constexpr const char* name = "done";
  io::Record record;
  WorkerEnd end = WorkerEnd::none;
  std::vector<std::string> writing;  ///< digests of the matrices that it has yet to store
};

/// The worker has stored all that it had to.
struct Closed {
  static constexpr const char* name = "closed";
};

/// The worker cannot begin, or go on. `busy`: the device is there, but others use it, or it is not ready yet:
/// a later start may succeed.
struct Unfit {
  static constexpr const char* name = "unfit";
  std::string message;
  bool busy = false;
};

/// The medium failed, not the method: the run ends. From the worker, and from its supervisor.
struct StorageFailed {
  static constexpr const char* name = "storage_failed";
  std::string message;
};

/// The rank wants trials; its worker holds the matrix of this digest, or will have it (empty: none).
struct Ready {
  static constexpr const char* name = "ready";
  std::string held;
};

/// A trial's end, from the supervisor.
struct Recorded {
  static constexpr const char* name = "record";
  io::Record record;
  std::vector<std::string> writing;  ///< digests of the matrices that the rank's worker has yet to store
};

/// The rank was told to finish and is still storing matrices.
struct Storing {
  static constexpr const char* name = "storing";
};

/// The rank's process runs. Sent every few seconds if the rank has nothing else to say.
struct Alive {
  static constexpr const char* name = "alive";
};

/// The rank has abandoned its trials, or had none.
struct Released {
  static constexpr const char* name = "released";
};

/// What the rank had in hands and had not begun, after `Return`.
struct Returned {
  static constexpr const char* name = "returned";
  std::vector<std::string> keys;
};

/// What the rank's first worker said of the device.
struct DeviceSeen {
  static constexpr const char* name = "device";
  io::DeviceRow row;
};

/// The rank can do no more; what it had in hands may be innocent.
struct Retired {
  static constexpr const char* name = "retired";
  std::string reason;
};

/// A signal to stop reached the rank.
struct Stop {
  static constexpr const char* name = "stop";
};

/// The rank's last word: nothing follows it.
struct Finished {
  static constexpr const char* name = "finished";
};

/// Give back what is not begun yet, by `Returned`: another rank has nothing to do.
struct Return {
  static constexpr const char* name = "return";
};

/// End the trial that runs and give back all.
struct Abandon {
  static constexpr const char* name = "abandon";
};

/// There is no more: end the worker and say `Finished`. `at_once`: without storing what is not stored yet.
struct Finish {
  static constexpr const char* name = "finish";
  bool at_once = false;
};

}  // namespace message

using ToWorker = std::variant<message::Setup, message::Work, message::Close>;
using FromWorker = std::variant<message::At, message::Hello, message::Done, message::Closed, message::Unfit,
                                message::StorageFailed>;
using ToSupervisor = std::variant<message::Batch, message::Return, message::Abandon, message::Finish>;
using ToCoordinator = std::variant<message::Ready, message::Recorded, message::Returned, message::Released,
                                   message::DeviceSeen, message::Retired, message::StorageFailed,
                                   message::Storing, message::Alive, message::Stop, message::Finished>;

/// A message that is none: of an unknown type, or with a member that lacks or is of another type.
struct BadMessage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One of the four variants as it travels.
template <class Message>
nlohmann::json message_json(const Message& message);
/// And back. @throws BadMessage that names what arrived, and what may
template <class Message>
Message read_message(const nlohmann::json& json);

}  // namespace gaussweep::driver
