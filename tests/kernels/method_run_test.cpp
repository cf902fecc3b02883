// Tests that every run gets unchanged inputs, whether their pristine copy is on the device or on the host.

#include "kernels/staging/method_run.hpp"

#include "kernels/gaussweep.hpp"
#include "tests/kernels/guarded_runs.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Returns a row's answer in the second of two timed runs.
Answer<double> second_answer(Context& context, const Method& method, const Inputs<double>& inputs,
                             const Parameters& parameters, Pristine pristine, bool pinned = false) {
  MethodRun<double> run(context, method, context.device.backend(), parameters, inputs.shape, 1, pristine);
  if (pinned) {
    run.stage_pinned(inputs);
    run.upload_pinned();
  } else {
    run.upload(inputs);
  }
  run.warm_up();
  run.timed_run();
  run.timed_run();
  if (!pinned) return run.download();
  run.download_pinned();
  return run.pinned_answer();
}

/// Calls `visit(method, backend, shape, parameters)` for every row of this build, as a sweep runs it.
template <class Visit>
int for_rows(Visit&& visit) {
  int rows = 0;
  for (const Method& method : registry().all()) {
    const Backend backend = method.runs_on(Backend::host) ? Backend::host : Backend::emulated;
    if (!method.runs_on(backend) || method.entry(backend).float64 == nullptr) continue;
    for (const Shape& shape : shapes(method, 33)) {
      const Parameters parameters = parameter_grid(method, {3}).front();
      if (method.accepts == nullptr || method.accepts(shape, parameters))
        visit(method, backend, shape, parameters);
    }
    ++rows;
  }
  return rows;
}

TEST(MethodRun, UploadedAndLaidOutOperandsGiveTheSameAnswer) {
  const int rows =
      for_rows([](const Method& method, Backend backend, const Shape& shape, const Parameters& parameters) {
        const auto device = cpu(backend);
        Context context(*device);
        const Inputs<double> inputs =
            make_inputs<double>(method.problem, shape, fit_kinds(method, parameters).front());
        const Answer<double> expected =
            second_answer(context, method, inputs, parameters, Pristine::on_device);
        for (const bool pinned : {false, true}) {
          const Answer<double> answer = second_answer(
              context, method, inputs, parameters, pinned ? Pristine::on_device : Pristine::on_host, pinned);
          ASSERT_EQ(answer.x.data.size(), expected.x.data.size()) << method.id();
          EXPECT_EQ(std::memcmp(answer.x.data.data(), expected.x.data.data(), 8 * answer.x.data.size()), 0)
              << method.id();
          EXPECT_EQ(answer.pivots, expected.pivots) << method.id();
          EXPECT_EQ(answer.info, expected.info) << method.id();
        }
      });
  EXPECT_GT(rows, 20);
}

TEST(MethodRun, CorrectMethodsRepeatTheirBitsForBothSigns) {
  const int rows =
      for_rows([](const Method& method, Backend backend, const Shape& shape, const Parameters& parameters) {
        SCOPED_TRACE(method.id());
        const auto device = cpu(backend);
        Context context(*device);
        expect_honest<double>(context, method, shape, parameters);
      });
  EXPECT_GT(rows, 20);
}

/// Programs call run() directly after upload(), also with new inputs (docs/library.md).
TEST(MethodRun, RunsOnTheInputsOfTheLastUpload) {
  for (const char* variant : {"lapack", "gauss_pivot_serial"}) {
    CpuContext context(Backend::host);
    const Method& method = *registry().find(Problem::named("gesv"), variant);
    Inputs<double> system{{2, 2, 2, 1}, {2, 2}, {2, 1}, {}};
    system.a(0, 0) = 2, system.a(1, 1) = 4, system.b(0, 0) = 6, system.b(1, 0) = 8;
    MethodRun<double> run(context, method, Backend::host, defaults(method), system.shape);
    run.upload(system);
    run.run();
    EXPECT_EQ(run.download().x(0, 0), 3) << variant;
    run.warm_up();
    system.b(0, 0) = 60;
    run.upload(system);
    run.queue(1, false);  // leaves negated operands
    run.upload(system);
    run.run();
    EXPECT_EQ(run.download().x(0, 0), 30) << variant;
    run.warm_up();
    system.b(0, 0) = 600;
    run.stage_pinned(system);
    run.upload_pinned();
    run.run();
    run.download_pinned();
    EXPECT_EQ(run.pinned_answer().x(0, 0), 300) << variant;
  }
}

