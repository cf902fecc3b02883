// Tests gemm on products computed by hand and at tile edges. The three methods that sum in the same order
// must give equal bits.

#include "kernels/gemm/strips.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
Answer<T> multiply(const char* variant, const Inputs<T>& inputs, const ParameterChanges& changes = {}) {
  return try_method(Problem::named("gemm"), variant, inputs, changes, 7).answer;
}

PRECISION_TEST_SUITE(Gemm);

TYPED_TEST(Gemm, ByHand) {
  // (1 2 3; 4 5 6) (1 -1; 0 2; 2 0) = (7 3; 16 6), stored by columns.
  Inputs<TypeParam> inputs = inputs_of<TypeParam>({2, 2, 3, 1, Uplo::lower}, HostMatrix<TypeParam>(2, 3));
  inputs.a.data = {1, 4, 2, 5, 3, 6};
  inputs.b = HostMatrix<TypeParam>(3, 2);
  inputs.b.data = {1, 0, 2, -1, 2, 0};
  const std::vector<TypeParam> right{7, 16, 3, 6};
  for (const char* variant : {"serial", "direct", "global", "shared", "openblas"}) {
    EXPECT_EQ(multiply(variant, inputs).x.data, right) << variant;
  }
}

TYPED_TEST(Gemm, SameBitsForEveryTile) {
  for (const Shape& shape : {Shape{1, 1, 1, 1, Uplo::lower}, Shape{1, 40, 33, 1, Uplo::lower},
                             Shape{33, 1, 70, 1, Uplo::lower}, Shape{17, 31, 1, 1, Uplo::lower},
                             Shape{16, 32, 64, 1, Uplo::lower}, Shape{65, 47, 96, 1, Uplo::lower}}) {
    const auto inputs = make_inputs<TypeParam>(Problem::named("gemm"), shape, MatrixKind::uniform);
    const auto serial = multiply("serial", inputs);
    for (const char* variant : {"direct", "global", "shared"}) {
      for (const char* tile : {"16", "32"}) {
        EXPECT_TRUE(same_bits(multiply(variant, inputs, {{"tile", tile}}), serial))
            << variant << ", tile " << tile << ", m " << shape.m << ", n " << shape.n << ", k " << shape.k;
      }
    }
  }
}

// A grid has at most 65535 blocks in its y dimension.
TEST(GemmOfManyRows, WorksBeyondTheGridLimit) {
  constexpr std::int64_t m = 65535 * 16 + 3;
  Inputs<float> inputs = inputs_of<float>({m, 1, 1, 1, Uplo::lower}, HostMatrix<float>(m, 1));
  for (std::int64_t i = 0; i < m; ++i) inputs.a(i, 0) = static_cast<float>(i);
  inputs.b = HostMatrix<float>(1, 1);
  inputs.b.data = {2};
  for (const char* variant : {"direct", "global"}) {
    const auto answer = multiply(variant, inputs, {{"tile", "16"}});
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < m; ++i) wrong += answer.x(i, 0) != 2 * static_cast<float>(i);
    EXPECT_EQ(wrong, 0) << variant;
  }
}

TEST(GemmOfManyRows, StripsCoverAllRows) {
  constexpr std::int64_t strip = 65535 * 32;
  constexpr std::int64_t m = 2 * strip + 1;
  std::vector<char> a_data(3 * m), c_data(2 * m);
  const MatrixView<char> a{a_data.data(), m, 2, 3};
  const MatrixView<char> c{c_data.data(), m, 1, 2};
  std::vector<std::int64_t> a_begins, c_begins, rows;
  for_row_strips(a, c, 32, [&](MatrixView<char> a_rows, MatrixView<char> c_rows) {
    EXPECT_EQ(std::tuple(a_rows.rows, a_rows.cols, a_rows.ld), std::tuple(c_rows.rows, 2, 3));
    EXPECT_EQ(c_rows.cols, 1);
    EXPECT_EQ(c_rows.ld, 2);
    a_begins.push_back((a_rows.data - a.data) / 3);
    c_begins.push_back((c_rows.data - c.data) / 2);
    rows.push_back(c_rows.rows);
  });
  EXPECT_EQ(a_begins, (std::vector<std::int64_t>{0, strip, 2 * strip}));
  EXPECT_EQ(c_begins, a_begins);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{strip, strip, 1}));
}

// The zeros that pad an edge tile must not be multiplied by an infinite element, because 0 times inf is NaN.
TYPED_TEST(Gemm, InfinityStaysInItsRow) {
  Inputs<TypeParam> inputs =
      make_inputs<TypeParam>(Problem::named("gemm"), {5, 6, 7, 1, Uplo::lower}, MatrixKind::uniform);
  inputs.a(2, 6) = std::numeric_limits<TypeParam>::infinity();
  for (const char* variant : {"serial", "direct", "global", "shared"}) {
    const auto answer = multiply(variant, inputs);
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        EXPECT_EQ(std::isinf(answer.x(i, j)), i == 2) << variant << " " << i << " " << j;
        EXPECT_FALSE(std::isnan(answer.x(i, j))) << variant << " " << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace gaussweep
