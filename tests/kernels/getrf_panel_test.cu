/// Tests the LU panel kernel, which runs in thread-block clusters (kernels/getrf/cluster_panel.cuh). Each
/// matrix is one block of columns of RecursiveLu, which is factored panel by panel.

#include "kernels/getrf/cluster_panel.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using gaussweep::lu::levels;

class GetrfPanel : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, GetrfPanel, ::testing::Values(0, 1, 2));

/// near_ties: magnitudes that differ in their last bits only. tiny: elements so small that their reciprocal
/// overflows.
enum class Kind { uniform, zero_column, small_integers, near_ties, tiny };

/// The scale of a `tiny` matrix relative to a uniform one.
template <class T>
const T tiny_scale = std::ldexp(std::numeric_limits<T>::min(), -8);

template <class T>
std::vector<T> matrix(Kind kind, int n, int lda) {
  std::mt19937 engine(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(lda * n), T(NAN));
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) {
      double value = uniform(engine);
      if (kind == Kind::small_integers) value = std::trunc(3 * value);
      if (kind == Kind::near_ties) value = std::copysign(1, value) + (sizeof(T) == 8 ? 1e-9 : 1e-6) * value;
      if (kind == Kind::tiny) value *= tiny_scale<T>;
      a[r + c * lda] = static_cast<T>(value);
      if (kind == Kind::zero_column && c == n / 2) a[r + c * lda] = 0;
    }
  }
  return a;
}

using lu::Senders;

/// The result of a factorisation, copied from the device.
template <class T>
struct Factored {
  std::vector<T> a;
  std::vector<int> pivots;
  int info;
};

/// Factors an n x n matrix: a panel of `first_columns` columns, then panels of `Columns` columns, the maximum
/// for the kernel's registers. Each launch also applies the previous panel's deferred exchanges and updates.
template <class T, int Columns, int RowsPerThread, int Threads, Senders By>
Factored<T> factor(Context& context, const std::vector<T>& a, int n, int lda, int first_columns) {
  Device& device = context.device;
  DeviceArray<T> device_a(device, a);
  DeviceArray<int> pivots(device, n), source(device, n), target(device, n), info(device, 1);
  std::vector<int> rows(2 * levels * n);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i) % n;
  DeviceArray<int> source_rows(device, rows);
  const auto exchanges_of = [&](int j) { return lu::RowPermutation{source.data() + j, target.data() + j}; };
  int before = 0;
  int cols = 0;
  for (int j = 0; j < n; j += cols) {
    cols = std::min(j == 0 ? first_columns : Columns, n - j);
    const lu::PreviousPanelUpdate update{
        before, j - before, n - j - cols, exchanges_of(j - before), source_rows.data(), n, 0};
    unsigned blocks = By == Senders::block ? 1 : 2;
    while (static_cast<int>(blocks) * Threads * RowsPerThread < n - j) blocks *= 2;
    const int clusters =
        update.cols == 0 ? 1
                         : 1 + lu::row_exchange_clusters<By> + (update.columns_right + Columns - 1) / Columns;
    simt::launch_clusters(context, lu::factor_panel<T, Columns, RowsPerThread, Threads, By>, blocks,
                          static_cast<unsigned>(clusters), dim3(Threads),
                          sizeof(lu::PanelMemory<T, Columns, RowsPerThread, Threads, By>),
                          device_a.data() + j + j * lda, lda, n - j, cols, j, pivots.data() + j,
                          exchanges_of(j), info.data(), update);
    before = cols;
  }
  Factored<T> result{device_a.values(), pivots.values(), info.values()[0]};
  // No launch follows the last panel, so its row exchanges are applied to the columns left of it here.
  const int last = n - cols;
  const std::vector<int> from = source.values(), to = target.values();
  for (int c = 0; c < last; ++c) {
    T* const column = result.a.data() + c * lda;
    const std::vector<T> old(column, column + n);
    for (int t = last; t < n; ++t) {
      column[t] = old[from[t]];
      if (to[t] >= 0) column[to[t]] = old[t];
    }
  }
  return result;
}

/// Checks that ‖PA − LU‖ is small, that multipliers are at most 1, and that pivots and info are valid.
template <class T>
void check(const Factored<T>& seen, std::vector<T> a, int n, int lda, Kind kind) {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  for (int j = 0; j < n; ++j) {
    const int pivot = seen.pivots[j] - 1;
    ASSERT_GE(pivot, j);
    ASSERT_LT(pivot, n);
    for (int c = 0; c < n; ++c) std::swap(a[j + c * lda], a[pivot + c * lda]);
  }
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) {
      double sum = r <= c ? static_cast<double>(seen.a[r + c * lda]) : 0;
      for (int k = 0; k < std::min(r, c + 1); ++k) {
        sum += static_cast<double>(seen.a[r + k * lda]) * seen.a[k + c * lda];
      }
      const double unit = kind == Kind::tiny ? std::numeric_limits<T>::denorm_min() : epsilon / 2;
      ASSERT_NEAR(sum, a[r + c * lda], 8 * unit * n) << "row " << r << ", column " << c;
      if (r > c) {
        ASSERT_LE(std::fabs(seen.a[r + c * lda]), 1 + 2 * epsilon) << "row " << r << ", column " << c;
      }
    }
    for (int r = n; r < lda; ++r) ASSERT_TRUE(std::isnan(seen.a[r + c * lda]));  // the padding is untouched
  }
  EXPECT_EQ(seen.info, kind == Kind::zero_column ? n / 2 + 1 : 0);
}

