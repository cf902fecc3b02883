// Tests whether a trial fits into the memory of its device and host.

#include "driver/worker/admission.hpp"

#include <limits>

#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Fit, DoesNotDependOnMemoryOfOtherProcesses) {
  EXPECT_EQ(fit_of(10, 10, 100), Fit::fits);
  EXPECT_EQ(fit_of(11, 10, 100), Fit::not_now) << "it would fit on an otherwise idle GPU";
  EXPECT_EQ(fit_of(90, 10, 100), Fit::not_now);
  EXPECT_EQ(fit_of(91, 10, 100), Fit::never) << "the driver and its libraries take a tenth";
  EXPECT_EQ(fit_of(95, 96, 100), Fit::fits) << "free memory overrides the rule";
}

constexpr double gibibyte = 0x1p30;

class AdmissionOfATrial : public testing::Test {
 protected:
  const Method& method(const char* problem, const char* variant) const {
    return *registry.find(Problem::named(problem), variant);
  }
  Trial trial(const Method& method_row, std::int64_t n, Backend backend = Backend::cuda) const {
    Trial trial;
    trial.problem = method_row.problem;
    trial.method = method_row.variant;
    trial.backend = backend;
    trial.shape = {n, n, n, 1, Uplo::lower};
    trial.parameters = defaults_of(method_row);
    trial.matrix.kind = "uniform";
    return trial;
  }
  const Registry registry = builtin_registry();
  const double matrix_gib = 80e9 / gibibyte;  ///< GiB of a matrix of order 100,000
  const FreeMemory h200{"NVIDIA H200", 139.2 * gibibyte, 139.8 * gibibyte, {128 * gibibyte, 120 * gibibyte}};
};

