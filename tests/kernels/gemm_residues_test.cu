/// Tests gemm/residues and the products of getrf/residues, which multiply 8-bit residues modulo several
/// moduli. They must be exact for integers, and as accurate as double on operands that are hard to scale.
/// Also tests column blocks, and that products of unsuitable sizes are left to the vendor.

#include "kernels/check/check.hpp"
#include "kernels/getrf/residue_lu.cuh"
#include "tests/kernels/hard_products.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/simt_testing.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T>
Answer<T> multiply(const char* variant, const Inputs<T>& inputs, std::int64_t moduli,
                   IterationReport* report) {
  const Method& method = *registry().find(Problem::named("gemm"), variant);
  const auto device = cpu(method.runs_on(Backend::host) ? Backend::host : Backend::emulated);
  Context context(*device);
  context.emulation.shuffle_seed = 5;
  Parameters parameters = defaults(method);
  if (has_parameter(method, "moduli")) {
    parameters.set("moduli", moduli);
    parameters.set("least_inner", std::int64_t{1});
  }
  Answer<T> answer = run_method(context, method, inputs, parameters);
  if (report != nullptr) *report = context.report;
  return answer;
}

PRECISION_TEST_SUITE(GemmResidues);

TYPED_TEST(GemmResidues, AreExactForIntegers) {
  for (const Shape& shape : {Shape{1, 1, 1, 1, Uplo::lower}, Shape{17, 5, 33, 1, Uplo::lower},
                             Shape{3, 40, 129, 1, Uplo::lower}}) {
    auto inputs = make_inputs<TypeParam>(Problem::named("gemm"), shape, MatrixKind::uniform);
    for (auto* matrix : {&inputs.a, &inputs.b}) {
      for (TypeParam& value : matrix->data) value = std::round(value * 100);
    }
    const auto wanted = multiply("serial", inputs, 0, nullptr);
    IterationReport report;
    for (const std::int64_t moduli : {15, 16, 18}) {
      EXPECT_EQ(multiply("residues", inputs, moduli, &report).x.data, wanted.x.data) << moduli;
      EXPECT_EQ(report.iterations, residues::useful_moduli(static_cast<int>(moduli), shape.k));
    }
  }
}

TEST(GemmResidues, UseEnoughModuliForFullPrecision) {
  const Shape shape{37, 29, 150, 1, Uplo::lower};
  const auto inputs = make_inputs<double>(Problem::named("gemm"), shape, MatrixKind::uniform);
  IterationReport report;
  const auto answer = multiply("residues", inputs, 0, &report);
  EXPECT_EQ(report.convergence, Convergence::converged);
  EXPECT_GE(report.iterations, 14);
  EXPECT_LE(report.iterations, 16);
  const auto vendor = multiply("openblas", inputs, 0, nullptr);
  EXPECT_EQ(wrong_elements(inputs, answer.x, vendor.x), 0);
  // Fewer moduli are used only if they are accurate enough.
  EXPECT_EQ(multiply("residues", inputs, 13, &report).x.data, vendor.x.data);
  EXPECT_EQ(report.iterations, 0);
  multiply("residues", inputs, 15, &report);
  EXPECT_EQ(report.iterations, 15);
}

TEST(GemmResidues, AreAsAccurateAsDoubleOnHardProducts) {
  std::int64_t by_residues = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const HardProduct hard = hard_product(seed);
    IterationReport report;
    const auto answer = multiply("residues", hard.inputs, 0, &report);
    const auto vendor = multiply("openblas", hard.inputs, 0, nullptr);
    EXPECT_EQ(wrong_elements(hard.inputs, answer.x, vendor.x), 0) << hard.name << ", seed " << seed;
    if (hard.needs_vendor) {
      EXPECT_EQ(report.iterations, 0) << hard.name;
    }
    by_residues += report.iterations != 0;
  }
  EXPECT_GE(by_residues, 12);
}

