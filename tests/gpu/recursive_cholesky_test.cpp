// Tests potrf/recursive and posv/recursive at orders at which their algorithm changes: one or several
// launches, orders that are multiples of a tile or need a padded copy, both triangles, incomplete groups of
// tile columns.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class RecursiveCholesky : public OnGpu {
 protected:
  void SetUp() override { require(row_of("potrf/recursive").capability); }
  /// Returns the inputs of posv, or of potrf if nrhs is 0, with a positive definite matrix.
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
    const Inputs<double> inputs = spd<double>(GetParam(), uplo, /*nrhs=*/0);
    const Answer<double> ours = run("potrf/recursive", inputs);
    EXPECT_EQ(ours.info, 0);
    EXPECT_LT(difference(Problem::named("potrf"), inputs.shape, ours, run("potrf/cusolver", inputs)).largest,
              1e-9)
        << to_string(uplo);
  }
}

// Schedule (potrf/tile_schedule.cuh) works with tiles of order 64 and groups of 8 tile columns, 512 columns.
// 512, 576 and 1024: one group, one more tile, and two groups. The tail columns begin at tile column
// (tiles - 37) / 8 * 8, at 0 if there are fewer than 45 tiles. So all columns are tail columns up to 44 tiles
// (2816), one group precedes the tail up to 52 tiles (3328), and two groups from 53 tiles on. Above 9216
// several launches factor the matrix.
INSTANTIATE_TEST_SUITE_P(All, RecursiveCholeskySizes,
                         testing::Values(1, 63, 64, 65, 127, 290, 512, 576, 1024, 1101, 2816, 2817, 3328,
                                         3329, 4101, 4160, 8256, 9216, 9217, 10001));

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
        Inputs<T> inputs = this->template spd<T>(n, uplo, /*nrhs=*/0);
        inputs.a(bad, bad) = -1;
        EXPECT_EQ(this->template run<T>("potrf/recursive", inputs).info, bad + 1) << "n = " << n;
      }
    }
  }
}

}  // namespace
}  // namespace gaussweep
