/// Q^T Q of a lower triangle, kernels/poinv/triangle_square.cuh.

#include "kernels/poinv/triangle_square.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/kernels/simt_testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Orders of one square, of pairs, and with a smaller last one on each level; strips of 512 on the largest.
TEST(TriangleSquare, IsTheProduct) {
  const auto device = test_device();
  Context context(*device);
  for (const int n : {1, 40, 64, 100, 200, 1300}) {
    const int ldq = n + 1, ldc = n + 2;
    std::mt19937 engine(static_cast<unsigned>(n));
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> q(static_cast<std::size_t>(ldq) * n);
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) q[i + j * ldq] = uniform(engine);
    }
    const DeviceArray<double> q_there(*device, q);
    const DeviceArray<double> c_there(*device, std::vector<double>(static_cast<std::size_t>(ldc) * n, NAN));
    levels::TriangleSquare<double>(context, q_there.data(), ldq, n, c_there.data(), ldc)
        .multiply(n > 1000 ? 512 : 16);
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
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
