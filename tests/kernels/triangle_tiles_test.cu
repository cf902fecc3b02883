/// Tests the update beyond a panel of an LU factorisation by tiles on tensor cores,
/// kernels/getrf/triangle_tiles.cuh.

#include "kernels/getrf/triangle_tiles.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

std::vector<double> random_elements(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(count);
  for (double& value : values) value = uniform(engine);
  return values;
}

class TriangleTiles : public ShuffledTest {};
INSTANTIATE_TEST_SUITE_P(Orders, TriangleTiles, ::testing::ValuesIn(shuffle_seeds));

__global__ void solve_in_global(const double* triangle, double* inverses, double* x, int stride) {
  lu::invert_diagonal_tiles(triangle, inverses);
  lu::solve_tile_by_inverses(triangle, inverses, x, stride);
}

TEST_P(TriangleTiles, SolvesEightColumnsAndLeavesTheOthers) {
  constexpr int stride = 18;
  // Elements on and above the diagonal are ignored; here they are NaN.
  std::vector<double> triangle = random_elements(32 * lu::triangle_stride, 1);
  for (int k = 0; k < 32; ++k) {
    for (int r = 0; r <= k; ++r) triangle[k * lu::triangle_stride + r] = std::nan("");
  }
  std::vector<double> x = random_elements(32 * stride, 2);
  DeviceArray<double> device_triangle(*device, triangle), inverses(*device, lu::inverses_size),
      device_x(*device, x);
  simt::launch(context, solve_in_global, 1, 32, 0, device_triangle.data(), inverses.data(),
               device_x.data() + 8, stride);
  const std::vector<double> seen = device_x.values();
  double largest = 0;
  for (int c = 8; c < 16; ++c) {
    for (int r = 0; r < 32; ++r) {
      for (int k = 0; k < r; ++k)
        x[r * stride + c] -= triangle[k * lu::triangle_stride + r] * x[k * stride + c];
      largest = std::max(largest, std::fabs(x[r * stride + c]));
    }
  }
  for (int i = 0; i < 32 * stride; ++i) {
    const bool solved = i % stride >= 8 && i % stride < 16;
    ASSERT_NEAR(seen[i], x[i], solved ? 1e-13 * largest : 0)
        << "row " << i / stride << ", column " << i % stride;
  }
}

/// A panel of fewer columns: its triangle ends with zeros, and the corresponding rows of x stay unchanged.
TEST_P(TriangleTiles, LeavesRowsBeyondTheTriangle) {
  constexpr int stride = 10, rows = 13;
  std::vector<double> triangle = random_elements(32 * lu::triangle_stride, 3);
  for (int k = 0; k < 32; ++k) {
    for (int r = rows; r < 32; ++r) triangle[k * lu::triangle_stride + r] = 0;
  }
  std::vector<double> x = random_elements(32 * stride, 4);
  DeviceArray<double> device_triangle(*device, triangle), inverses(*device, lu::inverses_size),
      device_x(*device, x);
  simt::launch(context, solve_in_global, 1, 32, 0, device_triangle.data(), inverses.data(), device_x.data(),
               stride);
  const std::vector<double> seen = device_x.values();
  for (int c = 0; c < 8; ++c) {
    for (int r = 0; r < 32; ++r) {
      for (int k = 0; k < r; ++k)
        x[r * stride + c] -= triangle[k * lu::triangle_stride + r] * x[k * stride + c];
      ASSERT_NEAR(seen[r * stride + c], x[r * stride + c], r < rows ? 1e-12 : 0)
          << "row " << r << ", column " << c;
    }
  }
}

template <int Columns, int RowsPerThread>
__global__ void subtract_in_global(double* device_v, const double* l, std::int64_t lda, int rows, int inner,
                                   const double* upper, double* staging) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int step = static_cast<int>(blockDim.x);
  const int row = static_cast<int>(threadIdx.x);
  lu::ProductOnTensorCores<Columns, RowsPerThread, Columns + 2> product(row, step, rows, l, lda, inner);
  double v[RowsPerThread][Columns];
  for (int s = 0; s < RowsPerThread; ++s) {
    for (int c = 0; c < Columns; ++c)
      v[s][c] = row + s * step < rows ? device_v[row + s * step + c * rows] : 0;
  }
  product.subtract(v, upper, staging + warp * lu::staging_size);
  for (int s = 0; s < RowsPerThread; ++s) {
    for (int c = 0; c < Columns; ++c) {
      if (row + s * step < rows) device_v[row + s * step + c * rows] = v[s][c];
    }
  }
}

template <int Columns, int RowsPerThread>
void check_product(Context& context, int threads, int rows, int inner) {
  Device& device = context.device;
  const int lda = rows + 3;
  constexpr int stride = Columns + 2;
  std::vector<double> v = random_elements(rows * Columns, 5);
  std::vector<double> l = random_elements(lda * inner, 6);
  for (int k = 0; k < inner; ++k) {
    for (int r = rows; r < lda; ++r) l[k * lda + r] = std::nan("");  // beyond the matrix
  }
  std::vector<double> upper = random_elements(Columns * stride, 7);
  for (int i = inner * stride; i < Columns * stride; ++i) upper[i] = 0;
  DeviceArray<double> device_v(device, v), device_l(device, l), device_upper(device, upper),
      staging(device, threads / 32 * lu::staging_size);
  simt::launch(context, subtract_in_global<Columns, RowsPerThread>, 1, threads, 0, device_v.data(),
               device_l.data(), lda, rows, inner, device_upper.data(), staging.data());
  const std::vector<double> seen = device_v.values();
  for (int c = 0; c < Columns; ++c) {
    for (int r = 0; r < rows; ++r) {
      double expected = v[r + c * rows];
      for (int k = 0; k < inner; ++k) expected -= l[r + k * lda] * upper[k * stride + c];
      ASSERT_NEAR(seen[r + c * rows], expected, 1e-13)
          << "row " << r << " of " << rows << ", column " << c << ", inner size " << inner;
    }
  }
}

TEST_P(TriangleTiles, SubtractsProductsFromTheRowsOfThreads) {
  check_product<32, 1>(context, 64, 64, 32);
  check_product<32, 1>(context, 64, 49, 32);
  check_product<32, 2>(context, 64, 128, 32);
  check_product<32, 2>(context, 32, 37, 16);
  check_product<16, 4>(context, 32, 101, 16);
  check_product<16, 1>(context, 32, 1, 5);
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
