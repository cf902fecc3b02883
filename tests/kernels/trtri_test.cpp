// Tests trtri by hand and against LAPACK. Compares GETS (Soriano's method) with a fixed thread-block size to
// GETS with an adaptive one.

#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

const std::vector<std::string> ours{"gets", "gets_adaptive", "levels"};
const std::vector<std::string> block_sizes{"512", "1024", "256", "128"};

template <class T>
Answer<T> invert(const std::string& variant, const Inputs<T>& inputs, const std::string& threads = "512") {
  return try_method(Problem::named("trtri"), variant, inputs, {{"threads", threads}}).answer;
}

template <class T>
Inputs<T> triangular(std::int64_t n, Uplo uplo) {
  return make_inputs<T>(Problem::named("trtri"), {n, n, n, 1, uplo}, MatrixKind::triangular, 3);
}

bool inside(Uplo uplo, std::int64_t i, std::int64_t j) {
  return uplo == Uplo::lower ? i >= j : i <= j;
}

PRECISION_TEST_SUITE(Trtri);

// The inverse of (2 0 0; 4 4 0; 8 4 0.5) is (0.5 0 0; -0.5 0.25 0; -4 -2 2).
TYPED_TEST(Trtri, ByHand) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();  // the other triangle is not read
  for (const std::string& variant : ours) {
    const auto lower = invert(variant, square<T>(3, {2, 4, 8, nan, 4, 4, nan, nan, 0.5}, Uplo::lower));
    EXPECT_EQ(lower.info, 0);
    EXPECT_EQ(lower.x.data, (std::vector<T>{0.5, -0.5, -4, 0, 0.25, -2, 0, 0, 2})) << variant;
    const auto upper = invert(variant, square<T>(3, {2, nan, nan, 4, 4, nan, 8, 4, 0.5}, Uplo::upper));
    EXPECT_EQ(upper.x.data, (std::vector<T>{0.5, 0, 0, -0.5, 0.25, 0, -4, -2, 2})) << variant;
  }
}

// The thread blocks decide which thread computes an element, but do not change its value.
TYPED_TEST(Trtri, BlocksDoNotChangeABit) {
  for (const std::int64_t n : {1, 2, 33, 140}) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      const auto inputs = triangular<TypeParam>(n, uplo);
      const auto expected = invert("gets", inputs);
      for (const std::string& threads : block_sizes) {
        EXPECT_TRUE(same_values(invert("gets_adaptive", inputs, threads), expected)) << n << " " << threads;
      }
    }
  }
}

TYPED_TEST(Trtri, EqualsLapack) {
  using T = TypeParam;
  const std::int64_t n = 83;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    const auto inputs = triangular<T>(n, uplo);
    const auto expected = invert("lapack", inputs).x;
    for (const std::string& variant : ours) {
      const auto found = invert(variant, inputs).x;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          ASSERT_NEAR(found(i, j), inside(uplo, i, j) ? expected(i, j) : T(0),
                      20 * std::numeric_limits<T>::epsilon());
        }
      }
    }
  }
}

}  // namespace
}  // namespace gaussweep
