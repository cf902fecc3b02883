// Tests a worker's verification on the emulated device, with the calls that it makes on a GPU.

#include "driver/judge/judge_answer.hpp"
#include "kernels/check/device_reductions.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/kernels/short_of_memory.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Trial trial_of(Problem problem, std::int64_t n) {
  Trial trial;
  trial.problem = problem;
  trial.shape = {n, n, n, 1, Uplo::lower};
  trial.tolerance = default_tolerance(problem);
  trial.key = "a key";
  return trial;
}

TEST(Verdict, CpuAlsoVerifiesSmallTrialsAndOneInAHundred) {
  EXPECT_TRUE(is_verified_twice(trial_of(Problem::named("geinv"), 128)));
  int larger_count = 0, largest_count = 0, large_system_count = 0;
  for (int k = 0; k < 20000; ++k) {
    Trial trial = trial_of(Problem::named("geinv"), 129);
    trial.key = "key " + std::to_string(k);
    larger_count += is_verified_twice(trial);
    trial.shape.n = 16384;
    largest_count += is_verified_twice(trial);  // the CPU would take minutes
    trial.problem = Problem::named("gesv");
    large_system_count += is_verified_twice(trial);
  }
  EXPECT_NEAR(larger_count, 200, 60);
  EXPECT_EQ(largest_count, 0);
  EXPECT_EQ(large_system_count, larger_count);
  Trial product = trial_of(Problem::named("gemm"), 4);
  product.shape.k = 200;
  EXPECT_FALSE(is_verified_twice(product));
}

