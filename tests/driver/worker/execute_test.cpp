// Runs a worker's whole trial on a device of limited memory. The device reports itself as a GPU, so the
// worker takes the GPU's code path. It runs the CPU's methods and the emulated verification kernels.

#include "driver/worker/execute.hpp"
#include "kernels/core/errors.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/kernels/short_of_memory.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Execute, CpuMethodHasNoFractionOfAGpusPeaks) {
  const Peaks measured{4e12, 5e13, 6e13};
  const Peaks with_gpu = peaks_of(Backend::host, Backend::cuda, measured);
  EXPECT_EQ(with_gpu.copy_bytes_per_second, 0);
  EXPECT_EQ(with_gpu.gemm_flops_float, 0);
  EXPECT_EQ(with_gpu.gemm_flops_double, 0);
  for (const auto& [trial, device] : {std::pair{Backend::cuda, Backend::cuda},
                                      {Backend::host, Backend::emulated},
                                      {Backend::host, Backend::host},
                                      {Backend::emulated, Backend::emulated}})
    EXPECT_EQ(peaks_of(trial, device, measured).gemm_flops_double, 6e13);
}

constexpr std::int64_t n = 96;
constexpr std::size_t bytes_of_a = n * n * sizeof(double);

/// An emulated device with little memory. It counts the uploads of A.
class TightDevice final : public LimitedTotalMemory {
 public:
  TightDevice(std::size_t bytes, bool memory_to_pin)
      : LimitedTotalMemory(cpu(Backend::emulated), bytes), memory_to_pin_(memory_to_pin) {}
  DeviceInfo info() const override {
    DeviceInfo info = LimitedTotalMemory::info();
    info.name = "small device";
    return info;
  }
  void to_device(void* to, const void* from, std::size_t bytes) override {
    uploads += bytes == bytes_of_a;
    LimitedTotalMemory::to_device(to, from, bytes);
  }

  void* allocate_host(std::size_t bytes) override {
    if (!memory_to_pin_) throw NoPinnedMemory("the test's host has none");
    return LimitedTotalMemory::allocate_host(bytes);
  }

  void* allocate(std::size_t bytes) override {
    void* const memory = LimitedTotalMemory::allocate(bytes);
    if (bytes >= bytes_of_a && first_of_a == nullptr) first_of_a = memory;
    return memory;
  }

  int uploads = 0;             ///< uploads of A
  void* first_of_a = nullptr;  ///< the first allocation that is large enough for A

 private:
  bool memory_to_pin_;
};

/// Returns the registry plus a host method that overwrites A and claims to run on the device.
Registry registry_with_own() {
  Registry registry = builtin_registry();
  Method own = *registry.find(Problem::named("gesv"), "lapack");
  own.variant = "own";
  own.vendor = false;
  own.backends = {Backend::emulated};
  own.emulated = own.host;
  own.host = {};
  registry.add(own);
  return registry;
}

class RoomOnADevice : public testing::Test {
 protected:
  RoomOnADevice() {
    trial.problem = Problem::named("gesv");
    trial.method = "own";
    trial.key = "a key";
    trial.backend = Backend::emulated;
    trial.shape = {n, n, n, 1, Uplo::lower};
    trial.parameters = defaults_of(*registry.find(trial.problem, "own"));
    trial.matrix.kind = "condition";  // this kind is generated on the host
    trial.matrix.spec.kind = MatrixKind::condition;
    trial.matrix.spec.rows = trial.matrix.spec.cols = n;
    trial.matrix.spec.seed = 3;
    trial.matrix.spec.condition = 100;
    trial.matrix.digest = "digest";
    trial.matrix.store = false;
    trial.tolerance = default_tolerance(trial.problem);
    trial.sampling.min_samples = trial.sampling.max_samples = 3;
  }
  io::Record run(std::size_t bytes) {
    TightDevice device(bytes, memory_to_pin);
    StoreWriter store{io::MatrixStore(scratch.folder())};
    io::Record record;
    {
      Context context(device);
      Executor executor(registry, context, store, {}, [](const std::string&) {});
      record = executor.run(trial);
    }
    uploads = device.uploads;
    EXPECT_EQ(device.held(), 0u);
    return record;
  }
  TestFolder scratch;
  Registry registry = registry_with_own();
  Trial trial;
  bool memory_to_pin = true;
  int uploads = 0;
};

