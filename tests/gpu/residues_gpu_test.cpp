// Tests products from residues (8-bit integers) on tensor cores. A thousand hard products are compared with
// exact sums. Large products, which are computed in blocks, are compared with the vendor's. Also tests an LU
// that uses such products.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/hard_products.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class ResiduesOnGpu : public OnGpu {
 protected:
  void SetUp() override { require(/*needed=*/90); }
  /// Multiplies by residues, even at sizes for which the method would choose the vendor's GEMM.
  Answer<double> multiply(const Inputs<double>& inputs) {
    Parameters parameters = defaults(row_of("gemm/residues"));
    parameters.set("least_inner", std::int64_t{1});
    return run_method(*context, row_of("gemm/residues"), inputs, parameters);
  }
  const unsigned count = small() ? 10 : 1000;
};

TEST_F(ResiduesOnGpu, AreAsAccurateAsDoubleOnHardProducts) {
  std::int64_t by_residues = 0;
  for (unsigned seed = 0; seed < count; ++seed) {
    const HardProduct hard = hard_product(seed);
    const auto answer = multiply(hard.inputs);
    const std::int64_t moduli = context->report.iterations;
    const auto vendor = run("gemm/cublas", hard.inputs);
    EXPECT_EQ(wrong_elements(hard.inputs, answer.x, vendor.x), 0) << hard.name << ", seed " << seed;
    if (hard.needs_vendor) {
      EXPECT_EQ(moduli, 0) << hard.name;
    }
    by_residues += moduli != 0;
  }
  EXPECT_GE(by_residues, count / 5);
  std::cout << by_residues << " of " << count << " by residues\n";
}

TEST_F(ResiduesOnGpu, ComputeLargeProductsInBlocks) {
  if (count < 1000) GTEST_SKIP() << "small sizes only";
  for (const Shape& shape :
       {Shape{5000, 7001, 4500, 1, Uplo::lower}, Shape{17001, 2100, 700, 1, Uplo::lower}}) {
    const auto inputs = make_inputs<double>(Problem::named("gemm"), shape, MatrixKind::uniform);
    const auto answer = multiply(inputs);
    EXPECT_GE(context->report.iterations, 13);
    EXPECT_LE(context->report.iterations, 15);
    const auto vendor = run("gemm/cublas", inputs);
    EXPECT_LT(difference(Problem::named("gemm"), shape, answer, vendor).largest, 1e-11);
  }
}

TEST_F(ResiduesOnGpu, ComputeTheProductsOfAnLu) {
  if (count < 1000) GTEST_SKIP() << "small sizes only";
  const Shape shape{8200, 8200, 8200, 1, Uplo::lower};
  const auto inputs = make_inputs<double>(Problem::named("getrf"), shape, MatrixKind::uniform);
  const Method& method = row_of("getrf/residues");
  Parameters parameters = defaults(method);
  parameters.set("least_inner", std::int64_t{512});
  const auto ours = run_method(*context, method, inputs, parameters);
  EXPECT_GE(context->report.iterations, 16);
  const auto reference = run("getrf/recursive", inputs);
  EXPECT_EQ(ours.info, 0);
  EXPECT_EQ(ours.pivots, reference.pivots);
  EXPECT_LT(difference(Problem::named("getrf"), shape, ours, reference).largest, 1e-9);
}

}  // namespace
}  // namespace gaussweep
