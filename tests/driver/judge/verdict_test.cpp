// Tests verdicts of real method runs: wrong answers that once passed, and right ones that once failed.

#include "driver/judge/judge.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

struct Verdict {
  Findings findings;
  std::string status, message;
};

template <class T>
Verdict verdict(Problem problem, const std::string& variant, const Inputs<T>& inputs,
                const ParameterChanges& asked = {}) {
  const Outcome<T> run = try_method(problem, variant, inputs, asked);
  const Registry registry = builtin_registry();
  const double tolerance = default_tolerance(problem);
  Verdict result;
  result.findings = check(*registry.find(problem, variant), inputs, run.answer, tolerance);
  const Evidence evidence{problem,         result.findings.ratio,  tolerance,
                          run.answer.info, run.report.convergence, result.findings.flaw};
  result.status = name_of(judge(evidence));
  result.message = finding_text(evidence);
  return result;
}

Inputs<double> uniform(std::int64_t n, double low, double high, std::uint64_t seed) {
  MatrixSpec spec;
  spec.kind = MatrixKind::uniform;
  spec.rows = spec.cols = n;
  spec.low = low;
  spec.high = high;
  spec.seed = seed;
  Inputs<double> inputs;
  inputs.shape = {n, n, n, 1, Uplo::lower};
  inputs.a = generate<double>(spec, 1);
  return inputs;
}

/// Returns the symmetric Pascal matrix: positive definite, with determinant 1.
Inputs<float> pascal(std::int64_t n) {
  Inputs<float> inputs = square<float>(n, std::vector<float>(static_cast<std::size_t>(n * n), 1));
  for (std::int64_t j = 1; j < n; ++j) {
    for (std::int64_t i = 1; i < n; ++i) inputs.a(i, j) = inputs.a(i - 1, j) + inputs.a(i, j - 1);
  }
  return inputs;
}

/// Returns MATLAB's magic(8), which has rank 3. It has the numbers 1 to 64 by rows. If row and column are
/// both 0 or 3 modulo 4, or both are not, x is replaced by 65 - x.
Inputs<double> magic_8() {
  Inputs<double> inputs = square<double>(8, std::vector<double>(64));
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::int64_t j = 0; j < 8; ++j) {
      const auto number = static_cast<double>(8 * i + j + 1);
      inputs.a(i, j) = (i % 4 == 0 || i % 4 == 3) == (j % 4 == 0 || j % 4 == 3) ? 65 - number : number;
    }
  }
  return inputs;
}

TEST(Verdict, IterationWithOverflowingNormsDoesNotPass) {
  // The matrix is indefinite, and its square overflows. Its inverse is [-0.25 0.75; 0.75 -0.25] 1e-308.
  const auto inputs = square<double>(2, {.5e308, 1.5e308, 1.5e308, .5e308});
  const Verdict found = verdict(Problem::named("poinv"), "gauss_seidel", inputs);
  EXPECT_EQ(found.status, "diverged");
  EXPECT_GT(found.findings.ratio, 1e10);
}

TEST(Verdict, IterationThatStoppedEarlyOnHugeNumbersFails) {
  const ParameterChanges early = {{"max_iterations", std::int64_t{1}}, {"start", "scaled"}};
  std::vector<double> columns;
  for (const double share : {1.0, .1, .2, .1, .1, 1.2, .1, .2, .2, .1, 1.1, .1, .1, .2, .1, 1.3}) {
    columns.push_back(share * 1e308);
  }
  auto inputs = square<double>(4, columns);
  EXPECT_EQ(verdict(Problem::named("getrf"), "fixed_point", inputs, early).status, "failed");
  inputs.b = HostMatrix<double>(4, 1);
  inputs.b.data = {1e308, 1e308, 1e308, 1e308};
  EXPECT_EQ(verdict(Problem::named("gesv"), "lu_fixed_point", inputs, early).status, "failed");
}

TEST(Verdict, ZeroOrNegativePivotFailsAndIsNamed) {
  const Verdict magic = verdict(Problem::named("geinv"), "gauss_jordan_pivot", magic_8());
  EXPECT_EQ(magic.status, "failed");
  const Verdict pascals = verdict(Problem::named("poinv"), "cholesky_gets", pascal(20));
  EXPECT_EQ(pascals.status, "failed");
  const Inputs<float> hilbert = square_inputs<float>("potrf", 12, MatrixKind::hilbert);
  const Verdict hilberts = verdict(Problem::named("potrf"), "lapack", hilbert);
  EXPECT_EQ(hilberts.status, "failed");
  Inputs<double> zero = equations<double>(2, 1, {0, 0, 0, 0, 0, 0});
  const Verdict zeros = verdict(Problem::named("gesv"), "lapack", zero);
  EXPECT_EQ(zeros.status, "failed");
  for (const Verdict& found : {magic, pascals, hilberts, zeros}) {
    EXPECT_THAT(found.message, HasSubstr("the method did not finish"));
  }
  for (const Verdict& found : {magic, zeros}) EXPECT_THAT(found.message, StartsWith("zero pivot "));
  for (const Verdict& found : {pascals, hilberts})
    EXPECT_THAT(found.message, StartsWith("non-positive pivot "));
  const Verdict factors = verdict(Problem::named("getrf"), "lapack", zero);
  EXPECT_EQ(factors.status, "pass");
  EXPECT_EQ(factors.message, "zero pivot 1: the factors exist, the matrix is singular");
}

// The exact ratios come from rational arithmetic. Sums in double gave 33 (suspect) and 384 (failed).
TEST(Verdict, RoundingOfTheCheckDecidesNothing) {
  const Verdict first = verdict(Problem::named("getrf"), "crout_serial", uniform(64, -1, 1, 53));
  EXPECT_NEAR(first.findings.ratio, 15.0199308, 1e-6);
  EXPECT_EQ(first.status, "pass");
  const Verdict second = verdict(Problem::named("getrf"), "crout_serial", uniform(100, -1, 1, 48));
  EXPECT_NEAR(second.findings.ratio, 209.0373, 1e-3);
  EXPECT_EQ(second.status, "suspect");
}

// The check once used the same library product, so it could not see that product's errors.
TEST(Verdict, LibraryProductIsVerifiedByAnotherProduct) {
  Inputs<double> inputs = uniform(33, -1, 1, 1);
  inputs.b = uniform(33, -1, 1, 2).a;
  const Verdict found = verdict(Problem::named("gemm"), "openblas", inputs);
  EXPECT_GT(found.findings.ratio, 1e-3);
  EXPECT_LT(found.findings.ratio, 1);
  EXPECT_EQ(found.status, "pass");
}

TEST(Verdict, SystematicRoundingOfALongSumPasses) {
  for (const std::int64_t k : {1000, 200000}) {
    Inputs<float> inputs;
    inputs.shape = {2, 2, k, 1, Uplo::lower};
    inputs.a = HostMatrix<float>(2, k);
    inputs.b = HostMatrix<float>(k, 2);
    for (auto* operand : {&inputs.a, &inputs.b}) {
      for (float& value : operand->data) value = 0.1f;
    }
    EXPECT_EQ(verdict(Problem::named("gemm"), "serial", inputs).status, "pass") << k;
  }
}

}  // namespace
}  // namespace gaussweep::driver
