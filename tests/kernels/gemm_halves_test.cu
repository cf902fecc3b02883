/// Tests gemm/halves and the products of getrf/halves and geinv/halves, which split every float into two fp16
/// numbers (halves). They must be exact for integers, and as accurate as the split allows over the whole
/// exponent range. Also tests column blocks, k slices, and that small products are left to SGEMM.

#include "kernels/check/check.hpp"
#include "kernels/getrf/half_lu.cuh"
#include "tests/kernels/hard_float_products.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/simt_testing.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

Answer<float> by_halves(const Inputs<float>& inputs, std::int64_t inner) {
  return try_method(Problem::named("gemm"), "halves", inputs, {{"inner", inner}}, 5).answer;
}

TEST(GemmHalves, RoundLikeHalves) {
  for (const auto& [value, half] :
       {std::pair(1.0f, 1.0f), std::pair(1 + 0x1p-11f, 1.0f), std::pair(-1 - 0x1.8p-10f, -1 - 0x1p-9f),
        std::pair(0x1.ffep14f, 0x1p15f), std::pair(0x1.8p-24f, 0x1p-23f), std::pair(0x1p-25f, 0.0f),
        std::pair(0x1.ffcp-15f, 0x1p-14f), std::pair(-HUGE_VALF, -HUGE_VALF)})
    EXPECT_EQ(halves::to_float(halves::to_half(value)), half) << value;
  EXPECT_TRUE(std::isnan(halves::to_float(halves::to_half(NAN))));
}

TEST(GemmHalves, AreExactForIntegers) {
  for (const Shape& shape : {Shape{1, 1, 1, 1, Uplo::lower}, Shape{17, 5, 261, 1, Uplo::lower},
                             Shape{3, 40, 513, 1, Uplo::lower}}) {
    auto inputs = make_inputs<float>(Problem::named("gemm"), shape, MatrixKind::uniform);
    for (auto* matrix : {&inputs.a, &inputs.b}) {
      for (float& value : matrix->data) value = std::round(value * 250);
    }
    const auto wanted = try_method(Problem::named("gemm"), "serial", inputs).answer;
    for (const std::int64_t inner : {8, 20, 512})
      EXPECT_EQ(by_halves(inputs, inner).x.data, wanted.x.data) << inner;
  }
}

TEST(GemmHalves, AreAccurateOverTheWholeRange) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    const HardFloatProduct hard = hard_float_product(seed);
    EXPECT_EQ(wrong_elements(hard.inputs, by_halves(hard.inputs, 512).x), 0)
        << hard.name << ", seed " << seed;
  }
}

// An Inf or NaN of A spoils its row of C, one of B its column. All other elements are unaffected.
TEST(GemmHalves, NonFiniteValuesSpoilOnlyTheirRowsAndColumns) {
  HardFloatProduct hard = hard_float_product(0);
  Inputs<float>& in = hard.inputs;
  in.a(2, 4) = std::numeric_limits<float>::infinity();
  in.a(5, 1) = std::numeric_limits<float>::quiet_NaN();
  in.b(3, 7) = -std::numeric_limits<float>::infinity();
  const auto answer = by_halves(in, 512);
  Inputs<float> finite = in;
  finite.a(2, 4) = finite.a(5, 1) = finite.b(3, 7) = 0;
  HostMatrix<float> rest = answer.x;
  for (std::int64_t j = 0; j < in.shape.n; ++j) {
    for (std::int64_t i = 0; i < in.shape.m; ++i) {
      if (i != 2 && i != 5 && j != 7) continue;
      EXPECT_FALSE(std::isfinite(answer.x(i, j))) << i << ", " << j;
      rest(i, j) = 0;
      for (std::int64_t h = 0; h < in.shape.k; ++h) rest(i, j) += finite.a(i, h) * finite.b(h, j);
    }
  }
  EXPECT_EQ(wrong_elements(finite, rest), 0);
}

class HalfBlocks : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, HalfBlocks, ::testing::Values(0, 1));

