#pragma once
/// The worker as its supervisor sees it: a process that is spoken with, and ended for sure.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "driver/protocol/messages.hpp"
#include "driver/system/process.hpp"

namespace gaussweep::driver {

/// What a supervisor needs to start its worker.
struct WorkerSpec {
  Backend backend = Backend::host;
  std::string gpu_uuid;  ///< empty: no GPU
  std::string visible;   ///< what its worker's CUDA_VISIBLE_DEVICES says; empty: as this process's
  std::string unfit;     ///< not empty: why this rank can have no worker; it retires at once
  int threads = 1;       ///< for OpenBLAS
  std::string directory;
  std::string program;  ///< the path of the build whose worker it is; empty: this one
  Origin origin;
};

/// A started worker. Its destructor ends it.
class WorkerProcess {
 public:
  virtual ~WorkerProcess() = default;
  virtual pid_t pid() const = 0;
  /// Whether its end of the line is still there.
  virtual bool listens() const = 0;
  /// Does not wait: a worker that does not read must not hold its supervisor up. `receive` sends the rest.
  /// @throws ChannelClosed
  virtual void send(const ToWorker& message) = 0;
  /// Its next message, waiting for it at most `wait_ms`.
  /// @throws ChannelClosed at its end, BadMessage and others where it cannot be understood
  virtual std::optional<FromWorker> receive(int wait_ms) = 0;
  /// The step of a trial that it noted last, also after its end; empty: it notes none.
  virtual std::string step() const { return {}; }
  /// If it has ended: how. Does not wait.
  virtual bool ended(Ending& how) = 0;
  /// Whether the system killed it because host memory ran out. @pre it has ended
  virtual bool out_of_memory() const = 0;
  /// Ends it for sure. @return false where the system could not
  virtual bool end() noexcept = 0;

 protected:
  WorkerProcess() = default;
  WorkerProcess(const WorkerProcess&) = default;
  WorkerProcess& operator=(const WorkerProcess&) = default;
};

/// Starts a worker. @throws io::StorageError where its log cannot be opened, std::runtime_error where no
/// process can start
using StartWorker = std::function<std::unique_ptr<WorkerProcess>(const WorkerSpec&)>;

/// The worker of this program, or of the build in `spec`, `gaussweep worker`.
std::unique_ptr<WorkerProcess> start_worker_process(const WorkerSpec& spec);

}  // namespace gaussweep::driver
