// Tests posv/mixed_gmres and potrf/halves: which systems are refined, and when the method falls back to
// the direct solve. A factor computed with fp16 pairs (halves) must be as accurate as one in float at any
// scale of the matrix. Unless a test sets it, float_from is 1, so that factors in float are tried at every
// order.

#include "kernels/matrix/condition.hpp"
#include "tests/gpu/refined_on_gpu.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class DefiniteSystems : public RefinedOnGpu {
 protected:
  DefiniteSystems() : RefinedOnGpu("posv") {}

  static std::int64_t order() { return small() ? 290 : 1101; }
  template <class T>
  static Inputs<T> spd(std::int64_t n, std::int64_t nrhs = 1, Uplo uplo = Uplo::lower,
                       const char* problem = "posv") {
    return make_inputs<T>(Problem::named(problem), {n, n, n, nrhs, uplo}, MatrixKind::spd);
  }
  /// Returns a system whose eigenvalues are 1 except for one of 1 / condition (mode 2), or fall geometrically
  /// from 1 to 1 / condition (mode 3).
  static Inputs<double> conditioned(std::int64_t n, double condition, int mode) {
    Inputs<double> inputs = spd<double>(n);
    MatrixSpec spec;
    spec.kind = MatrixKind::condition;
    spec.rows = spec.cols = n;
    spec.condition = condition;
    spec.mode = mode;
    const std::vector<double> eigenvalues = singular_values(spec);
    std::fill(inputs.a.data.begin(), inputs.a.data.end(), 0.0);
    for (std::int64_t i = 0; i < n; ++i) inputs.a(i, i) = eigenvalues[static_cast<std::size_t>(i)];
    std::mt19937 engine(static_cast<unsigned>(n));
    for (int k = 0; k < 3; ++k) reflect(inputs.a, engine);
    inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
    return inputs;
  }
  /// Computes A = H A H for a random reflector H = I - 2 v v^T, as A - v w^T - w v^T.
  static void reflect(HostMatrix<double>& a, std::mt19937& engine) {
    const std::int64_t n = a.rows;
    std::normal_distribution<double> normal;
    std::vector<double> v(static_cast<std::size_t>(n)), w(v.size(), 0);
    double squares = 0;
    for (double& value : v) squares += std::pow(value = normal(engine), 2);
    for (double& value : v) value /= std::sqrt(squares);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i)
        w[static_cast<std::size_t>(i)] += a(i, j) * v[static_cast<std::size_t>(j)];
    }
    double product = 0;
    for (std::size_t i = 0; i < v.size(); ++i) product += v[i] * w[i];
    for (std::size_t i = 0; i < v.size(); ++i) w[i] = 2 * (w[i] - product * v[i]);
    for (std::int64_t j = 0; j < n; ++j) {
      const double v_j = v[static_cast<std::size_t>(j)], w_j = w[static_cast<std::size_t>(j)];
      for (std::int64_t i = 0; i < n; ++i) {
        const auto r = static_cast<std::size_t>(i);
        a(i, j) -= v[r] * w_j + w[r] * v_j;
      }
    }
  }

  using RefinedOnGpu::ratio;
  template <class T>
  double ratio(const char* id, const Inputs<T>& inputs) {
    return ratio(row_of(id), inputs);
  }
};

class DefiniteSizes : public DefiniteSystems, public testing::WithParamInterface<std::int64_t> {
 protected:
  void SetUp() override {
    DefiniteSystems::SetUp();
    if (small() && GetParam() > 300) GTEST_SKIP() << "small sizes only";
  }
  static Uplo first_uplo() { return GetParam() % 2 == 0 ? Uplo::lower : Uplo::upper; }
  static Uplo second_uplo() { return first_uplo() == Uplo::lower ? Uplo::upper : Uplo::lower; }
};

TEST_P(DefiniteSizes, AreRefined) {
  expect_refined(spd<double>(GetParam(), /*nrhs=*/1, first_uplo()));
  expect_refined(spd<float>(GetParam(), /*nrhs=*/1, second_uplo()));
  if (GetParam() > 2000) return;
  expect_refined(spd<double>(GetParam(), /*nrhs=*/1, second_uplo()));
  expect_refined(spd<float>(GetParam(), /*nrhs=*/1, first_uplo()));
}

TEST_P(DefiniteSizes, FactorsByHalvesAreAsAccurateAsTheVendors) {
  const Inputs<float> inputs = spd<float>(GetParam(), /*nrhs=*/1, first_uplo(), "potrf");
  EXPECT_LE(ratio("potrf/halves", inputs), std::max(3 * ratio("potrf/cusolver", inputs), 0.01));
}

// Up to 4608 one launch factors everything. Larger orders use products of fp16 pairs: 4736 has a narrow last
// panel, 5000 smaller squares at the edges.
INSTANTIATE_TEST_SUITE_P(All, DefiniteSizes,
                         testing::Values(1, 2, 33, 65, 290, 1101, 3200, 4101, 4608, 4609, 4736, 5000));

TEST_F(DefiniteSystems, DirectSolvesAreAsAccurateAsTheVendorsOnBlurMatrices) {
  for (const std::int64_t width : {10, 20, 30, 50, 64}) {
    if (small() && width > 20) break;
    const Inputs<double> inputs = hard_blur(width);
    EXPECT_LT(ratio("posv/recursive", inputs), 3 * ratio("posv/cusolver", inputs)) << width;
  }
}

