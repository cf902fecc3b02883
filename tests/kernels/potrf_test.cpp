// Tests potrf by hand, against LAPACK, and that the two blocked variants agree.

#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

const std::vector<std::string> blocked{"blocked", "blocked_simultaneous"};

template <class T>
Answer<T> factorise(const std::string& variant, const Inputs<T>& inputs, StageSink* stages = nullptr,
                    const std::string& topleft = "square") {
  return try_method(Problem::named("potrf"), variant, inputs, {{"topleft", topleft}}, 5, stages).answer;
}

template <class T>
Inputs<T> spd(std::int64_t n, Uplo uplo = Uplo::lower) {
  return make_inputs<T>(Problem::named("potrf"), {n, n, n, 1, uplo}, MatrixKind::spd, 3);
}

PRECISION_TEST_SUITE(Potrf);

// (4 2 6; 2 10 9; 6 9 26) = L L^T with L = (2 . .; 1 3 .; 3 2 sqrt(13)). The other triangle is neither read
// nor written.
TYPED_TEST(Potrf, ByHand) {
  using T = TypeParam;
  const T root = std::sqrt(T(13));
  for (const std::string& variant : blocked) {
    const auto lower = factorise(variant, square<T>(3, {4, 2, 6, 99, 10, 9, 99, 99, 26}, Uplo::lower));
    EXPECT_EQ(lower.info, 0);
    EXPECT_EQ(lower.x.data, (std::vector<T>{2, 1, 3, 99, 3, 2, 99, 99, root})) << variant;
    const auto upper = factorise(variant, square<T>(3, {4, 99, 99, 2, 10, 99, 6, 9, 26}, Uplo::upper));
    EXPECT_EQ(upper.x.data, (std::vector<T>{2, 99, 99, 1, 3, 99, 3, 2, root})) << variant;
  }
}

TYPED_TEST(Potrf, BlockedVariantsHaveTheSameBits) {
  for (const std::int64_t n : {1, 15, 16, 17, 32, 33, 90}) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      const auto inputs = spd<TypeParam>(n, uplo);
      const auto square = factorise(blocked[0], inputs);
      EXPECT_TRUE(same_values(square, factorise(blocked[1], inputs))) << n;
      for (const std::string& variant : blocked) {
        EXPECT_TRUE(same_values(square, factorise(variant, inputs, nullptr, "triangle"))) << variant << n;
      }
    }
  }
}

TYPED_TEST(Potrf, UpperIsLowerTransposed) {
  const std::int64_t n = 53;
  for (const std::string& variant : blocked) {
    const auto lower = factorise(variant, spd<TypeParam>(n, Uplo::lower)).x;
    const auto upper = factorise(variant, spd<TypeParam>(n, Uplo::upper)).x;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) ASSERT_EQ(lower(i, j), upper(j, i)) << variant;
    }
  }
}

TYPED_TEST(Potrf, EqualsLapack) {
  using T = TypeParam;
  const std::int64_t n = 75;
  const auto inputs = spd<T>(n);
  const auto expected = factorise("lapack", inputs).x;
  for (const std::string& variant : blocked) {
    const auto found = factorise(variant, inputs).x;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        ASSERT_NEAR(found(i, j), expected(i, j), 40 * std::numeric_limits<T>::epsilon() * expected(j, j));
      }
    }
  }
}

// info is that of LAPACK, the first pivot that is not positive, in any block. NaN is not positive.
TYPED_TEST(Potrf, NotPositiveGivesInfo) {
  using T = TypeParam;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
    for (const std::int64_t index : {0, 1, 15, 16, 17, 40, 49}) {
      for (const T value : {T(-1), T(0), std::numeric_limits<T>::quiet_NaN()}) {
        auto inputs = spd<T>(50, uplo);
        inputs.a(index, index) = value;
        // OpenBLAS does not detect NaN, unlike LAPACK's own routine.
        if (value == value) {
          EXPECT_EQ(factorise("lapack", inputs).info, index + 1);
        }
        for (const std::string& variant : blocked) {
          EXPECT_EQ(factorise(variant, inputs).info, index + 1) << variant << " " << value;
          EXPECT_EQ(factorise(variant, inputs, nullptr, "triangle").info, index + 1) << variant << value;
        }
      }
    }
  }
}

TYPED_TEST(Potrf, StagesAreThePapersKernels) {
  Stages sequential, simultaneous;  // 49 = 3 blocks of 16, and one of 1
  factorise("blocked", spd<TypeParam>(49), &sequential);
  EXPECT_THAT(sequential.calls,
              testing::UnorderedElementsAre(testing::Pair("topleft", 4), testing::Pair("strip", 3),
                                            testing::Pair("diagupdate", 3), testing::Pair("loupdate", 2)));
  factorise("blocked_simultaneous", spd<TypeParam>(49), &simultaneous);
  EXPECT_THAT(simultaneous.calls,
              testing::UnorderedElementsAre(testing::Pair("topleft", 4), testing::Pair("strip", 3),
                                            testing::Pair("update", 3)));
}

}  // namespace
}  // namespace gaussweep