TEST_F(RoomOnADevice, UploadsOperandsForEveryRunIfOnlyOneCopyFits) {
  const io::Record twice = run(3 * bytes_of_a);
  EXPECT_EQ(twice.status, "pass") << twice.message;
  EXPECT_EQ(twice.message, "");
  EXPECT_EQ(uploads, 1);
  const io::Record once = run(bytes_of_a * 3 / 2);
  EXPECT_EQ(once.status, "pass") << once.message;
  EXPECT_EQ(once.message, uploaded_again);
  EXPECT_EQ(uploads, 4) << "warm-up, which finds one stage, and three samples";
  ASSERT_EQ(once.stages.size(), 1u);
  EXPECT_EQ(once.stages.front().seconds, once.seconds_median);
  for (const auto field : {&io::Record::residual_ratio, &io::Record::backward_error,
                           &io::Record::forward_error, &io::Record::reference_difference})
    EXPECT_EQ(once.*field, twice.*field);
  EXPECT_EQ(once.reference_difference, 0);
  EXPECT_EQ(once.reference_method, "lapack");
  EXPECT_GT(once.reference_seconds, 0);
  EXPECT_EQ(once.samples, 3);
  EXPECT_EQ(once.stages.size(), twice.stages.size());
  trial.sampling.warmup = 0;
  run(bytes_of_a * 3 / 2);
  EXPECT_EQ(uploads, 4) << "three samples, and one run for the stages";
}

TEST_F(RoomOnADevice, RunsNoReferenceIfThePlanWantsNone) {
  trial.has_reference = false;
  const io::Record record = run(8 * bytes_of_a);
  EXPECT_EQ(record.status, "pass") << record.message;
  EXPECT_EQ(record.reference_method, "lapack") << "summary's speedups are over lapack's own trial";
  EXPECT_TRUE(std::isnan(record.reference_seconds));
  EXPECT_TRUE(std::isnan(record.reference_difference));
}

TEST_F(RoomOnADevice, CopiesPinnedOperandsDirectlyIfUploadedOnce) {
  const io::Record pageable = run(3 * bytes_of_a);
  EXPECT_EQ(pageable.host_memory, "pageable");
  trial.pinned = true;
  const io::Record pinned = run(3 * bytes_of_a);
  EXPECT_EQ(pinned.status, "pass") << pinned.message;
  EXPECT_EQ(pinned.message, "");
  EXPECT_EQ(pinned.host_memory, "pinned");
  EXPECT_EQ(uploads, 0) << "pinned operands use the plain copy";
  EXPECT_GT(pinned.h2d_seconds, 0);
  EXPECT_GT(pinned.d2h_seconds, 0);
  const io::Record again = run(bytes_of_a * 3 / 2);
  EXPECT_EQ(again.status, "pass") << again.message;
  EXPECT_EQ(again.host_memory, "pageable");
  EXPECT_EQ(again.message, std::string(uploaded_again) + "; " + not_pinned);
  for (const auto field : {&io::Record::residual_ratio, &io::Record::backward_error,
                           &io::Record::forward_error, &io::Record::reference_difference}) {
    EXPECT_EQ(pinned.*field, pageable.*field);
    EXPECT_EQ(again.*field, pageable.*field);
  }
  memory_to_pin = false;
  EXPECT_THROW(run(3 * bytes_of_a), NoPinnedMemory) << "oom instead of another upload";
}

TEST_F(RoomOnADevice, LibraryWorkspaceMayLeaveRoomForOneCopyOnly) {
  const auto takes_more = [](Context& context, Operands<double>& op, const Parameters& parameters) {
    const Buffer more(context.device, bytes_of_a);
    builtin_registry().find(Problem::named("gesv"), "lapack")->host.float64(context, op, parameters);
  };
  Method greedy = *registry.find(Problem::named("gesv"), "own");
  greedy.variant = trial.method = "greedy";
  greedy.emulated.float64 = takes_more;
  registry.add(greedy);
  const io::Record twice = run(bytes_of_a * 7 / 2);
  EXPECT_EQ(twice.message, "");
  const io::Record once = run(bytes_of_a * 5 / 2);
  EXPECT_EQ(once.status, "pass") << once.message;
  EXPECT_EQ(once.message, uploaded_again);
  EXPECT_EQ(once.samples, 3);
  EXPECT_EQ(once.residual_ratio, twice.residual_ratio);
  EXPECT_THROW(run(bytes_of_a * 3 / 2), OutOfMemory);
}

TEST_F(RoomOnADevice, AnAnswerThatIsCompletedAfterItsRunFails) {
  static double* element = nullptr;
  static double right = 0;
  Method late = *registry.find(Problem::named("gesv"), "own");
  late.variant = trial.method = "late";
  late.emulated.float64 = [](Context& context, Operands<double>& op, const Parameters& parameters) {
    builtin_registry().find(Problem::named("gesv"), "lapack")->host.float64(context, op, parameters);
    element = op.b.data;
    right = *element;
    *element = 0;
  };
  ASSERT_EQ(late.answer, AnswerIn::b);
  registry.add(late);
  LimitedTotalMemory device(cpu(Backend::emulated), 3 * bytes_of_a);
  StoreWriter store{io::MatrixStore(scratch.folder())};
  Context context(device);
  Executor executor(registry, context, store, {}, [](const std::string& step) {
    if (step == "download") *element = right;
  });
  const io::Record record = executor.run(trial);
  EXPECT_EQ(record.status, "failed");
  EXPECT_NE(record.message.find("changed after the timed run"), std::string::npos) << record.message;
}

