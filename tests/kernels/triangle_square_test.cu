/// Q^T Q of a lower triangle, kernels/poinv/triangle_square.cuh.

#include "kernels/poinv/triangle_square.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/kernels/simt_testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// `offset`: of leading dimensions. multiply(square): by one of its ways.
template <class Multiply>
void expect_product(int n, int offset, Multiply multiply) {
  const auto device = test_device();
  Context context(*device);
  const int ldq = n + offset, ldc = n + 2 * offset;
  std::mt19937 engine(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> q(static_cast<std::size_t>(ldq) * n);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) q[i + j * ldq] = uniform(engine);
  }
  const DeviceArray<double> q_there(*device, q);
  const DeviceArray<double> c_there(*device, std::vector<double>(static_cast<std::size_t>(ldc) * n, NAN));
  multiply(levels::TriangleSquare<double>(context, q_there.data(), ldq, n, c_there.data(), ldc));
  const std::vector<double> c = c_there.values();
  const int step = n > 1000 ? 97 : 1;
  for (int j = 0; j < n; j += step) {
    for (int i = j; i < n; ++i) {
      double sum = 0;
      for (int k = i; k < n; ++k) sum += q[k + i * ldq] * q[k + j * ldq];
      ASSERT_NEAR(c[i + j * ldc], sum, 1e-11) << n << ": " << i << ", " << j;
    }
  }
}

// Orders of one square, of pairs, and with a smaller last one on each level; strips of 512 on the largest.
TEST(TriangleSquare, ByStrips) {
  for (const int n : {1, 40, 64, 100, 200, 1300}) {
    expect_product(n, 1, [&](auto square) { square.multiply_by_strips(n > 1000 ? 512 : 16); });
  }
}

// Less than a tile, whole ones, and half of one at the end.
TEST(TriangleSquare, ByTiles) {
  for (const int n : {64, 256, 320}) {
    for (const int many : {0, 1 << 30}) {
      expect_product(n, 2, [&](auto square) { square.multiply(many); });
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
