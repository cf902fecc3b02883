// Tests posv by hand, in both triangles, and with matrices that are not positive definite.

#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

const std::vector<std::string> variants{"recursive", "lapack"};

PRECISION_TEST_SUITE(Posv);

// (4 2; 2 2) (1 3; 2 -1) = (8 10; 6 4). The other triangle is ignored.
TYPED_TEST(Posv, ByHandFromOneTriangle) {
  using T = TypeParam;
  for (const std::string& variant : variants) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      Inputs<T> inputs = square<T>(2, {4, 2, 2, 2});
      inputs.shape = {2, 2, 2, 2, uplo};
      inputs.a(uplo == Uplo::lower ? 0 : 1, uplo == Uplo::lower ? 1 : 0) = 100;
      inputs.b = HostMatrix<T>(2, 2);
      inputs.b.data = {8, 6, 10, 4};
      const Answer<T> answer = try_method(Problem::named("posv"), variant, inputs).answer;
      ASSERT_EQ(answer.info, 0);
      const std::vector<T> right{1, 2, 3, -1};
      for (std::size_t k = 0; k < right.size(); ++k) {
        EXPECT_NEAR(answer.x.data[k], right[k], 64 * std::numeric_limits<T>::epsilon())
            << variant << ' ' << to_string(uplo);
      }
    }
  }
}

TYPED_TEST(Posv, InfoNamesTheFirstNonpositivePivot) {
  using T = TypeParam;
  for (const std::int64_t n : {3, 64, 130}) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      Inputs<T> inputs = make_inputs<T>(Problem::named("posv"), {n, n, n, 1, uplo}, MatrixKind::spd, 3);
      const std::int64_t bad = n - 2;
      inputs.a(bad, bad) = -1;
      for (const std::string& variant : variants) {
        EXPECT_EQ(try_method(Problem::named("posv"), variant, inputs).answer.info, bad + 1)
            << variant << ", n = " << n;
      }
    }
  }
}

// A method that multiplied by inverses of the factor's diagonal blocks would lose digits on these matrices.
TEST(PosvRecursive, IsAsAccurateAsLapackOnBlurMatrices) {
  for (const std::int64_t width : {12, 18}) {
    const Inputs<double> inputs = hard_blur(width);
    const auto ratio = [&](const char* variant) {
      const Method& method = *registry().find(Problem::named("posv"), variant);
      return check(method, inputs, try_method(method.problem, variant, inputs).answer).ratio;
    };
    EXPECT_LT(ratio("recursive"), 2 * ratio("lapack")) << width;
  }
}

}  // namespace
}  // namespace gaussweep