TEST(Verdict, VerificationsDisagreeBeyondTheirBoundsOrInTheVerdict) {
  const Trial trial = trial_of(Problem::named("geinv"), 64);  // tolerance 30
  const auto findings = [](double ratio, double bound, const char* flaw = "") {
    Findings found{};
    found.ratio = ratio;
    found.ratio_bound = bound;
    found.flaw = flaw;
    return found;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(disagreement(trial, findings(2, 0), findings(2, 0)), "");
  EXPECT_EQ(disagreement(trial, findings(2, 1e-4), findings(2.0001, 1e-4)), "");
  EXPECT_EQ(disagreement(trial, findings(infinity, 0, "NaN"), findings(infinity, 0, "NaN")), "");
  const std::string words = disagreement(trial, findings(2, 1e-4), findings(2.5, 1e-4));
  EXPECT_NE(words.find("residual ratio 2 on the GPU"), std::string::npos) << words;
  EXPECT_NE(words.find("residual ratio 2.5 on the CPU"), std::string::npos) << words;
  EXPECT_NE(disagreement(trial, findings(30, 1), findings(30.5, 1)), "");  // pass and suspect
  EXPECT_NE(disagreement(trial, findings(2, 0), findings(infinity, 0, "NaN")), "");
  EXPECT_NE(disagreement(trial, findings(std::nan(""), 0), findings(2, 0)), "");
}

class VerdictInPlace : public testing::Test {
 protected:
  static constexpr std::int64_t n = 40;
  void SetUp() override {
    staging.upload(inputs);
    staging.reset();
    digest = device_digest(context, staging.pristine().data(), staging.pristine().bytes());
    Operands<double> operands = staging.operands(0);
    method.emulated.float64(context, operands, defaults(method));
    answer = staging.download(0);
  }
  VerifiedAnswer verdict() {
    return AnswerVerifier(context, trial, method, inputs, digest).in_place(answer, staging, 0);
  }
  const Registry registry = builtin_registry();
  const Method& method = *registry.find(Problem::named("gesv"), "gauss_jordan_shared");
  const Trial trial = trial_of(Problem::named("gesv"), n);
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context{*device};
  const Inputs<double> inputs =
      make_inputs<double>(Problem::named("gesv"), trial.shape, MatrixKind::diagonally_dominant);
  Staging<double> staging{*device, method, defaults(method), trial.shape, 1};
  std::uint64_t digest = 0;
  Answer<double> answer;
};

TEST_F(VerdictInPlace, EqualsTheCpus) {
  const VerifiedAnswer found = verdict();
  EXPECT_EQ(found.disagreement, "");
  EXPECT_EQ(found.findings.ratio, check(method, inputs, answer, trial.tolerance).ratio);
  EXPECT_LE(found.findings.ratio, trial.tolerance);
}

TEST_F(VerdictInPlace, OfACpuAnswerEqualsTheCpus) {
  const VerifiedAnswer found = AnswerVerifier(context, trial, method, inputs).by_upload(answer);
  EXPECT_EQ(found.disagreement, "");
  EXPECT_EQ(found.findings.ratio, check(method, inputs, answer, trial.tolerance).ratio);
}

TEST_F(VerdictInPlace, IsTheCpusIfTheDeviceHasNoRoom) {
  LimitedAllocation full(cpu(Backend::emulated), 0);
  Context without_room(full);
  const VerifiedAnswer found = AnswerVerifier(without_room, trial, method, inputs).by_upload(answer);
  EXPECT_GT(full.refused, 0);
  EXPECT_EQ(found.disagreement, "");
  EXPECT_EQ(found.findings.ratio, check(method, inputs, answer, trial.tolerance).ratio);
}

// If it used them, a method that overwrites the pristine inputs would be verified with the overwritten ones.
TEST_F(VerdictInPlace, DoesNotUseChangedInputs) {
  device->fill(const_cast<double*>(staging.pristine_a().data), 0, inputs.a.data.size() * sizeof(double));
  const VerifiedAnswer found = verdict();
  EXPECT_EQ(found.disagreement, "");
  EXPECT_EQ(found.findings.ratio, check(method, inputs, answer, trial.tolerance).ratio);
}

TEST(VerdictOfABatch, NamesEverySystemThatDoesNotPass) {
  const Registry registry = builtin_registry();
  const Method& method = *registry.find(Problem::named("gesv"), "batched");
  Trial trial = trial_of(Problem::named("gesv"), 8);
  trial.shape.batch = 1000;
  Inputs<double> inputs = make_inputs<double>(trial.problem, trial.shape, MatrixKind::diagonally_dominant);
  for (const std::int64_t s : {17, 500}) {
    for (std::int64_t i = 0; i < 8; ++i) inputs.a(i, s * 8 + 2) = 0;
  }
  inputs.a(4, 40 * 8 + 6) = std::nan("");
  const auto device = cpu(Backend::emulated);
  Context context(*device);
  Answer<double> answer = run_method(context, method, inputs, defaults(method));
  answer.x(5, 77) *= 1 + 1e-8;
  const VerifiedAnswer found = AnswerVerifier(context, trial, method, inputs).systems(answer);
  EXPECT_EQ(found.systems.pass, 996);
  EXPECT_EQ(found.systems.suspect, 0);
  EXPECT_EQ(found.systems.failed, 4);
  EXPECT_EQ(found.systems.first_failure, 17);
  EXPECT_EQ(found.systems.description,
            "the worst of 1000 systems is 17; 0 suspect, 4 failed: 40 (NaN or Inf); 77 (residual); 17, 500 "
            "(zero pivot)");
  EXPECT_EQ(found.info, 3);
  answer = run_method(context, method, make_inputs<double>(trial.problem, trial.shape, MatrixKind::cauchy),
                      defaults(method));
  inputs = make_inputs<double>(trial.problem, trial.shape, MatrixKind::cauchy);
  EXPECT_EQ(AnswerVerifier(context, trial, method, inputs).systems(answer).systems.description, "");
}

/// Batches of odd order with injected faults: `singular`, `not_finite` and `damaged` are numbers of systems.
class VerdictOfABatchInPlace : public testing::Test {
 protected:
  static constexpr std::int64_t n = 7;
  void solve(const char* problem, std::int64_t batch, const char* variant = "batched") {
    method = registry.find(Problem::named(problem), variant);
    trial = trial_of(method->problem, n);
    trial.shape.batch = batch;
    inputs = make_inputs<double>(trial.problem, trial.shape, kind_for(trial.problem), 3);
    inject_faults();
    staging.emplace(*device, *method, defaults(*method), trial.shape, 1);
    staging->upload(inputs);
    staging->reset();
    digest = device_digest(context, staging->pristine().data(), staging->pristine().bytes());
    Operands<double> operands = staging->operands(0);
    method->emulated.float64(context, operands, defaults(*method));
    const Extent one = trial.problem->x(trial.shape.single());
    for (const std::int64_t s : damaged) {
      const_cast<double*>(staging->answer(0).data)[s * one.rows * one.cols + 5] *= 1 + 1e-8;
    }
    answer = staging->download(0);
  }
  void inject_faults() {
    for (const std::int64_t s : singular) {
      for (std::int64_t i = 0; i < n; ++i) inputs.a(i, s * n + 2) = inputs.a(2, s * n + i) = 0;
    }
    for (const std::int64_t s : not_finite) inputs.a(6, s * n + 4) = inputs.a(4, s * n + 6) = std::nan("");
  }
  AnswerVerifier<double> judge() { return {context, trial, *method, inputs, digest}; }
  VerifiedAnswer in_place() { return judge().systems_in_place(answer, *staging, 0); }
  void expect_verdict_of_cpu() {
    const VerifiedAnswer on_device = in_place(), on_cpu = judge().systems(answer);
    EXPECT_EQ(on_device.disagreement, "");
    EXPECT_EQ(on_device.systems.pass, on_cpu.systems.pass);
    EXPECT_EQ(on_device.systems.suspect, on_cpu.systems.suspect);
    EXPECT_EQ(on_device.systems.failed, on_cpu.systems.failed);
    EXPECT_EQ(on_device.systems.first_failure, on_cpu.systems.first_failure);
    EXPECT_EQ(on_device.systems.description, on_cpu.systems.description);
    EXPECT_EQ(on_device.findings.ratio, on_cpu.findings.ratio);
    EXPECT_EQ(on_device.findings.flaw, on_cpu.findings.flaw);
    EXPECT_EQ(on_device.info, on_cpu.info);
  }
  const Registry registry = builtin_registry();
  const Method* method = nullptr;
  Trial trial;
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context{*device};
  Inputs<double> inputs;
  std::optional<Staging<double>> staging;
  std::uint64_t digest = 0;
  Answer<double> answer;
  std::vector<std::int64_t> singular, not_finite, damaged;
};

TEST_F(VerdictOfABatchInPlace, NamesTheSystemsThatTheCpuNames) {
  singular = {17, 500, 999};
  not_finite = {40, 41};
  damaged = {77, 640};
  for (const char* problem : {"gesv", "getrf", "potrf", "posv", "geinv"}) {
    SCOPED_TRACE(problem);
    solve(problem, 1000);
    expect_verdict_of_cpu();
    EXPECT_EQ(in_place().systems.first_failure, std::string(problem) == "getrf" ? 40 : 17);
  }
  solve("gesv", 1000);
  EXPECT_EQ(in_place().systems.description,
            "the worst of 1000 systems is 17; 0 suspect, 7 failed: 40, 41 (NaN or Inf); 77, 640 (residual); "
            "17, 500, 999 (zero pivot)");
}

TEST_F(VerdictOfABatchInPlace, ErrorIsTheLargestOfAllSystems) {
  not_finite = {3};
  damaged = {640};
  solve("gesv", 1000);
  double largest = 0;
  for (const Findings& found : check_systems(*method, inputs, answer, trial.tolerance)) {
    if (std::isfinite(found.forward_error)) largest = std::max(largest, found.forward_error);
  }
  EXPECT_GT(largest, 1e-10);
  EXPECT_NEAR(in_place().findings.forward_error, largest, 1e-12 * largest);
  EXPECT_NEAR(judge().systems(answer).findings.forward_error, largest, 1e-12 * largest);
  EXPECT_EQ(in_place().systems.first_failure, 3);
}

TEST_F(VerdictOfABatchInPlace, HandlesMoreFaultsThanItNames) {
  for (std::int64_t s = 0; s < 1000; s += 3) damaged.push_back(s);
  solve("gesv", 1000);
  expect_verdict_of_cpu();
  EXPECT_EQ(in_place().systems.failed, 334);
}

TEST_F(VerdictOfABatchInPlace, ElementsBeyondTheDevicesRangeGoToTheCpu) {
  solve("gesv", 400);
  for (std::int64_t i = 0; i < n; ++i) inputs.b(i, 399) *= 0x1p300;
  staging->upload(inputs);
  digest = device_digest(context, staging->pristine().data(), staging->pristine().bytes());
  expect_verdict_of_cpu();
  EXPECT_EQ(in_place().systems.first_failure, 399);
}

TEST_F(VerdictOfABatchInPlace, ChangedInputsGoToTheCpu) {
  damaged = {390};
  solve("gesv", 400);
  device->fill(const_cast<double*>(staging->pristine_a().data), 0, inputs.a.data.size() * sizeof(double));
  expect_verdict_of_cpu();
}

TEST_F(VerdictOfABatchInPlace, DisagreementIsAnError) {
  solve("gesv", 1000);
  answer.x(n - 1, 500) *= 1.001;  // one of the systems that the CPU verifies too
  const VerifiedAnswer found = in_place();
  EXPECT_EQ(found.systems.failed, 0);
  EXPECT_NE(found.disagreement.find("system 500: two verifications of one answer disagree"),
            std::string::npos)
      << found.disagreement;
}

TEST_F(VerdictInPlace, ADifferentAnswerOnTheHostIsAnError) {
  answer.x(n - 1, 0) *= 1.001;
  const VerifiedAnswer found = verdict();
  EXPECT_LE(found.findings.ratio, trial.tolerance);
  EXPECT_NE(found.disagreement.find("two verifications of one answer disagree"), std::string::npos);
}

}  // namespace
}  // namespace gaussweep::driver
