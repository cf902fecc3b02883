// Tests trtri/levels, geinv/recursive and poinv/recursive at a hundred odd orders, and at orders where their
// algorithm changes. Small inverses are verified on the CPU; larger ones are compared with the vendor's.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// A method, and the kind of matrix that it inverts.
struct Case {
  const char* problem;
  const char* variant;
  MatrixKind kind;
};

class InversesOnGpu : public OnGpu, public testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    if (small()) GTEST_SKIP() << "small sizes only";
    require(row().capability);
  }
  const Method& row() const { return row_of(std::string(GetParam().problem) + "/" + GetParam().variant); }
  const Method& vendor() const { return row_of(std::string(GetParam().problem) + "/cusolver"); }

  template <class T>
  Inputs<T> inputs(std::int64_t n, Uplo uplo) const {
    return make_inputs<T>(Problem::named(GetParam().problem), {n, n, n, 1, uplo}, GetParam().kind);
  }
  template <class T>
  void invert_odd_orders(int count) {
    std::mt19937 engine(sizeof(T));
    for (int i = 0; i < count; ++i) {
      const std::int64_t n = 2 * static_cast<std::int64_t>(engine() % 600) + 1;
      const Uplo uplo = i % 2 == 0 ? Uplo::lower : Uplo::upper;
      SCOPED_TRACE(testing::Message() << "n = " << n);
      const Inputs<T> given = inputs<T>(n, uplo);
      const Answer<T> ours = run(row(), given);
      EXPECT_EQ(ours.info, 0);
      EXPECT_LT(check(row(), given, ours).ratio, 1);
    }
  }
};

TEST_P(InversesOnGpu, OddOrdersAreAccurate) {
  invert_odd_orders<double>(50);
  invert_odd_orders<float>(50);
}

// For trtri/levels: 1024 and 2048 have equal diagonal blocks. 1025, 1040, 2064 and 4101 have 1 to 16 further
// rows, which are added last. 1088, 1500, 2112 and 4160 have a smaller last diagonal block.
TEST_P(InversesOnGpu, LargeInversesEqualTheVendors) {
  const Problem problem = Problem::named(GetParam().problem);
  for (const std::int64_t n : {1024, 1025, 1040, 1088, 1500, 2048, 2064, 2112, 4101, 4160}) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      if (uplo == Uplo::upper && problem != Problem::named("trtri")) continue;
      SCOPED_TRACE(testing::Message() << "n = " << n);
      const Inputs<double> given = inputs<double>(n, uplo);
      const Answer<double> ours = run(row(), given);
      const Answer<double> reference = run(vendor(), given);
      EXPECT_EQ(ours.info, 0);
      EXPECT_LT(difference(problem, given.shape, ours, reference).largest, 1e-9);
    }
  }
}

// Products of inverses would lose digits, because these matrices are ill-conditioned.
TEST_F(OnGpu, PoinvIsAsAccurateAsTheVendorOnBlurMatrices) {
  if (small()) GTEST_SKIP() << "small sizes only";
  require(90);
  for (const std::int64_t width : {30, 50, 64}) {
    const Inputs<double> inputs = hard_blur(width);
    const auto ratio = [&](const char* id) {
      const Method& row = row_of(id);
      return check(row, inputs, run_method(*context, row, inputs, defaults(row))).ratio;
    };
    EXPECT_LT(ratio("poinv/recursive"), 3 * ratio("poinv/cusolver")) << width;
  }
}

INSTANTIATE_TEST_SUITE_P(All, InversesOnGpu,
                         testing::Values(Case{"trtri", "levels", MatrixKind::triangular},
                                         Case{"geinv", "recursive", MatrixKind::diagonally_dominant},
                                         Case{"poinv", "recursive", MatrixKind::spd}),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.problem; });

}  // namespace
}  // namespace gaussweep
