// Tests what a worker reports if it has no device.

#include "driver/worker/worker.hpp"

#include <sys/socket.h>

#include "driver/protocol/messages.hpp"
#include "driver/system/channel.hpp"
#include "kernels/core/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr int far_too_long_ms = 60000;

/// A worker that serves in its own process.
class ServedWorker {
 public:
  explicit ServedWorker(const DeviceMaker& make_device) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      ::_exit(serve_trials(ends[1], /*name=*/-1, Registry({}), make_device));
    }
    ::close(ends[1]);
    channel_ = Channel(ends[0]);
    channel_.send(message_json(ToWorker{message::Setup{}}));
  }
  ~ServedWorker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ServedWorker(const ServedWorker&) = delete;
  ServedWorker& operator=(const ServedWorker&) = delete;

  FromWorker next() { return read_message<FromWorker>(channel_.receive(far_too_long_ms).value()); }
  std::string next_step() { return std::get<message::StepBegun>(next()).step; }

 private:
  pid_t pid_ = -1;
  Channel channel_;
};

TEST(ServedWorker, ReportsWhyItHasNoDeviceAndWhetherToRetry) {
  ServedWorker filled([](Backend) -> std::unique_ptr<Device> { throw OutOfMemory("full"); });
  ServedWorker broken([](Backend) -> std::unique_ptr<Device> { throw std::runtime_error("broken"); });
  for (ServedWorker* worker : {&filled, &broken}) {
    EXPECT_EQ(worker->next_step(), "device");
    const auto unfit = std::get<message::WorkerFailed>(worker->next());
    EXPECT_EQ(unfit.message, worker == &filled ? "full" : "broken");
    EXPECT_EQ(unfit.busy, worker == &filled);
  }
}

}  // namespace
}  // namespace gaussweep::driver