/// Scaling rows and columns by powers of two scales the factor by the same powers, bit by bit.
TEST_F(DefiniteSystems, FactorsByHalvesScaleWithTheMatrix) {
  const std::int64_t n = small() ? 290 : 3300;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    Inputs<float> inputs = spd<float>(n, /*nrhs=*/1, uplo, "potrf");
    const Answer<float> plain = run("potrf/halves", inputs);
    const auto exponent = [](std::int64_t i) { return static_cast<int>(i * 37 % 101) - 50; };
    fill(inputs.a, [&](std::int64_t i, std::int64_t j) {
      return std::ldexp(inputs.a(i, j), exponent(i) + exponent(j));
    });
    const Answer<float> scaled = run("potrf/halves", inputs);
    ASSERT_EQ(scaled.info, 0);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        const bool lower = uplo == Uplo::lower;
        const float before = lower ? plain.x(i, j) : plain.x(j, i);
        ASSERT_EQ(lower ? scaled.x(i, j) : scaled.x(j, i), std::ldexp(before, exponent(i))) << i << ", " << j;
      }
    }
  }
}

TEST_F(DefiniteSystems, InfoNamesTheFirstNonpositivePivot) {
  for (const std::int64_t n : {65, 640, 4200}) {
    if (n > 100 && small()) break;
    for (const std::int64_t bad : {std::int64_t{0}, n / 2, n - 1}) {
      if (n > 1000 && bad != n / 2) continue;
      const Uplo uplo = bad == 0 ? Uplo::upper : Uplo::lower;
      Inputs<double> inputs = spd<double>(n, /*nrhs=*/1, uplo);
      inputs.a(bad, bad) = -1;
      EXPECT_EQ(run(inputs).info, bad + 1) << n;
      Inputs<float> factored = spd<float>(n, /*nrhs=*/1, uplo, "potrf");
      factored.a(bad, bad) = -1;
      EXPECT_EQ(run("potrf/halves", factored).info, bad + 1) << n;
    }
  }
}

TEST_F(DefiniteSystems, RefinesModerateConditions) {
  for (const double condition : {1e2, 1e3}) {
    SCOPED_TRACE(condition);
    EXPECT_LE(expect_refined(conditioned(order(), condition, /*mode=*/3)), 10);
  }
  EXPECT_LE(expect_refined(conditioned(order(), 1e6, /*mode=*/2)), 10);
  if (small()) return;
  EXPECT_LE(expect_refined(conditioned(4101, 1e5, /*mode=*/3)), 10);
}

/// In float the tiny eigenvalue is lost: its pivot consists only of the shift that was added to the diagonal.
TEST_F(DefiniteSystems, RefinesOneTinyEigenvalue) {
  for (const double condition : {1e8, 1e12, 1e14}) {
    SCOPED_TRACE(condition);
    EXPECT_LE(expect_refined(conditioned(order(), condition, /*mode=*/2)), 20);
  }
  if (small()) return;
  expect_refined(conditioned(4101, 1e12, /*mode=*/2));
}

TEST_F(DefiniteSystems, SolvesLargeConditionsDirectly) {
  for (const double condition : {1e8, 1e12})
    EXPECT_EQ(expect_direct(conditioned(order(), condition, /*mode=*/3)), 0);
  for (const MatrixKind kind : {MatrixKind::hilbert, MatrixKind::cauchy}) {
    expect_direct(square_inputs<double>("posv", 300, kind));
  }
}

/// Row i and column i have the same scale. Scales span 12 decades, or 60, which exceeds float's range.
TEST_F(DefiniteSystems, RefinesGradedMatrices) {
  constexpr double bits_per_decade = 3.3;  // log2(10)
  const std::int64_t n = order();
  for (const int decades : {12, 60}) {
    Inputs<double> inputs = spd<double>(n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        inputs.a(i, j) *= std::exp2(
            -std::round(decades * bits_per_decade * static_cast<double>(i) / static_cast<double>(n)) -
            std::round(decades * bits_per_decade * static_cast<double>(j) / static_cast<double>(n)));
      }
    }
    inputs.b = right_hand_side<double>(inputs.a, inputs.x_true, /*threads=*/1);
    if (decades == 12) {
      expect_refined(inputs);
    } else {
      EXPECT_LE(ratio(mixed, inputs), 0.1);
    }
  }
}

TEST_F(DefiniteSystems, SolvesElementsNearOverflowDirectly) {
  Inputs<double> inputs = spd<double>(100);
  for (double& element : inputs.a.data) element = std::ldexp(element, 1000);
  EXPECT_EQ(expect_direct(inputs), 0);
}

TEST_F(DefiniteSystems, ReportsNaN) {
  Inputs<double> inputs = spd<double>(order());
  inputs.a(50, 20) = std::numeric_limits<double>::quiet_NaN();
  run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::none);
  inputs = spd<double>(order());
  inputs.b(7, 0) = std::numeric_limits<double>::quiet_NaN();
  const Answer<double> ours = run(inputs);
  EXPECT_EQ(context->report.convergence, Convergence::none);
  EXPECT_TRUE(std::isnan(ours.x(7, 0)));
}

TEST_F(DefiniteSystems, RefinesSeveralRightHandSides) {
  for (const std::int64_t nrhs : {2, 5, 9, 64, 70}) {
    expect_refined(spd<double>(order(), nrhs));
    expect_refined(spd<float>(order(), nrhs, Uplo::upper));
  }
}

TEST_F(DefiniteSystems, BelowFloatFromEqualsRecursive) {
  const Inputs<double> inputs = spd<double>(order());
  const Answer<double> ours = run(row("mixed_gmres"), inputs);
  EXPECT_EQ(context->report.convergence, Convergence::none);
  EXPECT_TRUE(same_values(ours, run("posv/recursive", inputs)));
}

TEST_F(DefiniteSystems, RepeatedRunsHaveTheSameBits) {
  expect_equal_runs(spd<double>(small() ? 200 : 4101));
}

}  // namespace
}  // namespace gaussweep
