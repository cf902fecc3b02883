/// What lies between the panels of an LU factorisation: kernels/getrf/lu_updates.cuh, window_panel.cuh.

#include "kernels/getrf/lu_updates.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/kernels/simt_testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class LuUpdates : public ShuffledTest {};
INSTANTIATE_TEST_SUITE_P(Orders, LuUpdates, ::testing::Values(0, 1, 2));

template <class T>
std::vector<T> random_columns(int rows, int columns, double size, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<T> values(static_cast<std::size_t>(rows * columns));
  for (T& value : values) value = static_cast<T>(uniform(engine));
  return values;
}

/// B = L^-1 B by `run`, against substitution in double.
template <class T, class Run>
void check_solve(Context& context, int rows, int columns, Run run) {
  const int ldl = rows + 3, ldb = rows + 1;
  std::vector<T> l = random_columns<T>(ldl, rows, 0.3, 1);
  for (int k = 0; k < rows; ++k) {
    for (int r = 0; r <= k; ++r) l[r + k * ldl] = T(1e5);  // U's, which does not count
  }
  const std::vector<T> b = random_columns<T>(ldb, columns, 1, 2);
  DeviceArray<T> l_there(context.device, l), b_there(context.device, b);
  run(l_there.data(), ldl, b_there.data(), ldb);
  const std::vector<T> seen = b_there.values();
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
    ASSERT_EQ(seen[rows + c * ldb], b[rows + c * ldb]);  // below the rows
  }
}

template <int Tiles>
void check_tensor_cores(Context& context, int rows, int columns) {
  check_solve<double>(context, rows, columns, [&](const double* l, int ldl, double* b, int ldb) {
    lu::launch_solve<false, 8 * Tiles>(context, l, ldl, rows, b, ldb, columns,
                                       static_cast<const double*>(nullptr));
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
                         lu::launch_solve<false, 8>(context, l, ldl, rows, b, ldb, columns,
                                                    static_cast<const float*>(nullptr));
                       });
  }
}

/// Turned upside down and scaled, the same as not turned of what was scaled before, to the bit.
template <class T, int Columns>
void check_turned(Context& context, int rows, int columns) {
  const int ldl = rows + 3, ldb = rows + 1;
  const std::vector<T> l = random_columns<T>(ldl, rows, 0.3, 1), scale = random_columns<T>(rows, 1, 1, 2);
  const std::vector<T> b = random_columns<T>(ldb, columns, 1, 3);
  std::vector<T> turned = b;
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) turned[rows - 1 - r + c * ldb] = b[r + c * ldb] * scale[r];
  }
  DeviceArray<T> l_there(context.device, l), scale_there(context.device, scale), b_there(context.device, b),
      turned_there(context.device, turned);
  const int last = rows - 1;
  lu::launch_solve<true, Columns, T>(context, l_there.data(), ldl, rows, b_there.data() + last, ldb, columns,
                                     scale_there.data() + last);
  lu::launch_solve<false, Columns, T>(context, l_there.data(), ldl, rows, turned_there.data(), ldb, columns,
                                      nullptr);
  const std::vector<T> seen = b_there.values(), wanted = turned_there.values();
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) ASSERT_EQ(seen[last - r + c * ldb], wanted[r + c * ldb]) << r << ", " << c;
    ASSERT_EQ(seen[rows + c * ldb], b[rows + c * ldb]);  // below the rows
  }
}

TEST_P(LuUpdates, TurnedUpsideDown) {
  check_turned<double, 8>(context, 64, 9);
  check_turned<double, 32>(context, 256, 33);
  check_turned<float, 8>(context, 64, 9);
  check_turned<float, 32>(context, 96, 33);
}

/// Pivots as LAPACK's laswp takes them, the permutation that they make, and the rows after it.
struct Swaps {
  std::vector<int> pivots, rows_at;
};
Swaps swaps(int n, int first, int count, unsigned seed) {
  Swaps result{std::vector<int>(n), std::vector<int>(n)};
  std::iota(result.pivots.begin(), result.pivots.end(), 1);
  std::iota(result.rows_at.begin(), result.rows_at.end(), 0);
  std::mt19937 engine(seed);
  for (int j = first; j < first + count; ++j) {
    const int pivot = std::uniform_int_distribution<int>(j, n - 1)(engine);
    result.pivots[j] = pivot + 1;
    std::swap(result.rows_at[j], result.rows_at[pivot]);
  }
  return result;
}

