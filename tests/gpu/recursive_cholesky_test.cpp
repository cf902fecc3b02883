// Tests potrf/recursive and posv/recursive at orders at which their algorithm changes: one launch and
// several, whole tiles and orders that need a copy, both triangles, incomplete groups of tile columns.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class RecursiveCholesky : public OnGpu {
 protected:
  void SetUp() override { require(row_of("potrf/recursive").capability); }
  template <class T>
  Inputs<T> spd(std::int64_t n, Uplo uplo, std::int64_t nrhs = 1) {
    const Problem problem = Problem::named(nrhs == 0 ? "potrf" : "posv");
    return make_inputs<T>(problem, {n, n, n, std::max<std::int64_t>(nrhs, 1), uplo}, MatrixKind::spd);
  }
};

class RecursiveCholeskySizes : public RecursiveCholesky, public testing::WithParamInterface<std::int64_t> {};

TEST_P(RecursiveCholeskySizes, FactorsEqualTheVendors) {
  if (small() && GetParam() > 700) GTEST_SKIP() << "small sizes only";
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    const Inputs<double> inputs = spd<double>(GetParam(), uplo, 0);
    const Answer<double> ours = run("potrf/recursive", inputs);
    EXPECT_EQ(ours.info, 0);
    EXPECT_LT(difference(Problem::named("potrf"), inputs.shape, ours, run("potrf/cusolver", inputs)).largest,
              1e-9)
        << to_string(uplo);
  }
}

// 64, 576 and 1152: one group of tile columns, one more tile, and two more groups. Up to 2560 all columns
// belong to the tail; at 2561 and 3136 one and two groups precede it. Above 9216 there are several launches.
INSTANTIATE_TEST_SUITE_P(All, RecursiveCholeskySizes,
                         testing::Values(1, 63, 64, 65, 127, 290, 576, 1101, 1152, 2560, 2561, 3136, 4101,
                                         4160, 8192, 8256, 10001));

template <class T>
class RecursiveCholeskyOf : public RecursiveCholesky {};
TYPED_TEST_SUITE(RecursiveCholeskyOf, Precisions);

TYPED_TEST(RecursiveCholeskyOf, IsAccurateAtAHundredOddOrders) {
  using T = TypeParam;
  if (this->small()) GTEST_SKIP() << "small sizes only";
  std::mt19937 engine(35);
  std::uniform_int_distribution<std::int64_t> half(60, 1500);
  for (int k = 0; k < 100; ++k) {
    const std::int64_t n = 2 * half(engine) + 1;
    const Inputs<T> inputs = this->template spd<T>(n, k % 2 == 0 ? Uplo::lower : Uplo::upper, 1 + k % 3);
    const Answer<T> ours = this->template run<T>("posv/recursive", inputs);
    ASSERT_TRUE(is_right(row_of("posv/recursive"), inputs, ours)) << "n = " << n << ": info " << ours.info;
  }
}

TYPED_TEST(RecursiveCholeskyOf, InfoNamesTheFirstNonpositivePivot) {
  using T = TypeParam;
  for (const std::int64_t n : {65, 640, 2112}) {
    for (const std::int64_t bad : {std::int64_t{0}, n / 2, n - 1}) {
      for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        Inputs<T> inputs = this->template spd<T>(n, uplo, 0);
        inputs.a(bad, bad) = -1;
        EXPECT_EQ(this->template run<T>("potrf/recursive", inputs).info, bad + 1) << "n = " << n;
      }
    }
  }
}

}  // namespace
}  // namespace gaussweep