// The workspace has capacity for 16 columns at a time and k slices of 12. The leading dimensions are larger
// than needed; their padding must stay untouched.
TEST_P(HalfBlocks, EqualAWholeProduct) {
  constexpr int m = 21, n = 50, k = 37, lda = 23, ldb = 41, ldc = 22, inner = 12;
  std::mt19937 engine(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto random = [&](int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = uniform(engine);
    return values;
  };
  const std::vector<float> a = random(lda * k), b = random(ldb * n), c = random(ldc * n);
  const halves::WorkspaceCapacity capacity = halves::capacity_for(m, n, k, inner, halves::padded(m) * 16);
  const std::size_t bytes = halves::bytes_of(capacity);
  DeviceArray<float> device_a(context.device, a), device_b(context.device, b), device_c(context.device, c);
  DeviceArray<unsigned char> memory(context.device, std::vector<unsigned char>(bytes + 256, 0xff));
  Workspace workspace(memory.data(), bytes + 256);
  halves::HalfProducts products(context, capacity, inner, workspace);
  products.multiply({device_a.data(), m, k, lda}, {device_b.data(), k, n, ldb}, {device_c.data(), m, n, ldc},
                    true);
  const std::vector<float> seen = device_c.values();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < ldc; ++i) {
      const auto at = static_cast<std::size_t>(i + j * ldc);
      double wanted = static_cast<double>(c[at]);
      for (int h = 0; i < m && h < k; ++h)
        wanted -= static_cast<double>(a[static_cast<std::size_t>(i + h * lda)]) *
                  static_cast<double>(b[static_cast<std::size_t>(h + j * ldb)]);
      ASSERT_NEAR(static_cast<double>(seen[at]), wanted, i < m ? 4e-6 : 0) << i << ", " << j;
    }
  }
}

// are_faster predicts from the sizes whether halves are faster than SGEMM. Both answers must occur.
TEST(HalfLu, UsesHalvesOnlyForLargeProducts) {
  EXPECT_TRUE(gaussweep::halves::are_faster(8192, 8192, 8192));
  EXPECT_TRUE(gaussweep::halves::are_faster(8192, 8192, 1024));
  EXPECT_FALSE(gaussweep::halves::are_faster(8192, 8192, 64));
  EXPECT_FALSE(gaussweep::halves::are_faster(512, 512, 512));
}

// The workspace must suffice at orders at which the parts of the recursion are largest.
TEST(HalfLu, RoomSufficesForEveryProduct) {
  for (const std::int64_t n : {33, 1000, 2100, 33000, 65536}) {
    for (const bool solved : {false, true}) {
      const halves::WorkspaceCapacity capacity = halves::capacity_of_lu(n, 512, solved);
      for (std::int64_t k = 32; k < n; k *= 2) {
        const std::int64_t m = halves::padded(n - k), slice = 3 * std::min<std::int64_t>(k, 512);
        EXPECT_LE(m * slice, capacity.left) << n << ", " << k;
        const std::int64_t columns = solved ? n : std::min(k, n - k);
        EXPECT_GE(capacity.sums, std::min<std::int64_t>(columns, 2048) * std::min(m, n / 2))
            << n << ", " << k;
      }
    }
  }
}

// 6 products: four of the LU in blocks of 64 columns, and two of the inverse in blocks of 256 rows, one with
// L and one with U. The method reports them as iterations.
TEST(HalfLu, ComputesTheProductsOfAnInverse) {
  const Shape shape{300, 300, 300, 1, Uplo::lower};
  const auto inputs = make_inputs<float>(Problem::named("geinv"), shape, MatrixKind::uniform);
  const auto tried =
      try_method(Problem::named("geinv"), "halves", inputs, {{"least_inner", std::int64_t{64}}}, 5);
  EXPECT_EQ(tried.report.iterations, 6);
  EXPECT_LT(check(row_of("geinv/halves"), inputs, tried.answer).ratio, 1);
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
