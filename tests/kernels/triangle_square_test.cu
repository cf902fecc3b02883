/// Tests Q^T Q of a lower triangle, kernels/poinv/triangle_square.cuh.

#include "kernels/poinv/triangle_square.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Checks multiply(q, ldq, c, ldc) for a triangle of order n, with leading dimensions n + `offset` and
/// n + 2 `offset`; with `upper`, for the transposed triangle.
template <class Multiply>
void expect_product(Context& context, int n, int offset, bool upper, Multiply multiply) {
  const int ldq = n + offset, ldc = n + 2 * offset;
  std::mt19937 engine(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> q(static_cast<std::size_t>(ldq) * n);
  const auto element = [&](int i, int j) -> double& { return upper ? q[j + i * ldq] : q[i + j * ldq]; };
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) element(i, j) = uniform(engine);
  }
  const DeviceArray<double> device_q(context.device, q);
  const DeviceArray<double> device_c(context.device,
                                     std::vector<double>(static_cast<std::size_t>(ldc) * n, NAN));
  multiply(device_q.data(), ldq, device_c.data(), ldc);
  const std::vector<double> c = device_c.values();
  const int step = n > 1000 ? 97 : 1;
  for (int j = 0; j < n; j += step) {
    for (int i = j; i < n; ++i) {
      double sum = 0;
      for (int k = i; k < n; ++k) sum += element(k, i) * element(k, j);
      ASSERT_NEAR(c[i + j * ldc], sum, 1e-11) << n << ": " << i << ", " << j;
    }
  }
}

// Products are computed in strips of 16 columns (512 at order 1300). The orders have one strip, only whole
// strips, or a narrower last strip.
TEST(TriangleSquare, InStrips) {
  const auto device = test_device();
  Context context(*device);
  for (const int n : {1, 40, 64, 100, 200, 1300}) {
    expect_product(context, n, 1, false, [&](const double* q, int ldq, double* c, int ldc) {
      levels::TriangleSquare<double>(context, q, ldq, n, c, ldc).multiply(n > 1000 ? 512 : 16);
    });
  }
}

// Orders with one tile, whole tiles, and half a tile at the end. Up to order 256 two thread blocks each
// compute half of a tile's sum.
TEST(TriangleSquare, InTiles) {
  const auto device = test_device();
  Context context(*device);
  for (const int n : {64, 192, 256, 320}) {
    for (const int min_large_tiles : {0, 1 << 30}) {
      expect_product(context, n, 2, true, [&](const double* p, int ldp, double* c, int ldc) {
        levels::square_by_large_tiles(context, levels::square_of_upper(p, ldp, n, c, ldc), min_large_tiles);
      });
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
