/// Tests the kernels that the recursive LU runs between its panels (row exchanges and triangular solves,
/// kernels/getrf/lu_updates.cuh), and the panel with a window of pivots (window_panel.cuh).

#include "kernels/getrf/lu_updates.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class LuUpdates : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, LuUpdates, ::testing::Values(0, 1, 2));

template <class T>
std::vector<T> random_columns(int rows, int columns, double size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<T> values(static_cast<std::size_t>(rows * columns));
  for (T& value : values) value = static_cast<T>(uniform(engine));
  return values;
}

/// Compares B := L^-1 B, computed by `run`, with substitution in double. L is unit lower triangular.
template <class T, class Run>
void check_solve(Context& context, int rows, int columns, Run run) {
  const int ldl = rows + 3, ldb = rows + 1;
  std::vector<T> l = random_columns<T>(ldl, rows, 0.3, 1);
  for (int k = 0; k < rows; ++k) {
    for (int r = 0; r <= k; ++r) l[r + k * ldl] = T(1e5);  // belongs to U and must be ignored
  }
  const std::vector<T> b = random_columns<T>(ldb, columns, 1, 2);
  DeviceArray<T> device_l(context.device, l), device_b(context.device, b);
  run(device_l.data(), ldl, device_b.data(), ldb);
  const std::vector<T> seen = device_b.values();
  for (int c = 0; c < columns; ++c) {
    std::vector<double> x(b.begin() + c * ldb, b.begin() + c * ldb + rows);
    double size = 1;
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < r; ++k) x[r] -= static_cast<double>(l[r + k * ldl]) * x[k];
      size = std::max(size, std::fabs(x[r]));
    }
    for (int r = 0; r < rows; ++r) {
      ASSERT_NEAR(seen[r + c * ldb], x[r], (sizeof(T) == sizeof(double) ? 1e-13 : 1e-4) * size)
          << "row " << r << " of " << rows << ", column " << c << " of " << columns;
    }
    ASSERT_EQ(seen[rows + c * ldb], b[rows + c * ldb]);  // the rows below are untouched
  }
}

/// @tparam Tiles tiles of eight columns of B per thread block
template <int Tiles>
void check_tensor_cores(Context& context, int rows, int columns) {
  check_solve<double>(context, rows, columns, [&](const double* l, int ldl, double* b, int ldb) {
    lu::launch_solve<lu::RowOrder::plain, /*Corrects=*/false, /*Columns=*/8 * Tiles>(
        context, l, ldl, rows, b, ldb, columns, /*scale=*/static_cast<const double*>(nullptr));
  });
}

TEST_P(LuUpdates, TriangularUpdatesOnTensorCores) {
  check_tensor_cores<4>(context, 64, 45);
  check_tensor_cores<4>(context, 256, 33);
  check_tensor_cores<1>(context, 97, 9);
  check_tensor_cores<1>(context, 32, 8);
  check_tensor_cores<4>(context, 33, 64);
  check_tensor_cores<4>(context, 5, 3);
}

TEST_P(LuUpdates, TriangularUpdatesInFloat) {
  for (const auto& [rows, columns] : {std::pair{64, 20}, {96, 9}, {256, 17}, {32, 1}}) {
    check_solve<float>(context, rows, columns,
                       [&, rows = rows, columns = columns](const float* l, int ldl, float* b, int ldb) {
                         lu::launch_solve<lu::RowOrder::plain, /*Corrects=*/false, /*Columns=*/8>(
                             context, l, ldl, rows, b, ldb, columns,
                             /*scale=*/static_cast<const float*>(nullptr));
                       });
  }
}

