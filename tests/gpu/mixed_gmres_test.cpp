// gesv/mixed_gmres: what it refines, and where it gives that up. Right-hand sides, zero pivots, NaN and the
// workspace are tested with all rows; here are sizes at which its parts change, and matrices for either way.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "kernels/check/check.hpp"
#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

class MixedGmres : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (cuda_device_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device = make_cuda_device(0);
    const int needed = method().capability;
    if (device->info().capability < needed) {
      GTEST_SKIP() << "needs compute capability " << needed << ", this GPU has " << device->info().capability;
    }
    context = std::make_unique<Context>(*device);
  }
  const Method& method() const { return row_of(registry, "gesv/mixed_gmres"); }

  /// compute-sanitizer takes seconds for a recursion, which the sizes below have.
  static bool small() { return std::getenv("GAUSSWEEP_SMALL") != nullptr; }
  static std::int64_t order() { return small() ? 100 : 300; }
  static Shape shape(std::int64_t n, std::int64_t nrhs = 1) { return {n, n, n, nrhs, Uplo::lower}; }
  template <class T>
  static Inputs<T> inputs_of(std::int64_t n, MatrixKind kind, std::int64_t nrhs = 1) {
    return make_inputs<T>(Problem::named("gesv"), shape(n, nrhs), kind);
  }
  static Inputs<double> conditioned(std::int64_t n, double condition, int mode) {
    Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
    MatrixSpec spec;
    spec.kind = MatrixKind::condition;
    spec.rows = spec.cols = n;
    spec.condition = condition;
    spec.mode = mode;
    inputs.a = generate<double>(spec, 1);
    inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, 1);
    return inputs;
  }
  template <class T>
  Answer<T> run(const Inputs<T>& inputs) {
    return run_method(*context, method(), inputs, defaults(method()));
  }

  /// Refined, and as right as the vendor's answer.
  template <class T>
  void expect_refined(const Inputs<T>& inputs) {
    const Answer<T> ours = run(inputs);
    const IterationReport report = context->report;
    EXPECT_EQ(report.convergence, Convergence::converged);
    EXPECT_GT(report.iterations, 0);
    EXPECT_EQ(static_cast<std::size_t>(report.iterations), report.history.size());
    EXPECT_EQ(ours.info, 0);
    const Method& vendor = row_of(registry, "gesv/cusolver");
    const double theirs = check(vendor, inputs, run_method(*context, vendor, inputs, defaults(vendor))).ratio;
    const double ratio = check(method(), inputs, ours).ratio;
    EXPECT_LE(ratio, std::max(3 * theirs, 8.0 / static_cast<double>(inputs.shape.n)));
  }
  /// Given up: the answer of gesv/recursive to the bit, and a report that claims no convergence.
  template <class T>
  void expect_direct(const Inputs<T>& inputs) {
    const Answer<T> ours = run(inputs);
    EXPECT_EQ(context->report.convergence, Convergence::none);
    EXPECT_EQ(static_cast<std::size_t>(context->report.iterations), context->report.history.size());
    const Method& recursive = row_of(registry, "gesv/recursive");
    const Answer<T> direct = run_method(*context, recursive, inputs, defaults(recursive));
    EXPECT_EQ(ours.info, direct.info);
    EXPECT_TRUE(same_values(ours, direct));
  }

  const Registry registry = builtin_registry();
  std::unique_ptr<Device> device;
  std::unique_ptr<Context> context;
};

class MixedGmresSizes : public MixedGmres, public testing::WithParamInterface<std::int64_t> {};

TEST_P(MixedGmresSizes, UniformMatricesAreRefined) {
  const std::int64_t n = GetParam();
  if (n > 300 && small()) GTEST_SKIP() << "small sizes only";
  expect_refined(inputs_of<double>(n, MatrixKind::uniform));
  expect_refined(inputs_of<float>(n, MatrixKind::uniform));
}

