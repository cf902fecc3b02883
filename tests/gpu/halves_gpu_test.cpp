// Tests methods in float whose products use fp16 pairs (halves) on tensor cores. Hard products are compared
// with exact sums, large ones with the vendor's. Factors, solutions and inverses are compared with the
// vendor's over the whole exponent range.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/hard_float_products.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class HalvesOnGpu : public OnGpu {
 protected:
  void SetUp() override { require(/*needed=*/90); }
  Answer<float> run(const std::string& id, const Inputs<float>& inputs, std::int64_t least_inner = 0) {
    const Method& method = row_of(id);
    Parameters parameters = defaults(method);
    if (has_parameter(method, "least_inner")) parameters.set("least_inner", least_inner);
    return run_method(*context, method, inputs, parameters);
  }
  double ratio(const std::string& id, const Inputs<float>& inputs, std::int64_t least_inner = 0) {
    const Answer<float> answer = run(id, inputs, least_inner);
    return check(row_of(id), inputs, answer).ratio;
  }
};

TEST_F(HalvesOnGpu, AreAccurateOverTheWholeRange) {
  for (unsigned seed = 0; seed < (small() ? 8 : 1000); ++seed) {
    const HardFloatProduct hard = hard_float_product(seed);
    EXPECT_EQ(wrong_elements(hard.inputs, run("gemm/halves", hard.inputs).x), 0)
        << hard.name << ", seed " << seed;
  }
}

// The first shape has several column blocks of C, the other two shapes have one; no size is a multiple of the
// tile sizes. All terms of a sum have the same sign, because the truncation errors of tensor cores then add
// up.
TEST_F(HalvesOnGpu, LargeProductsAreAsAccurateAsTheVendors) {
  if (small()) GTEST_SKIP() << "small sizes only";
  for (const Shape& shape : {Shape{33001, 2501, 265, 1, Uplo::lower}, Shape{1501, 1003, 1777, 1, Uplo::lower},
                             Shape{1, 700, 5001, 1, Uplo::lower}}) {
    const auto inputs = make_inputs<float>(Problem::named("gemm"), shape, MatrixKind::uniform);
    const double ours = ratio("gemm/halves", inputs), vendors = ratio("gemm/cublas", inputs);
    std::cout << "gemm, inner size " << shape.k << ": ratio " << ours << ", the vendor's " << vendors << '\n';
    EXPECT_LT(ours, 0.75);
  }
}

/// Scales elements by 2^exponent(row, column). The arguments are permuted row and column indices divided by
/// n, so that large and small rows are mixed.
struct Grading {
  const char* name;
  double (*exponent)(double row, double column);
};

/// Tests at orders whose products have several sizes, inside and outside the recursion.
class HalvesOnMatrices : public HalvesOnGpu, public testing::WithParamInterface<const char*> {};

TEST_P(HalvesOnMatrices, AreAsAccurateAsTheVendors) {
  const std::int64_t n = small() ? 1101 : 1301;
  const Grading gradings[] = {
      {"none", [](double, double) { return 0.0; }},
      {"elements near 1e35", [](double, double) { return 117.0; }},
      {"elements near 1e-36", [](double, double) { return -120.0; }},
      {"rows over 12 decades", [](double row, double) { return -40 * row; }},
      {"columns over 12 decades", [](double, double column) { return -40 * column; }},
      {"both over 24 decades", [](double row, double column) { return 60 - 80 * row - 80 * column; }},
      {"rows over 60 decades", [](double row, double) { return 100 - 200 * row; }},
      {"columns over 60 decades", [](double, double column) { return 100 - 200 * column; }}};
  const std::string problem = GetParam();
  const Problem named = Problem::named(problem);
  const Inputs<float> uniform = make_inputs<float>(named, {n, n, n, 1, Uplo::lower}, MatrixKind::uniform);
  for (const Grading& grading : gradings) {
    if (small() && grading.name != gradings[0].name) continue;
    // Quotients of elements of U, which geinv/recursive computes, exceed the range of float.
    if (problem == "geinv" && grading.name == gradings[7].name) continue;
    Inputs<float> inputs = uniform;
    const auto permuted = [n](std::int64_t i) {
      return static_cast<double>(i * 457 % n) / static_cast<double>(n);
    };
    fill(inputs.a, [&](std::int64_t i, std::int64_t j) {
      return std::ldexp(inputs.a(i, j), static_cast<int>(grading.exponent(permuted(i), permuted(j))));
    });
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(inputs.b.data.size()); ++i)
      inputs.b(i, 0) = std::ldexp(inputs.b(i, 0), static_cast<int>(grading.exponent(permuted(i), 0.5)));
    const double ours = ratio(problem + "/halves", inputs, /*least_inner=*/256);
    EXPECT_GT(context->report.iterations, 0);
    const double vendors = ratio(problem + "/cusolver", inputs);
    std::cout << problem << ", " << grading.name << ": ratio " << ours << ", the vendor's " << vendors
              << '\n';
    if (!(vendors <= default_tolerance(named))) continue;
    EXPECT_LE(ours, std::max(0.02, 3 * vendors)) << grading.name;
  }
  if (small()) return;
  for (const MatrixKind kind :
       {MatrixKind::diagonally_dominant, MatrixKind::spd, MatrixKind::hilbert, MatrixKind::cauchy}) {
    const auto inputs = make_inputs<float>(named, {n, n, n, 1, Uplo::lower}, kind);
    const double ours = ratio(problem + "/halves", inputs, /*least_inner=*/256);
    EXPECT_GT(context->report.iterations, 0);
    const double vendors = ratio(problem + "/cusolver", inputs);
    std::cout << problem << ", " << to_string(kind) << ": ratio " << ours << ", the vendor's " << vendors
              << '\n';
    if (!(vendors <= default_tolerance(named))) continue;
    EXPECT_LE(ours, std::max(0.02, 3 * vendors)) << to_string(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HalvesOnMatrices, testing::Values("getrf", "gesv", "geinv"),
                         [](const testing::TestParamInfo<const char*>& info) { return info.param; });

// Odd orders, and orders that fill whole panels and blocks. The pivots must equal the pivots of
// getrf/recursive in float.
TEST_F(HalvesOnGpu, ReplaceTheProductsOfAnLu) {
  if (small()) GTEST_SKIP() << "small sizes only";
  for (const std::int64_t n : {1300, 2100, 4101, 4608}) {
    const Shape shape{n, n, n, 1, Uplo::lower};
    const auto inputs = make_inputs<float>(Problem::named("getrf"), shape, MatrixKind::diagonally_dominant);
    const auto ours = run("getrf/halves", inputs, /*least_inner=*/256);
    EXPECT_GE(context->report.iterations, n / 512) << n;
    const auto reference = run("getrf/recursive", inputs);
    EXPECT_EQ(ours.info, 0);
    EXPECT_EQ(ours.pivots, reference.pivots) << n;
    EXPECT_LT(difference(Problem::named("getrf"), shape, ours, reference).largest, 1e-5) << n;
  }
}

TEST_F(HalvesOnGpu, ReportAZeroPivot) {
  if (small()) GTEST_SKIP() << "small sizes only";
  const std::int64_t n = 1500;
  auto inputs = square_inputs<float>("getrf", n, MatrixKind::uniform);
  for (std::int64_t i = 0; i < n; ++i) inputs.a(i, 1400) = 0;
  EXPECT_EQ(run("getrf/halves", inputs, /*least_inner=*/256).info, 1401);
}

}  // namespace
}  // namespace gaussweep