template <class T, int Columns, int RowsPerThread, int Threads, Senders By = Senders::blocks>
void check_panels(Context& context, int n, Kind kind = Kind::uniform, int first_columns = Columns) {
  SCOPED_TRACE(std::to_string(Columns) + " columns, " + std::to_string(RowsPerThread) +
               " rows per thread, n = " + std::to_string(n) + ", first panel of " +
               std::to_string(first_columns));
  const int lda = n + 5;
  const std::vector<T> a = matrix<T>(kind, n, lda);
  check(factor<T, Columns, RowsPerThread, Threads, By>(context, a, n, lda, first_columns), a, n, lda, kind);
}

TEST_P(GetrfPanel, ClustersInDouble) {
  check_panels<double, 32, 1, 32>(context, 100);
  check_panels<double, 32, 1, 32>(context, 97, Kind::zero_column);
  check_panels<double, 32, 2, 32>(context, 75, Kind::uniform, 20);
  check_panels<double, 16, 4, 32>(context, 130);
  check_panels<double, 32, 1, 64>(context, 140);
  check_panels<double, 32, 2, 64>(context, 170, Kind::zero_column, 25);
  check_panels<double, 8, 8, 32>(context, 40, Kind::uniform, 3);
  check_panels<double, 4, 16, 32>(context, 33);
  check_panels<double, 2, 32, 32>(context, 29);
}

TEST_P(GetrfPanel, ClustersInFloat) {
  check_panels<float, 32, 1, 32>(context, 100);
  check_panels<float, 32, 4, 32>(context, 90, Kind::zero_column, 8);
  check_panels<float, 32, 2, 64>(context, 150);
  check_panels<float, 16, 8, 32>(context, 70);
  check_panels<float, 8, 16, 32>(context, 45);
  check_panels<float, 4, 32, 32>(context, 38, Kind::uniform, 3);
}

TEST_P(GetrfPanel, ClustersWhoseWarpsSend) {
  check_panels<double, 32, 1, 64, Senders::warps>(context, 200);
  check_panels<double, 32, 1, 64, Senders::warps>(context, 101, Kind::zero_column, 7);
  check_panels<double, 32, 2, 64, Senders::warps>(context, 150);
  check_panels<double, 16, 2, 32, Senders::warps>(context, 90, Kind::uniform, 5);
  check_panels<float, 32, 1, 64, Senders::warps>(context, 140);
  check_panels<float, 32, 2, 32, Senders::warps>(context, 77, Kind::zero_column, 11);
}

TEST_P(GetrfPanel, SingleBlocks) {
  check_panels<double, 32, 1, 64, Senders::block>(context, 64);
  check_panels<double, 32, 1, 128, Senders::block>(context, 101, Kind::zero_column, 9);
  check_panels<double, 32, 2, 64, Senders::block>(context, 120);
  check_panels<float, 32, 1, 128, Senders::block>(context, 128);
  check_panels<float, 32, 1, 64, Senders::block>(context, 51, Kind::uniform, 13);
}

/// Pivot candidates whose high 32-bit words are equal, and pivots so small that columns are divided by them,
/// because their reciprocal is no normal number.
TEST_P(GetrfPanel, NearTiesAndTinyElements) {
  for (const Kind kind : {Kind::near_ties, Kind::tiny}) {
    SCOPED_TRACE(kind == Kind::tiny ? "tiny" : "near ties");
    check_panels<double, 32, 1, 64>(context, 90, kind);
    check_panels<double, 32, 2, 32, Senders::warps>(context, 90, kind);
    check_panels<double, 32, 1, 128, Senders::block>(context, 90, kind);
    check_panels<float, 32, 2, 64>(context, 90, kind);
    check_panels<float, 32, 1, 64, Senders::warps>(context, 90, kind);
  }
}

/// If candidates are equal, the first row is the pivot, whichever thread is faster.
TEST_P(GetrfPanel, TiesAreBrokenAlikeInEveryOrder) {
  const int n = 66, lda = 70;
  const std::vector<double> a = matrix<double>(Kind::small_integers, n, lda);
  const auto clusters = factor<double, 32, 1, 32, Senders::blocks>(context, a, n, lda, 32);
  const auto first = std::max_element(a.begin(), a.begin() + n,
                                      [](double x, double y) { return std::fabs(x) < std::fabs(y); });
  EXPECT_EQ(clusters.pivots[0], first - a.begin() + 1);
  EXPECT_EQ(clusters.pivots, (factor<double, 32, 2, 32, Senders::blocks>(context, a, n, lda, 32).pivots));
  EXPECT_EQ(clusters.pivots, (factor<double, 32, 1, 128, Senders::block>(context, a, n, lda, 32).pivots));
  EXPECT_EQ(clusters.pivots, (factor<double, 32, 1, 64, Senders::warps>(context, a, n, lda, 32).pivots));
  EXPECT_EQ(clusters.pivots, (factor<double, 32, 2, 32, Senders::warps>(context, a, n, lda, 32).pivots));
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