// 1 to 33: a panel; 256, 257: the window of pivots, and the recursion; 289: a last panel of one column beyond
// it; 600: a product by halves; 1300: exchanges of more than 512 rows; 2100: rests that are odd; 2600:
// updates through inverses.
INSTANTIATE_TEST_SUITE_P(All, MixedGmresSizes,
                         testing::Values(1, 2, 33, 256, 257, 289, 600, 1300, 2100, 2600));

TEST_F(MixedGmres, ConditionsThatFloatCanBearAreRefined) {
  expect_refined(conditioned(order(), 1e6, 3));
  expect_refined(inputs_of<double>(order(), MatrixKind::diagonally_dominant));
}

TEST_F(MixedGmres, ScalesBeyondFloatAreRefined) {
  const std::int64_t n = order();
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      inputs.a(i, j) = std::ldexp(inputs.a(i, j) - 0.5, 270 - static_cast<int>(i + j));
  }
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::converged);
  EXPECT_LE(check(method(), inputs, ours).ratio, 0.1);
}

TEST_F(MixedGmres, ConditionsBeyondFloatAreSolvedDirectly) {
  expect_direct(conditioned(order(), 1e12, 3));
  expect_direct(conditioned(order(), 1e14, 5));
  if (small()) return;
  // Seen by the pivots, before any iteration.
  expect_direct(conditioned(1000, 1e12, 3));
  EXPECT_EQ(context->report.iterations, 0);
}

/// The only pivots of the first columns lie further down than is looked.
TEST_F(MixedGmres, PivotsBeyondTheWindowAreFoundDirectly) {
  const std::int64_t n = 700;
  Inputs<double> inputs = inputs_of<double>(n, MatrixKind::uniform);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) inputs.a(i, j) = (i + n / 2) % n == j ? 2 : 0;
  }
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::none);
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(check(method(), inputs, ours).ratio, 0);
}

/// Elements that double at every step: halves end where they are infinite.
TEST_F(MixedGmres, GrowthIsSolvedDirectly) {
  expect_direct(inputs_of<double>(100, MatrixKind::wilkinson));
}

TEST_F(MixedGmres, ElementsAtTheEndOfTheRangeAreSolvedDirectly) {
  Inputs<double> inputs = inputs_of<double>(40, MatrixKind::diagonally_dominant);
  for (double& element : inputs.a.data) element = std::ldexp(element, 1000);
  expect_direct(inputs);
  EXPECT_EQ(context->report.iterations, 0);
}

TEST_F(MixedGmres, InfoIsThatOfTheDirectWay) {
  Inputs<double> inputs = inputs_of<double>(400, MatrixKind::diagonally_dominant);
  for (std::int64_t i = 0; i < 400; ++i) inputs.a(i, 350) = 0;
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(ours.info, 351);
  EXPECT_EQ(context->report.convergence, Convergence::none);
}

TEST_F(MixedGmres, EveryRightHandSideIsRefinedByItself) {
  const Inputs<double> inputs = inputs_of<double>(order(), MatrixKind::uniform, 5);
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::converged);
  EXPECT_GE(context->report.iterations, 5);
  EXPECT_LE(check(method(), inputs, ours).ratio, 0.1);
  expect_direct(inputs_of<double>(order(), MatrixKind::uniform, 9));
}

TEST_F(MixedGmres, ZeroIsTheAnswerToZero) {
  Inputs<double> inputs = inputs_of<double>(70, MatrixKind::uniform);
  std::fill(inputs.b.data.begin(), inputs.b.data.end(), 0.0);
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(context->report.convergence, Convergence::converged);
  for (const double value : ours.x.data) EXPECT_EQ(value, 0);
}

TEST_F(MixedGmres, RunsAgreeToTheBit) {
  const Inputs<double> inputs = inputs_of<double>(small() ? 100 : 600, MatrixKind::uniform);
  const Answer<double> first = run(inputs);
  const std::vector<double> history = context->report.history;
  EXPECT_TRUE(same_values(first, run(inputs)));
  EXPECT_EQ(context->report.history, history);
}

}  // namespace
}  // namespace gaussweep