/// Solves with reversed and scaled rows of B. The answer must have the bits of a solve in the normal order,
/// for which the test reversed and scaled B.
template <class T, int Columns>
void check_reversed(Context& context, int rows, int columns) {
  const int ldl = rows + 3, ldb = rows + 1;
  const std::vector<T> l = random_columns<T>(ldl, rows, 0.3, 1), scale = random_columns<T>(rows, 1, 1, 2);
  const std::vector<T> b = random_columns<T>(ldb, columns, 1, 3);
  std::vector<T> reversed = b;
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) reversed[rows - 1 - r + c * ldb] = b[r + c * ldb] * scale[r];
  }
  DeviceArray<T> device_l(context.device, l), device_scale(context.device, scale),
      device_b(context.device, b), device_reversed(context.device, reversed);
  const int last = rows - 1;
  lu::launch_solve<lu::RowOrder::reversed, /*Corrects=*/true, Columns, T>(
      context, device_l.data(), ldl, rows, device_b.data() + last, ldb, columns, device_scale.data() + last);
  lu::launch_solve<lu::RowOrder::plain, /*Corrects=*/false, Columns, T>(
      context, device_l.data(), ldl, rows, device_reversed.data(), ldb, columns, /*scale=*/nullptr);
  const std::vector<T> seen = device_b.values(), expected = device_reversed.values();
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r)
      ASSERT_EQ(seen[last - r + c * ldb], expected[r + c * ldb]) << r << ", " << c;
    ASSERT_EQ(seen[rows + c * ldb], b[rows + c * ldb]);  // the rows below are untouched
  }
}

TEST_P(LuUpdates, ReversedRows) {
  check_reversed<double, 8>(context, 64, 9);
  check_reversed<double, 32>(context, 256, 33);
  check_reversed<float, 8>(context, 64, 9);
  check_reversed<float, 32>(context, 96, 33);
}

/// Row exchanges. `pivots` is the argument of LAPACK's laswp. source_rows[i] is the original row that is in
/// row i after the exchanges.
struct Swaps {
  std::vector<int> pivots, source_rows;
};
/// Returns random exchanges, as partial pivoting makes them in `count` columns from `first` on.
Swaps swaps(int n, int first, int count, unsigned seed) {
  Swaps result{std::vector<int>(n), std::vector<int>(n)};
  std::iota(result.pivots.begin(), result.pivots.end(), 1);
  std::iota(result.source_rows.begin(), result.source_rows.end(), 0);
  std::mt19937 engine(seed);
  for (int j = first; j < first + count; ++j) {
    const int pivot = std::uniform_int_distribution<int>(j, n - 1)(engine);
    result.pivots[j] = pivot + 1;
    std::swap(result.source_rows[j], result.source_rows[pivot]);
  }
  return result;
}

TEST_P(LuUpdates, FewAndManyRowExchanges) {
  // Applies the exchanges of matrix columns 20 to 56 to nine other columns.
  const int n = 90, first = 20, count = 37, columns = 9, lda = n + 2;
  const Swaps expected = swaps(n, first, count, 3);
  // Exchanges of the columns before `first`. The kernels must also reset their permutation to the identity.
  const Swaps before = swaps(n, 0, first, 4);
  const std::vector<double> a = random_columns<double>(lda, columns, 1, 5);
  for (const bool many : {false, true}) {
    std::vector<int> pivots = expected.pivots;
    std::copy_n(before.pivots.begin(), first, pivots.begin());
    DeviceArray<double> device_a(*device, a), buffer(*device, 4 * n);
    DeviceArray<int> device_pivots(*device, pivots), source_rows(*device, expected.source_rows),
        previous(*device, before.source_rows);
    if (many) {
      simt::launch(context, lu::exchange_rows_by_column_buffer<double>, /*grid=*/4, /*block=*/64,
                   /*shared_bytes=*/0, device_a.data(), lda, first, n - first, columns, device_pivots.data(),
                   source_rows.data(), previous.data(), first, buffer.data());
    } else {
      simt::launch(context, lu::exchange_rows_by_element<double, 4>, /*grid=*/(columns + 3) / 4, /*block=*/64,
                   /*shared_bytes=*/0, device_a.data(), lda, first, count, columns, device_pivots.data(),
                   source_rows.data(), previous.data(), first);
    }
    const std::vector<double> seen = device_a.values();
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < lda; ++r) {
        ASSERT_EQ(seen[r + c * lda], a[(r < n ? expected.source_rows[r] : r) + c * lda])
            << "row " << r << (many ? ", many" : "");
      }
    }
    const std::vector<int> after_reset = previous.values();
    for (int r = 0; r < n; ++r) ASSERT_EQ(after_reset[r], r);
  }
}