// By default, products that the vendor's GEMM computes faster are not computed by residues.
TEST(GemmResidues, LeaveSmallProductsToTheVendor) {
  const auto inputs =
      make_inputs<double>(Problem::named("gemm"), {40, 30, 20, 1, Uplo::lower}, MatrixKind::uniform);
  const auto tried = testing_help::try_method(Problem::named("gemm"), "residues", inputs);
  EXPECT_EQ(tried.report.iterations, 0);
  EXPECT_EQ(tried.answer.x.data, multiply("openblas", inputs, 0, nullptr).x.data);
}

// With a k above max_inner_size the int sums of residue products would overflow.
TEST(GemmResidues, LeaveLargeKToOthers) {
  const Shape shape{2, 2, residues::max_inner_size + 1, 1, Uplo::lower};
  const auto inputs = make_inputs<double>(Problem::named("gemm"), shape, MatrixKind::uniform);
  IterationReport report;
  report.iterations = 1;
  multiply("residues", inputs, 15, &report);
  EXPECT_EQ(report.iterations, 0);
}

class ResidueBlocks : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, ResidueBlocks, ::testing::Values(0, 1));

// The workspace has capacity for 16 columns at a time. The leading dimensions are larger than needed; their
// padding must stay untouched.
TEST_P(ResidueBlocks, EqualAWholeProduct) {
  constexpr int m = 21, n = 50, k = 37, lda = 24, ldb = 41, ldc = 23, moduli = 15;
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto random = [&](int count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = uniform(engine);
    return values;
  };
  const std::vector<double> a = random(lda * k), b = random(ldb * n), c = random(ldc * n);
  residues::WorkspaceCapacity capacity = residues::capacity_for(m, 16, k, moduli);
  capacity.exponents = m + n;
  const std::size_t bytes = residues::bytes_of(capacity);
  DeviceArray<double> device_a(context.device, a), device_b(context.device, b), device_c(context.device, c);
  DeviceArray<unsigned char> memory(context.device, std::vector<unsigned char>(bytes + 256, 0xff));
  Workspace workspace(memory.data(), bytes + 256);
  residues::ResidueProducts<double> products(context, capacity, workspace);
  ASSERT_EQ(products.multiply(moduli, {device_a.data(), m, k, lda}, {device_b.data(), k, n, ldb},
                              {device_c.data(), m, n, ldc}, residues::ProductUse::subtracted),
            moduli);
  const std::vector<double> seen = device_c.values();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < ldc; ++i) {
      const auto at = static_cast<std::size_t>(i + j * ldc);
      double wanted = c[at];
      for (int h = 0; i < m && h < k; ++h)
        wanted -= a[static_cast<std::size_t>(i + h * lda)] * b[static_cast<std::size_t>(h + j * ldb)];
      if (i < m) {
        ASSERT_NEAR(seen[at], wanted, 2e-14) << i << ", " << j;
      } else {
        ASSERT_EQ(seen[at], wanted) << i << ", " << j;
      }
    }
  }
}

// are_faster predicts from the sizes whether residues are faster than DGEMM. Both answers must occur.
TEST(GemmResidues, AreFasterOnlyForLargeProducts) {
  EXPECT_TRUE(residues::are_faster(16384, 16384, 16384, 15, sizeof(double)));
  EXPECT_TRUE(residues::are_faster(24576, 8192, 8192, 15, sizeof(double)));
  EXPECT_FALSE(residues::are_faster(16384, 16384, 128, 15, sizeof(double)));
  EXPECT_FALSE(residues::are_faster(2048, 2048, 2048, 15, sizeof(double)));
}

TEST(ResidueLu, RoomSufficesForEveryProduct) {
  for (const std::int64_t n : {33, 1000, 2100, 33000, 65536}) {
    const residues::WorkspaceCapacity capacity = gaussweep::lu::residue_capacity(n, 15);
    for (std::int64_t k = 32; k < n; k *= 2) {
      const std::int64_t m = residues::padded(n - k), padded_k = residues::padded_k(k);
      EXPECT_LE(15 * m * padded_k, capacity.left) << n << ", " << k;
      EXPECT_GE(residues::block_columns(capacity, 15, m, n, padded_k), std::min<std::int64_t>(n, 16))
          << n << ", " << k;
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
