// Tests runs that are recorded as CUDA graphs: they have the bits of ordinary runs, and their kernels are
// counted.

#include "kernels/core/errors.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/twins.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

using RecordingOnGpu = OnGpu;

TEST_F(RecordingOnGpu, RecordedRunHasTheSameBits) {
  const Shape shape{200, 200, 200, 1, Uplo::lower};
  const Inputs<double> inputs = make_inputs<double>(Problem::named("trsv"), shape, MatrixKind::triangular);
  const Method& method = row_of("trsv/column_sweep");
  for (const bool cold : {false, true}) {
    MethodRun<double> run(*context, method, Backend::cuda, defaults(method), shape);
    if (cold) run.run_cold();
    run.upload(inputs);
    run.warm_up();
    ASSERT_GT(run.timed_run(), 0);
    const Answer<double> launched = run.download();
    ASSERT_TRUE(run.record());
    EXPECT_GT(run.recorded_kernels(), 1);
    EXPECT_GT(run.replayed_run(), 0);
    const Answer<double> replayed = run.download();
    for (std::int64_t i = 0; i < 200; ++i) EXPECT_EQ(launched.x(i, 0), replayed.x(i, 0)) << i;
  }
}

TEST_F(RecordingOnGpu, RefusesWorkThatWaitsForTheDevice) {
  EXPECT_EQ(record_work(*device, [this] { device->synchronize(); }), nullptr);
  EXPECT_EQ(record_work(*device, [this] { Buffer more(*device, 1 << 20); }), nullptr);
  // A method of a shared library returns an error number, which becomes such an exception.
  const auto waits_and_fails = [this] {
    try {
      device->synchronize();
    } catch (const DeviceError&) {
      throw std::runtime_error("error 1");
    }
  };
  EXPECT_EQ(record_work(*device, waits_and_fails), nullptr);
  EXPECT_THROW(record_work(*device, [] { throw std::invalid_argument("mine"); }), std::invalid_argument);
  double value = 3, back = 0;
  Buffer memory(*device, sizeof value);
  device->to_device(memory.data(), &value, sizeof value);
  device->to_host(&back, memory.data(), sizeof back);
  EXPECT_EQ(back, 3);
}

/// Some vendor routines wait for the device, which a recording refuses.
TEST_F(RecordingOnGpu, VendorRoutinesWorkAfterARecordingOrARefusal) {
  int recorded = 0;
  for (const Method& method : registry().all()) {
    if (!method.vendor || !method.runs_on(Backend::cuda)) continue;
    SCOPED_TRACE(method.id());
    for (const Shape& shape : shapes(method, 120)) {
      if (method.accepts != nullptr && !method.accepts(shape, defaults(method))) continue;
      const Inputs<double> inputs =
          make_inputs<double>(method.problem, shape, fit_kinds(method, /*parameters=*/{}).front());
      MethodRun<double> run(*context, method, Backend::cuda, defaults(method), shape);
      run.upload(inputs);
      run.warm_up();
      run.timed_run();
      const Answer<double> launched = run.download();
      if (run.record()) {
        ++recorded;
        EXPECT_GT(run.recorded_kernels(), 0);
        run.replayed_run();
        EXPECT_TRUE(is_right(method, inputs, run.download()));
      }
      run.timed_run();
      const Answer<double> again = run.download();
      EXPECT_TRUE(is_right(method, inputs, again));
      // Two runs of cuSOLVERMg's potrf differ in some bits.
      if (method.id() != "potrf/cusolver_mg") {
        EXPECT_TRUE(twins::same_bits(launched, again));
      }
    }
  }
  EXPECT_GT(recorded, 0);
}

TEST_F(RecordingOnGpu, CacheFlushCompletes) {
  EXPECT_GT(last_cache_bytes(*device), std::size_t{1} << 16);
  CacheFlush flush(*device);
  flush();
  device->synchronize();
}

}  // namespace
}  // namespace gaussweep
