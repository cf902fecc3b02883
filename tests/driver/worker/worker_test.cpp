#include "driver/worker/worker.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/records/messages.hpp"
#include "driver/system/channel.hpp"
#include "driver/system/clock.hpp"
#include "kernels/core/errors.hpp"

namespace gaussweep::driver {
namespace {

constexpr int far_too_long_ms = 60000;

/// A worker in a process of its own that starts before its run is known.
class EarlyWorker {
 public:
  EarlyWorker(Backend backend, const DeviceMaker& make_device) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      ::_exit(serve_trials(ends[1], -1, Registry({}), make_device, backend));
    }
    ::close(ends[1]);
    channel_ = Channel(ends[0]);
  }
  ~EarlyWorker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  EarlyWorker(const EarlyWorker&) = delete;
  EarlyWorker& operator=(const EarlyWorker&) = delete;

  FromWorker next() { return read_message<FromWorker>(channel_.receive(far_too_long_ms).value()); }
  std::string next_step() { return std::get<message::At>(next()).step; }
  bool is_silent() { return !channel_.receive(100); }
  /// With a byte that carries no log.
  void begin_run() {
    EXPECT_EQ(::send(channel_.fd(), "", 1, MSG_NOSIGNAL), 1);
    channel_.send(message_json(ToWorker{message::Setup{}}));
  }

 private:
  pid_t pid_ = -1;
  Channel channel_;
};

std::unique_ptr<Device> on_the_host(Backend /*backend*/) {
  return make_host_device(Backend::host, now_seconds);
}

TEST(EarlyWorker, HasItsDeviceReadyAndMeasuresItOnceItsRunIsKnown) {
  for (const Backend backend : {Backend::cuda, Backend::emulated}) {
    EarlyWorker worker(backend, on_the_host);
    for (const char* step : {"device", "probe"}) EXPECT_EQ(worker.next_step(), step);
    EXPECT_TRUE(worker.is_silent());
    worker.begin_run();
    EXPECT_EQ(worker.next_step(), "peaks");
    const io::DeviceRow row = std::get<message::Hello>(worker.next()).device;
    EXPECT_GT(row.copy_bytes_per_second, 0);
    EXPECT_GT(row.gemm_flops_double, 0);
  }
}

TEST(EarlyWorker, SaysWhyItHasNoDeviceAndWhetherThatMayPass) {
  EarlyWorker filled(Backend::cuda, [](Backend) -> std::unique_ptr<Device> { throw OutOfMemory("full"); });
  EarlyWorker broken(Backend::cuda,
                     [](Backend) -> std::unique_ptr<Device> { throw std::runtime_error("broken"); });
  for (EarlyWorker* worker : {&filled, &broken}) {
    EXPECT_EQ(worker->next_step(), "device");
    const auto unfit = std::get<message::Unfit>(worker->next());
    EXPECT_EQ(unfit.message, worker == &filled ? "full" : "broken");
    EXPECT_EQ(unfit.busy, worker == &filled);
  }
}

}  // namespace
}  // namespace gaussweep::driver
