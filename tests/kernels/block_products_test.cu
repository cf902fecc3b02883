// Tests solves by products with inverted diagonal blocks, kernels/trsv/block_products.cuh.

#include "kernels/trsv/block_products.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class BlockProductsTest : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, BlockProductsTest, ::testing::Values(0, 1));

/// Solves for right-hand sides with the answer r (1, -1, 2, -2, ...), r = 1, 2, ...
template <class T>
void check_solve(Context& context, int n, int nrhs, bool unit, int order) {
  SCOPED_TRACE(testing::Message() << "n = " << n << ", " << nrhs << " right-hand sides, order " << order);
  const int ld = n + 5, ldb = n + 2;
  std::mt19937 engine(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-0.1, 0.1);
  std::vector<T> lu(static_cast<std::size_t>(ld * n), std::numeric_limits<T>::quiet_NaN());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) lu[i + j * ld] = static_cast<T>((i == j ? 1 : 0) + uniform(engine));
  }
  const auto answer = [](int i, int r) { return (i % 2 == 0 ? 1.0 : -1.0) * (i / 2 % 5 + 1) * (r + 1); };
  std::vector<T> b(static_cast<std::size_t>(ldb * nrhs), T(7));
  for (int r = 0; r < nrhs; ++r) {
    std::vector<double> product(static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i <= j; ++i) product[i] += static_cast<double>(lu[i + j * ld]) * answer(j, r);
    }
    for (int i = 0; i < n; ++i) {
      double sum = product[i] * (unit ? 1.0 : static_cast<double>(lu[i + i * ld]));
      for (int j = 0; j < i; ++j) sum += static_cast<double>(lu[i + j * ld]) * product[j];
      b[i + r * ldb] = static_cast<T>(sum);
    }
  }
  const DeviceArray<T> device_lu(context.device, lu), device_b(context.device, b);
  const BlockProductsWorkspace layout(n, nrhs, order, ldb);
  const DeviceArray<T> memory(context.device,
                              std::vector<T>(static_cast<std::size_t>(layout.elements()), T(NAN)));
  BlockProducts<T> solver(context, n, device_lu.data(), ld, unit, order, nrhs, ldb, memory.data());
  solver.prepare();
  solver.solve(device_b.data(), nrhs);
  const std::vector<T> found = device_b.values();
  const double allowed = (sizeof(T) == 8 ? 1e-11 : 5e-3) * nrhs;
  for (int r = 0; r < nrhs; ++r) {
    for (int i = 0; i < n; ++i) ASSERT_NEAR(found[i + r * ldb], answer(i, r), allowed) << i << ", " << r;
    for (int i = n; i < ldb; ++i) ASSERT_EQ(found[i + r * ldb], T(7));  // the padding is untouched
  }
  EXPECT_TRUE(std::equal(lu.begin(), lu.end(), device_lu.values().begin(),
                         [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); }));
}

/// One block and several, the last one smaller, with and without partial tiles.
TEST_P(BlockProductsTest, SolvesWithBothTriangles) {
  for (const int n : {1, 64, 100, 200}) {
    for (const int order : {64, 128}) {
      check_solve<double>(context, n, 3, true, order);
      check_solve<float>(context, n, 2, false, order);
    }
  }
}

TEST_P(BlockProductsTest, ZeroOnTheDiagonalGivesNoFiniteAnswer) {
  const int n = 100;
  std::vector<double> lu(n * n, 0.0);
  for (int i = 0; i < n; ++i) lu[i + i * n] = i == 70 ? 0 : 1;
  const DeviceArray<double> device_lu(context.device, lu), b(context.device, std::vector<double>(n, 1.0));
  const DeviceArray<double> memory(context.device,
                                   static_cast<std::size_t>(BlockProductsWorkspace(n, 1, 64, n).elements()));
  BlockProducts<double> solver(context, n, device_lu.data(), n, true, 64, 1, n, memory.data());
  solver.prepare();
  solver.solve(b.data(), 1);
  EXPECT_FALSE(std::isfinite(b.values()[70]));
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