TEST(MethodRun, RunsOnAnyWorkingSetAndWithoutPristineInputs) {
  CpuContext context(Backend::host);
  const Method& method = *registry().find(Problem::named("gesv"), "lapack");
  Inputs<double> system{{2, 2, 2, 1}, {2, 2}, {2, 1}, {}};
  system.a(0, 0) = 2, system.a(1, 1) = 4, system.b(0, 0) = 6, system.b(1, 0) = 8;
  MethodRun<double> twice(context, method, Backend::host, defaults(method), system.shape, /*repeats=*/2);
  twice.upload(system);
  twice.run(1);
  EXPECT_EQ(twice.download(1, nullptr).x(0, 0), 3);
  MethodRun<double> once(context, method, Backend::host, defaults(method), system.shape, /*repeats=*/1,
                         Pristine::on_host);
  once.upload(system);
  once.run();
  EXPECT_EQ(once.download().x(0, 0), 3);
}

TEST(MethodRun, RefusesASecondRunWithoutPristineInputs) {
  CpuContext context(Backend::host);
  const auto make = [&](const char* problem, const char* variant, std::int64_t repeats) {
    const Method& method = *registry().find(Problem::named(problem), variant);
    return MethodRun<double>(context, method, Backend::host, defaults(method), {9, 9, 9, 1, Uplo::lower},
                             repeats, Pristine::on_host);
  };
  EXPECT_THROW(make("gesv", "lapack", 2), std::invalid_argument);
  EXPECT_NO_THROW(make("gesv", "lapack", 1));
  EXPECT_NO_THROW(make("gemm", "openblas", 2));
  EXPECT_FALSE(make("gemm", "openblas", 2).record());
}

/// Programs pass run_once the method that a rule names (docs/rule.md), also one that runs only on the CPU.
TEST(RunOnce, ChoosesABackendThatTheMethodHas) {
  Inputs<double> system{{2, 2, 2, 1}, {2, 2}, {2, 1}, {}};
  system.a(0, 1) = 2, system.a(1, 0) = 4, system.b(0, 0) = 6, system.b(1, 0) = 8;
  for (const char* method : {"recursive", "lapack", "gauss_pivot_serial"}) {
    const Answer<double> answer = run_once("gesv", method, system);
    EXPECT_EQ(answer.x(0, 0), 2) << method;
    EXPECT_EQ(answer.x(1, 0), 3) << method;
  }
  EXPECT_EQ(run_once("gesv", "batched", system, {{"kernel", std::string("rows")}}).x(1, 0), 3);
}

TEST(RunOnce, ReportsAnIterationThatDoesNotConverge) {
  const Inputs<double> system = square_inputs<double>("gesv", 30, MatrixKind::diagonally_dominant);
  const Answer<double> early = run_once("gesv", "lu_fixed_point", system, {{"max_iterations", 2}});
  EXPECT_EQ(early.info, 0);
  EXPECT_EQ(early.report.convergence, Convergence::max_iterations);
  EXPECT_EQ(early.report.iterations, 2);
  EXPECT_EQ(run_once("gesv", "lu_fixed_point", system).report.convergence, Convergence::converged);
  EXPECT_EQ(run_once("gesv", "lapack", system).report.convergence, Convergence::none);
}

TEST(RunOnce, NamesWhatItCannotRun) {
  const Inputs<double> system{{2, 2, 2, 1}, {2, 2}, {2, 1}, {}};
  const auto message = [&](const char* problem, const char* variant,
                           const std::map<std::string, ParameterValue>& changes = {}) {
    return message_of<std::invalid_argument>([&] { run_once(problem, variant, system, changes); });
  };
  EXPECT_THAT(message("gesvv", "lapack"), testing::HasSubstr("no problem 'gesvv'"));
  EXPECT_THAT(message("gesv", "lapak"), testing::HasSubstr("gesv/lapak: no such method"));
  EXPECT_THAT(message("gesv", "lapack", {{"block", 2.0}}), testing::HasSubstr("no parameter 'block'"));
  const Registry registry = builtin_registry();
  const Method* method = registry.find(Problem::named("gesv"), "mixed_gmres");
  if (cuda_device_count() > 0 || method == nullptr) return;
  EXPECT_THAT(message("gesv", "mixed_gmres"),
              testing::HasSubstr(method->runs_on(Backend::cuda) ? "gesv/mixed_gmres needs a GPU"
                                                                : "gesv/mixed_gmres does not run on"));
}

}  // namespace
}  // namespace gaussweep
