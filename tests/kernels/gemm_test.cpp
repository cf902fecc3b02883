// gemm by hand, its edges, and the same bits from the three methods that add up in the same order.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "tests/kernels/method_run.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

template <class T>
Answer<T> multiply(const char* variant, const Inputs<T>& inputs, const char* tile = nullptr) {
  const Registry registry = builtin_registry();
  const Method& method = *registry.find(Problem::gemm, variant);
  const auto device = cpu(method.runs_on(Backend::host) ? Backend::host : Backend::emulated);
  Context context(*device);
  context.emulation.shuffle_seed = 7;
  Parameters parameters = defaults(method);
  if (tile != nullptr) parameters.set("tile", std::string(tile));
  return run_method(context, method, inputs, parameters);
}

template <class T>
class Gemm : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Precisions);

TYPED_TEST(Gemm, ByHand) {
  // (1 2 3; 4 5 6) (1 -1; 0 2; 2 0) = (7 3; 16 6); column after column.
  Inputs<TypeParam> inputs;
  inputs.shape = {2, 2, 3, 1, Uplo::lower};
  inputs.a = HostMatrix<TypeParam>(2, 3);
  inputs.a.data = {1, 4, 2, 5, 3, 6};
  inputs.b = HostMatrix<TypeParam>(3, 2);
  inputs.b.data = {1, 0, 2, -1, 2, 0};
  const std::vector<TypeParam> right{7, 16, 3, 6};
  for (const char* variant : {"serial", "global", "shared", "openblas"}) {
    EXPECT_EQ(multiply(variant, inputs).x.data, right) << variant;
  }
}

TYPED_TEST(Gemm, SameBitsWhateverTheTile) {
  for (const Shape& shape : {Shape{1, 1, 1, 1, Uplo::lower}, Shape{1, 40, 33, 1, Uplo::lower},
                             Shape{33, 1, 70, 1, Uplo::lower}, Shape{17, 31, 1, 1, Uplo::lower},
                             Shape{16, 32, 64, 1, Uplo::lower}, Shape{65, 47, 96, 1, Uplo::lower}}) {
    const auto inputs = make_inputs<TypeParam>(Problem::gemm, shape, MatrixKind::uniform);
    const auto serial = multiply("serial", inputs);
    for (const char* variant : {"global", "shared"}) {
      for (const char* tile : {"16", "32"}) {
        const auto answer = multiply(variant, inputs, tile);
        EXPECT_EQ(
            std::memcmp(answer.x.data.data(), serial.x.data.data(), serial.x.data.size() * sizeof(TypeParam)),
            0)
            << variant << ", tile " << tile << ", m " << shape.m << ", n " << shape.n << ", k " << shape.k;
      }
    }
  }
}

// What a tile holds beyond the edge of the matrices must not meet an infinite element: 0 times inf is NaN.
TYPED_TEST(Gemm, InfinityStaysInItsRow) {
  Inputs<TypeParam> inputs =
      make_inputs<TypeParam>(Problem::gemm, {5, 6, 7, 1, Uplo::lower}, MatrixKind::uniform);
  inputs.a(2, 6) = std::numeric_limits<TypeParam>::infinity();
  for (const char* variant : {"serial", "global", "shared"}) {
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