TEST_P(LuUpdates, RowsAreExchangedFewAndMany) {
  const int n = 90, first = 20, count = 37, columns = 9, lda = n + 2;
  const Swaps wanted = swaps(n, first, count, 3);
  const Swaps before = swaps(n, 0, 20, 4);  // of the columns before, whose permutation is to begin anew
  const std::vector<double> a = random_columns<double>(lda, columns, 1, 5);
  for (const bool many : {false, true}) {
    std::vector<int> pivots = wanted.pivots;
    std::copy_n(before.pivots.begin(), 20, pivots.begin());
    DeviceArray<double> a_there(*device, a), buffer(*device, 4 * n);
    DeviceArray<int> pivots_there(*device, pivots), rows_at(*device, wanted.rows_at),
        previous(*device, before.rows_at);
    if (many) {
      simt::launch(context, lu::exchange_many<double>, 4, 64, 0, a_there.data(), lda, first, n - first,
                   columns, pivots_there.data(), rows_at.data(), previous.data(), 20, buffer.data());
    } else {
      simt::launch(context, lu::exchange_few<double, 4>, (columns + 3) / 4, 64, 0, a_there.data(), lda, first,
                   count, columns, pivots_there.data(), rows_at.data(), previous.data(), 20);
    }
    const std::vector<double> seen = a_there.values();
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < lda; ++r) {
        ASSERT_EQ(seen[r + c * lda], a[(r < n ? wanted.rows_at[r] : r) + c * lda])
            << "row " << r << (many ? ", many" : "");
      }
    }
    const std::vector<int> anew = previous.values();
    for (int r = 0; r < n; ++r) ASSERT_EQ(anew[r], r);
  }
}

/// A panel whose pivots lie in a window, and its rows beyond it: all of L, with factors above 1.
TEST_P(LuUpdates, AWindowsPanelAndTheRowsBeyond) {
  const int n = 300, cols = 32, lda = n + 4;
  const std::vector<float> a = random_columns<float>(lda, cols, 1, 6);
  DeviceArray<float> a_there(*device, a);
  DeviceArray<int> pivots(*device, cols), source(*device, cols), target(*device, cols), info(*device, 1);
  std::vector<int> identity(2 * gaussweep::lu::levels * n);
  for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<int>(i) % n;
  DeviceArray<int> rows_at(*device, identity);
  const lu::Exchanges exchanges{source.data(), target.data()};
  const int window = gaussweep::lu::window, beyond = n - window;
  simt::launch(context, lu::factor_window<float>, 1, window, sizeof(lu::WindowMemory<float>), a_there.data(),
               lda, window, cols, 0, pivots.data(), exchanges, info.data());
  simt::launch(context, lu::exchange_and_solve<float>, gaussweep::lu::levels / 4 + (beyond + 31) / 32, 32, 0,
               a_there.data(), lda, a_there.data(), 0, cols, 0, cols, cols, exchanges, rows_at.data(), n, 0u,
               a_there.data() + window, beyond);
  const std::vector<float> seen = a_there.values();
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
  const std::vector<int> moved = rows_at.values();
  for (int r = 0; r < n; ++r) ASSERT_EQ(moved[r], order[r]);
}

/// Inf and NaN in a panel with fewer rows than the window: what it is filled with is never chosen.
TEST_P(LuUpdates, AWindowsFillerRowsAreNoPivots) {
  const int rows = 40, cols = 32;
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    for (const int place : {0, rows, 7 + 3 * rows, rows - 1 + (cols - 1) * rows}) {
      std::vector<float> a = random_columns<float>(rows, cols, 1, 6);
      a[0] = 10;  // row 0 is the first pivot: all rows lose a multiple of what it has in column 1
      a[place] = value;
      DeviceArray<float> a_there(*device, a);
      DeviceArray<int> pivots(*device, cols), source(*device, cols), target(*device, cols), info(*device, 1);
      simt::launch(context, lu::factor_window<float>, 1, gaussweep::lu::window,
                   sizeof(lu::WindowMemory<float>), a_there.data(), rows, rows, cols, 0, pivots.data(),
                   lu::Exchanges{source.data(), target.data()}, info.data());
      const std::vector<int> chosen = pivots.values();
      for (int j = 0; j < cols; ++j)
        EXPECT_TRUE(chosen[j] > j && chosen[j] <= rows) << value << " at " << place << ": " << chosen[j];
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
