#pragma once
/// Starts and ends a worker, the process that runs a rank's trials, and exchanges messages with it. Each
/// rank's supervisor uses this interface; tests implement it without a process.

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/protocol/messages.hpp"
#include "driver/system/process.hpp"

namespace gaussweep::driver {

/// Everything that a supervisor needs to start its worker.
struct WorkerSpec {
  Backend backend = Backend::host;
  std::string gpu_uuid;  ///< empty: no GPU
  std::string visible;   ///< the worker's CUDA_VISIBLE_DEVICES; empty: inherited
  /// The reason why no worker can run on this rank; the rank then runs no trials. Empty if a worker can run.
  std::string cannot_run_because;
  int gpus = 1;                        ///< the number of GPUs, or of emulated devices, that the worker owns
  int threads = 1;                     ///< number of OpenBLAS threads
  std::string directory;               ///< the run directory
  std::vector<LibraryFile> libraries;  ///< shared libraries with methods, which the worker loads
  std::string program;                 ///< the worker's executable, of another build; empty: this program
  Origin origin;                       ///< the rank, host and run that records name
};

/// A started worker. The destructor ends the process.
class WorkerProcess {
 public:
  virtual ~WorkerProcess() = default;
  virtual pid_t pid() const = 0;
  /// Returns true if the worker runs and its end of the channel is open.
  virtual bool listens() const = 0;
  /// Sends as many bytes as possible without blocking, because a worker that does not read must not block its
  /// supervisor. `receive` sends the other bytes. @throws ChannelClosed
  virtual void send(const ToWorker& message) = 0;
  /// Returns the worker's next message; waits at most `wait_ms`.
  /// @throws ChannelClosed at the end of the channel
  /// @throws BadMessage and others if the message is malformed
  virtual std::optional<FromWorker> receive(int wait_ms) = 0;
  /// Returns the step of a trial that the worker noted last, also after its end; empty if it has noted none.
  virtual std::string step() const { return {}; }
  /// Returns true if the process has ended, and sets `how`. Does not wait.
  virtual bool poll_end(Ending& how) = 0;
  /// Returns true if the system killed the worker because host memory ran out. @pre it has ended
  virtual bool out_of_memory() const = 0;
  /// Kills the process. @return false if the system could not
  virtual bool kill() noexcept = 0;
};

/// Starts a worker. @throws io::StorageError if its log cannot be opened
/// @throws std::runtime_error if no process can start
using StartWorker = std::function<std::unique_ptr<WorkerProcess>(const WorkerSpec&)>;

/// Starts `gaussweep worker` of this program, or of the build `spec.program`.
std::unique_ptr<WorkerProcess> start_worker_process(const WorkerSpec& spec);

}  // namespace gaussweep::driver