TEST_F(AdmissionOfATrial, FitsOrder100000OnAnH200) {
  const Method& gesv = method("gesv", "cusolver");
  const Admission once = admit(gesv, trial(gesv, 100'000), h200);
  EXPECT_EQ(once.fit, Fit::fits) << once.reason;
  EXPECT_EQ(once.pristine, Pristine::on_host);
  EXPECT_NE(once.reason.find("the device has room for them once"), std::string::npos) << once.reason;
  const Admission twice = admit(gesv, trial(gesv, 90'000), h200);
  EXPECT_EQ(twice.fit, Fit::fits);
  EXPECT_EQ(twice.pristine, Pristine::on_device);
  EXPECT_EQ(twice.reason, "");
  const Admission never = admit(gesv, trial(gesv, 140'000), h200);
  EXPECT_EQ(never.fit, Fit::never);
  EXPECT_EQ(never.reason,
            "needs 292.1 GiB of GPU memory, 146.0 GiB with its operands uploaded again for every run; "
            "139.2 GiB are free on NVIDIA H200");
  // Verifying an inverse needs A in addition to the inverse.
  const Method& geinv = method("geinv", "cusolver");
  EXPECT_EQ(admit(geinv, trial(geinv, 100'000), h200).fit, Fit::never);
}

TEST_F(AdmissionOfATrial, NamesASmallerHost) {
  const Method& gesv = method("gesv", "cusolver");
  FreeMemory memory = h200;
  memory.host = {64 * gibibyte, 60 * gibibyte};
  const Admission never = admit(gesv, trial(gesv, 100'000), memory);
  EXPECT_EQ(never.fit, Fit::never);
  EXPECT_EQ(never.reason, "needs 74.5 GiB of host memory; 60.0 GiB of 64.0 GiB are free");
  memory.host.limit = 128 * gibibyte;
  EXPECT_EQ(admit(gesv, trial(gesv, 100'000), memory).fit, Fit::not_now);
}

TEST_F(AdmissionOfATrial, DoesNotWaitForMemoryOfOthersIfOneCopyFits) {
  const Method& gesv = method("gesv", "cusolver");
  FreeMemory memory = h200;
  memory.device_free = 50 * gibibyte;
  EXPECT_EQ(admit(gesv, trial(gesv, 70'000), memory).pristine, Pristine::on_host);
  memory.device_free = 20 * gibibyte;
  const Admission admission = admit(gesv, trial(gesv, 70'000), memory);
  EXPECT_EQ(admission.fit, Fit::not_now);
  EXPECT_NE(admission.reason.find("20.0 GiB are free on NVIDIA H200 of 139.8 GiB: another process holds"),
            std::string::npos)
      << admission.reason;
}

TEST_F(AdmissionOfATrial, CountsHostMemoryForInputsAndTwoAnswers) {
  const auto matrices = [&](const char* problem, const char* variant, Backend backend, Pristine pristine) {
    const Method& method_row = method(problem, variant);
    const Footprint need = footprint(method_row, trial(method_row, 100'000, backend), pristine);
    return need.host_bytes / gibibyte / matrix_gib;
  };
  EXPECT_NEAR(matrices("gesv", "cusolver", Backend::cuda, Pristine::on_device), 1, 1e-3);
  EXPECT_NEAR(matrices("geinv", "cusolver", Backend::cuda, Pristine::on_device), 3, 1e-3);
  EXPECT_NEAR(matrices("gemm", "cublas", Backend::cuda, Pristine::on_device), 4, 1e-3);
  // On the CPU the operands of the runs are in host memory too.
  EXPECT_NEAR(matrices("gesv", "lapack", Backend::host, Pristine::on_device), 3, 1e-3);
  EXPECT_NEAR(matrices("gesv", "lapack", Backend::host, Pristine::on_host), 2, 1e-3);
}

TEST_F(AdmissionOfATrial, CountsPinnedMemoryAndSkipsWithoutRoomForIt) {
  const Method& gemm = method("gemm", "cublas");
  Trial pinned = trial(gemm, 60'000);
  const auto host_matrices = [&](Pristine pristine) {
    return footprint(gemm, pinned, pristine).host_bytes / (8.0 * 60e3 * 60e3);
  };
  EXPECT_NEAR(host_matrices(Pristine::on_device), 4, 1e-3);
  pinned.pinned = true;
  EXPECT_NEAR(host_matrices(Pristine::on_device), 7, 1e-3) << "plus pinned A, B and C";
  EXPECT_NEAR(host_matrices(Pristine::on_host), 4, 1e-3);
  FreeMemory memory = h200;
  memory.device_free = memory.device_total = 300 * gibibyte;
  memory.host = {128 * gibibyte, 120 * gibibyte};
  const Admission never = admit(gemm, pinned, memory);
  EXPECT_EQ(never.fit, Fit::never);
  EXPECT_EQ(never.reason, "needs 187.8 GiB of host memory; 120.0 GiB of 128.0 GiB are free");
  memory.host = {256 * gibibyte, 250 * gibibyte};
  EXPECT_EQ(admit(gemm, pinned, memory).pristine, Pristine::on_device);
  memory.device_free = memory.device_total = 100 * gibibyte;
  EXPECT_EQ(admit(gemm, pinned, memory).reason, uploaded_again);
  Trial on_cpu = trial(method("gesv", "lapack"), 6000, Backend::host);
  on_cpu.pinned = true;
  const FreeMemory cpu{"CPU", 100 * gibibyte, 128 * gibibyte, {128 * gibibyte, 100 * gibibyte}};
  EXPECT_EQ(admit(method("gesv", "lapack"), on_cpu, cpu).pristine, Pristine::on_device);
}

TEST_F(AdmissionOfATrial, OnTheCpuLargeInputsAreNotCopied) {
  const Method& gesv = method("gesv", "lapack");
  const FreeMemory cpu{"CPU", 100 * gibibyte, 128 * gibibyte, {128 * gibibyte, 100 * gibibyte}};
  const Admission large = admit(gesv, trial(gesv, 6000, Backend::host), cpu);
  EXPECT_EQ(large.pristine, Pristine::on_host);
  EXPECT_EQ(large.reason, "") << "no upload on the CPU";
  EXPECT_EQ(admit(gesv, trial(gesv, 5000, Backend::host), cpu).pristine, Pristine::on_device);
}

TEST_F(AdmissionOfATrial, OnTheCpuNamesTheHostMemory) {
  const Method& gesv = method("gesv", "lapack");
  const Trial large = trial(gesv, 60'000, Backend::host);
  FreeMemory cpu{"", 22.4 * gibibyte, 30 * gibibyte, {30 * gibibyte, 22.4 * gibibyte}};
  const Admission never = admit(gesv, large, cpu);
  EXPECT_EQ(never.fit, Fit::never);
  EXPECT_EQ(never.reason, "needs 53.6 GiB of host memory; 22.4 GiB of 30.0 GiB are free");
  cpu.host.limit = cpu.device_total = 128 * gibibyte;
  EXPECT_EQ(admit(gesv, large, cpu).fit, Fit::not_now);
  // The vendor's run that a trial is compared with: its host memory was checked before.
  cpu.host = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  EXPECT_EQ(admit(gesv, large, cpu).reason, "needs 26.8 GiB of host memory; 22.4 GiB of 128.0 GiB are free");
}

TEST_F(AdmissionOfATrial, SeveralOverwritingRunsKeepTheirInputsOnTheDevice) {
  const Method& gesv = method("gesv", "cusolver");
  Trial repeated = trial(gesv, 100'000);
  repeated.inner_repeats = 2;
  EXPECT_FALSE(can_upload_again(gesv, repeated));
  EXPECT_EQ(admit(gesv, repeated, h200).fit, Fit::never);
  const Method& gemm = method("gemm", "cublas");
  EXPECT_TRUE(can_upload_again(gemm, repeated));
  EXPECT_FALSE(uploading_again_saves_memory(gesv, repeated));
  EXPECT_TRUE(uploading_again_saves_memory(gesv, trial(gesv, 100'000)));
  const Method& getrf = method("getrf", "cusolver");
  EXPECT_FALSE(uploading_again_saves_memory(getrf, trial(getrf, 100'000)))
      << "verification needs A and the factors";
}

}  // namespace
}  // namespace gaussweep::driver