TEST_F(RoomOnADevice, SkipsOperandsThatDoNotFitOnce) {
  const io::Record record = run(bytes_of_a * 9 / 10);
  EXPECT_EQ(record.status, "skipped");
  EXPECT_EQ(record.message, "needs 77.0 KiB of host memory; 64.8 KiB of 64.8 KiB are free");
  EXPECT_EQ(uploads, 0);
}

TEST_F(RoomOnADevice, SeveralRunsBetweenTwoEventsNeedOneCopyEach) {
  trial.inner_repeats = 2;
  const io::Record record = run(bytes_of_a * 3 / 2);
  EXPECT_EQ(record.status, "skipped");
  EXPECT_EQ(record.message.find("uploaded again"), std::string::npos) << record.message;
}

/// Runs consecutive trials in one worker, on a device with room for all of them.
class TrialsOfOneMatrix : public RoomOnADevice {
 protected:
  io::Record run_on(const std::string& method) {
    trial.method = method;
    trial.parameters = defaults_of(*registry.find(trial.problem, method));
    io::Record record = executor.run(trial);
    EXPECT_EQ(record.status, "pass") << method << ": " << record.message;
    EXPECT_GT(record.h2d_seconds, 0);
    return record;
  }
  TightDevice device{40 * bytes_of_a, true};
  StoreWriter store{io::MatrixStore(scratch.folder())};
  Context context{device};
  Executor executor{registry, context, store, {}, [](const std::string&) {}};
};

TEST_F(TrialsOfOneMatrix, UploadItOnce) {
  const io::Record first = run_on("own"), second = run_on("own");
  EXPECT_EQ(device.uploads, 1);
  EXPECT_EQ(second.h2d_seconds, first.h2d_seconds) << "the time of the upload";
  EXPECT_EQ(second.residual_ratio, first.residual_ratio);
  const io::Record by_rows = run_on("gauss_jordan_shared"), again = run_on("own");
  EXPECT_GT(by_rows.h2d_seconds, first.h2d_seconds) << "converted on the device";
  EXPECT_EQ(again.residual_ratio, first.residual_ratio);
  trial.problem = Problem::named("getrf");
  run_on("fixed_point");
  EXPECT_EQ(device.uploads, 1) << "another problem's A is the same";
  trial.matrix.digest = "another";
  trial.matrix.spec.seed = 4;
  run_on("fixed_point");
  EXPECT_EQ(device.uploads, 2);
}

TEST_F(TrialsOfOneMatrix, UploadItAgainWhenPinningChanges) {
  const io::Record first = run_on("own");
  trial.pinned = true;
  EXPECT_EQ(run_on("own").residual_ratio, first.residual_ratio);
  trial.pinned = false;
  run_on("own");
  EXPECT_EQ(device.uploads, 2);
}

TEST_F(TrialsOfOneMatrix, UploadItAgainIfAMethodWroteIntoIt) {
  device.first_of_a = nullptr;
  Method spoiler = *registry.find(Problem::named("gesv"), "own");
  spoiler.variant = "spoiler";
  static double* pristine = nullptr;
  spoiler.emulated.float64 = [](Context& context, Operands<double>& op, const Parameters& parameters) {
    builtin_registry().find(Problem::named("gesv"), "lapack")->host.float64(context, op, parameters);
    pristine[GappedLayout::first_offset / sizeof(double) + 5] += 1;
  };
  registry.add(spoiler);
  const io::Record first = run_on("own");
  pristine = static_cast<double*>(device.first_of_a);
  run_on("own");
  EXPECT_EQ(device.uploads, 1);
  trial.sampling.warmup = 0;
  trial.sampling.min_samples = trial.sampling.max_samples = 1;
  trial.stages = Stages::never;
  run_on("spoiler");
  EXPECT_EQ(run_on("own").residual_ratio, first.residual_ratio);
  EXPECT_EQ(device.uploads, 2);
}

TEST_F(TrialsOfOneMatrix, AreMarkedSuspectAbovePeakExceptVendorMethods) {
  Peaks low;
  low.gemm_flops_double = 1;
  executor.set_peaks(low);
  EXPECT_EQ(run_on("own").timing, "suspect");
  trial.backend = Backend::host;
  trial.method = "lapack";
  trial.parameters = {};
  EXPECT_EQ(executor.run(trial).timing, "");
  trial.method = "gauss_pivot_serial";
  EXPECT_EQ(executor.run(trial).timing, "suspect");
}

// Resident data of earlier trials are freed if a trial needs the memory.
TEST_F(TrialsOfOneMatrix, FreeItForALargerOne) {
  run_on("own");
  EXPECT_GE(device.held(), bytes_of_a);
  trial.matrix.digest = "larger";
  // 20 times as many elements: the device has room for one copy only
  trial.matrix.spec.rows = trial.matrix.spec.cols = 430;
  trial.shape = {430, 430, 430, 1, Uplo::lower};
  trial.stages = Stages::never;
  EXPECT_EQ(run_on("own").message, uploaded_again);
}

}  // namespace
}  // namespace gaussweep::driver