/// Tests a panel whose pivots come from its first rows, the window. In the rows below, multipliers may
/// exceed 1.
TEST_P(LuUpdates, WindowPanelAndTheRowsBelow) {
  const int n = 300, cols = 32, lda = n + 4;
  const std::vector<float> a = random_columns<float>(lda, cols, 1, 6);
  DeviceArray<float> device_a(*device, a);
  DeviceArray<int> pivots(*device, cols), source(*device, cols), target(*device, cols), info(*device, 1);
  // Two permutations of the rows per level of LU's recursion (lu::Update).
  std::vector<int> identity(2 * gaussweep::lu::levels * n);
  for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<int>(i) % n;
  DeviceArray<int> source_rows(*device, identity);
  const lu::RowPermutation exchanges{source.data(), target.data()};
  const int window = gaussweep::lu::pivot_window_rows, beyond = n - window;
  simt::launch(context, lu::factor_window<float>, 1, window, sizeof(lu::WindowMemory<float>), device_a.data(),
               lda, /*rows=*/window, cols, /*first=*/0, pivots.data(), exchanges, info.data());
  simt::launch(context, lu::exchange_and_solve<float>, gaussweep::lu::levels / 4 + (beyond + 31) / 32, 32, 0,
               device_a.data(), lda, /*l=*/device_a.data(), /*first=*/0, cols, /*before=*/0, /*after=*/cols,
               /*columns=*/cols, exchanges, source_rows.data(), /*order=*/n, /*parities=*/0u,
               /*below=*/device_a.data() + window, /*below_count=*/beyond);
  const std::vector<float> seen = device_a.values();
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int> chosen = pivots.values();
  for (int j = 0; j < cols; ++j) {
    ASSERT_LE(chosen[j], window);
    std::swap(order[j], order[chosen[j] - 1]);
  }
  double largest = 0;
  for (int c = 0; c < cols; ++c) {
    for (int r = 0; r < n; ++r) {
      double sum = r <= c ? seen[r + c * lda] : 0.0, size = 0;
      for (int k = 0; k < std::min(r, c + 1); ++k) {
        sum += static_cast<double>(seen[r + k * lda]) * seen[k + c * lda];
        size += std::fabs(seen[r + k * lda] * seen[k + c * lda]);
      }
      ASSERT_NEAR(sum, a[order[r] + c * lda], 1e-6 * (1 + size)) << "row " << r << ", column " << c;
      if (r > c && r < window) largest = std::max<double>(largest, std::fabs(seen[r + c * lda]));
    }
  }
  EXPECT_LE(largest, 1.000001);
  const std::vector<int> moved = source_rows.values();
  for (int r = 0; r < n; ++r) ASSERT_EQ(moved[r], order[r]);
}

/// Inf and NaN in a panel with fewer rows than the window: the padding rows are never pivots.
TEST_P(LuUpdates, PaddingRowsOfAWindowAreNoPivots) {
  const int rows = 40, cols = 32;
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    for (const int index : {0, rows, 7 + 3 * rows, rows - 1 + (cols - 1) * rows}) {
      std::vector<float> a = random_columns<float>(rows, cols, 1, 6);
      // The largest element of column 0, so that row 0 is the first pivot row. Multiples of row 0, which may
      // have the special value in column 1, are then subtracted from all other rows.
      a[0] = 10;
      a[index] = value;
      DeviceArray<float> device_a(*device, a);
      DeviceArray<int> pivots(*device, cols), source(*device, cols), target(*device, cols), info(*device, 1);
      simt::launch(context, lu::factor_window<float>, 1, gaussweep::lu::pivot_window_rows,
                   sizeof(lu::WindowMemory<float>), device_a.data(), /*lda=*/rows, rows, cols, /*first=*/0,
                   pivots.data(), lu::RowPermutation{source.data(), target.data()}, info.data());
      const std::vector<int> chosen = pivots.values();
      for (int j = 0; j < cols; ++j)
        EXPECT_TRUE(chosen[j] > j && chosen[j] <= rows) << value << " at " << index << ": " << chosen[j];
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
