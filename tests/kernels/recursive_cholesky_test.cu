/// Tests recursion and tasks of potrf/recursive: kernels/potrf/recursive_cholesky.cuh, tile_chain.cuh.

#include "kernels/potrf/recursive_cholesky.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Executes the tasks of a launch one by one and checks that the inputs of each are complete.
template <int GroupsPerUpdate>
void expect_all_tasks(int rows, int columns, int tail_rows) {
  std::vector<unsigned> states(static_cast<std::size_t>(rows * columns), 0);
  const auto state = [&](int i, int j) -> unsigned& {
    return states[static_cast<std::size_t>(i + j * rows)];
  };
  const auto expect_sum = [&](const tiles::Task& task, int i, int j) {
    ASSERT_LT(i, rows);
    ASSERT_LT(j, columns);
    const int max_columns = task.kind == tiles::TaskKind::update ? GroupsPerUpdate * tiles::group_columns
                                                                 : tail_rows + tiles::group_columns / 2;
    ASSERT_LE(task.k_end - task.k_begin, std::max(max_columns, tiles::group_columns));
    for (int k = task.k_begin; k < task.k_end; ++k) {
      ASSERT_EQ(state(i, k), tiles::finished);
      ASSERT_EQ(state(j, k), tiles::finished);
    }
    ASSERT_EQ(state(i, j), static_cast<unsigned>(task.k_begin / tiles::group_columns)) << i << ", " << j;
  };
  tiles::Schedule<GroupsPerUpdate> schedule(rows, columns, tail_rows);
  int tasks = 0;
  for (unsigned ticket = 0;; ++ticket, ++tasks) {
    const tiles::Task task = schedule.task(ticket);
    if (task.kind == tiles::TaskKind::none) break;
    const int j = task.j;
    SCOPED_TRACE(::testing::Message() << rows << " x " << columns << ", ticket " << ticket);
    if (task.kind == tiles::TaskKind::diagonal) {
      if (j > 0) {
        expect_sum(task, j, j - 1);
        ASSERT_EQ(state(j - 1, j - 1), tiles::finished);
        state(j, j - 1) = tiles::finished;
      }
      expect_sum(task, j, j);
      ASSERT_TRUE(j == 0 || task.k_end == j - 1);
      state(j, j) = tiles::finished;
      continue;
    }
    const tiles::TaskTiles task_tiles(task, rows, columns);
    for (int k = 0; k < 4; ++k) {
      if (!task_tiles.is_changed(k)) continue;
      const int row = task_tiles.row_of(k), column = task_tiles.column_of(k);
      expect_sum(task, row, column);
      if (task.kind == tiles::TaskKind::panel) {
        ASSERT_EQ(state(j, j), tiles::finished);
        ASSERT_EQ(task.k_end, j);
        state(row, column) = tiles::finished;
      } else {
        ASSERT_LT(task.k_begin, task.k_end);
        ASSERT_EQ(task.k_end % tiles::group_columns, 0);
        state(row, column) = static_cast<unsigned>(task.k_end / tiles::group_columns);
      }
    }
  }
  EXPECT_GE(tasks, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = j; i < rows; ++i) EXPECT_EQ(state(i, j), tiles::finished) << i << ", " << j;
  }
}

TEST(CholeskySchedule, HasEveryTileOnceAfterItsInputs) {
  for (int rows = 1; rows <= 40; ++rows) {
    for (int columns = 1; columns <= rows; ++columns) {
      for (const int tail : {0, 12, 24, 40}) {
        SCOPED_TRACE(::testing::Message() << "tail of " << tail);
        expect_all_tasks<1>(rows, columns, tail);
        expect_all_tasks<3>(rows, columns, tail);
      }
    }
  }
  expect_all_tasks<1>(256, 16, 40);
  expect_all_tasks<1>(96, 96, 40);
  expect_all_tasks<3>(64, 64, 40);
  expect_all_tasks<3>(103, 103, 40);
  expect_all_tasks<3>(128, 128, 40);
  expect_all_tasks<3>(144, 110, 40);
}

/// Returns a triangle of a positive definite matrix with leading dimension lda; all other elements are NaN.
template <class T>
std::vector<T> definite(int n, int lda, bool upper) {
  std::mt19937 engine(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(lda) * static_cast<std::size_t>(n), static_cast<T>(NAN));
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      const double value = i == j ? n / 2.0 + uniform(engine) : uniform(engine);
      a[static_cast<std::size_t>(upper ? j + i * lda : i + j * lda)] = static_cast<T>(value);
    }
  }
  return a;
}

template <class T>
struct CholeskyFactor {
  std::vector<T> a;
  int info;
};
template <class T>
CholeskyFactor<T> factor(Context& context, const std::vector<T>& a, int n, int lda, bool upper,
                         const tiles::Thresholds& thresholds) {
  Shape shape;
  shape.n = n;
  shape.uplo = upper ? Uplo::upper : Uplo::lower;
  const std::size_t bytes = tiles::workspace_bytes(shape, sizeof(T));
  DeviceArray<T> on_device(context.device, a);
  DeviceArray<double> memory(context.device, std::vector<double>(bytes / sizeof(double), NAN));
  DeviceArray<int> info(context.device, 1);
  Workspace workspace(memory.data(), bytes);
  tiles::RecursiveCholesky<T>(context, shape, on_device.data(), lda, info.data(), workspace, thresholds)
      .factor();
  return {on_device.values(), info.values()[0]};
}

/// Expects LAPACK's factor, and untouched elements outside the triangle.
template <class T>
void expect_factor(Context& context, int n, int lda, bool upper, const tiles::Thresholds& thresholds) {
  const std::vector<T> a = definite<T>(n, lda, upper);
  std::vector<T> expected = a;
  ASSERT_EQ(vendor::potrf(upper ? Uplo::upper : Uplo::lower, n, expected.data(), lda), 0);
  const CholeskyFactor<T> actual = factor(context, a, n, lda, upper, thresholds);
  EXPECT_EQ(actual.info, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int row = static_cast<int>(i) % lda, column = static_cast<int>(i) / lda;
    if (row < n && (upper ? row <= column : row >= column)) {
      ASSERT_NEAR(actual.a[i], expected[i], (sizeof(T) == 8 ? 1e-13 : 1e-4) * std::sqrt(n))
          << "n = " << n << ", " << row << ", " << column;
    } else {
      ASSERT_TRUE(std::isnan(actual.a[i])) << "n = " << n << ", " << row << ", " << column;
    }
  }
}

class RecursiveCholesky : public ShuffledTest {};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, RecursiveCholesky, ::testing::Values(0, 1));

TEST_P(RecursiveCholesky, FactorsInOneLaunch) {
  for (const int n : {1, 64, 65, 200}) {
    expect_factor<double>(context, n, n + (n == 64 ? 4 : 3), /*upper=*/false, {});
    expect_factor<double>(context, n, n, /*upper=*/true, {});
  }
  expect_factor<float>(context, 1100, 1100, /*upper=*/false, {});
  tiles::Thresholds thresholds;
  for (const int tail : {0, 3}) {  // a tail of 3 tile rows needs tasks of kind `update`
    thresholds.tail_tile_rows = tail;
    expect_factor<double>(context, 704, 706, /*upper=*/false, thresholds);
    expect_factor<float>(context, 640, 644, /*upper=*/true, thresholds);
  }
}

// Thresholds{64, 128}: orders above 64 need several launches, of 128 columns each.
TEST_P(RecursiveCholesky, FactorsInSeveralLaunches) {
  expect_factor<double>(context, 320, 320, /*upper=*/false, {64, 128});
  expect_factor<double>(context, 449, 449, /*upper=*/true, {64, 64});
  expect_factor<float>(context, 833, 840, /*upper=*/false, {64, 128});
  expect_factor<float>(context, 640, 644, /*upper=*/false, {64, 64});
  expect_factor<float>(context, 577, 577, /*upper=*/true, {64, 192});
}

/// Updates the trailing matrix in plain loops: subtracts P P^T from the lower triangle of C. P is
/// rows x k_count, and C has `count` columns.
struct PlainUpdates {
  void subtract(int rows, int k_count, const float* p, int count, float* c, std::int64_t ld) {
    for (int j = 0; j < count; ++j) {
      for (int k = 0; k < k_count; ++k) {
        for (int i = j; i < rows; ++i) c[i + j * ld] -= p[i + k * ld] * p[j + k * ld];
      }
    }
  }
};

/// Factors a scaled matrix with PlainUpdates. The callback stops the factorisation after `max_columns`
/// columns.
TEST_P(RecursiveCholesky, FactorsWithOtherUpdates) {
  const struct { int n, max_columns; } cases[] = {{192, 192}, {449, 449}, {449, 250}};
  for (const auto& [n, max_columns] : cases) {
    SCOPED_TRACE(::testing::Message() << n << " up to " << max_columns);
    std::vector<float> a = definite<float>(n, n, /*upper=*/false);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        float& element = a[static_cast<std::size_t>(i + j * n)];
        element = std::ldexp(element, 30 * (i % 3) + 30 * (j % 3) - 60);
      }
    }
    std::vector<float> expected = a;
    ASSERT_EQ(vendor::potrf(Uplo::lower, n, expected.data(), n), 0);
    Shape shape;
    shape.n = n;
    const std::size_t bytes = tiles::workspace_bytes(shape, sizeof(float), /*scaled=*/true);
    DeviceArray<float> on_device(context.device, a);
    DeviceArray<double> memory(context.device, std::vector<double>(bytes / sizeof(double), NAN));
    DeviceArray<int> info(context.device, 1);
    Workspace workspace(memory.data(), bytes);
    PlainUpdates updates;
    int last_asked = 0;
    const int last = max_columns;
    const bool whole = tiles::RecursiveCholesky<float, PlainUpdates>(
                           context, shape, on_device.data(), n, info.data(), workspace,
                           {/*max_single_launch_order=*/64, /*panel=*/64}, /*scaled=*/true)
                           .factor(updates, [&last_asked, last](int columns) {
                             EXPECT_EQ(columns, last_asked + 64);
                             last_asked = columns;
                             return columns <= last;
                           });
    EXPECT_EQ(whole, max_columns == n);
    EXPECT_EQ(info.values()[0], 0);
    const std::vector<float> actual = on_device.values();
    for (int j = 0; whole && j < n; ++j) {
      for (int i = j; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i + j * n);
        const float unscaled = std::ldexp(1.0f, 30 - 30 * (i % 3));
        ASSERT_NEAR(actual[at] * unscaled, expected[at] * unscaled, 3e-3) << i << ", " << j;
      }
    }
  }
}

TEST_P(RecursiveCholesky, InfoNamesTheFirstNonpositivePivot) {
  for (const int bad : {0, 70, 190, 299}) {
    std::vector<float> a = definite<float>(300, 300, /*upper=*/false);
    a[static_cast<std::size_t>(bad * 301)] = bad == 190 ? NAN : -1.0f;
    EXPECT_EQ(factor(context, a, 300, 300, /*upper=*/false, {}).info, bad + 1);
    EXPECT_EQ(factor(context, a, 300, 300, /*upper=*/false, {64, 128}).info, bad + 1);
  }
  for (const int bad : {64, 129}) {
    for (const double pivot : {0.0, HUGE_VAL}) {
      std::vector<double> a = definite<double>(130, 130, /*upper=*/true);
      a[static_cast<std::size_t>(bad * 131)] = pivot;
      EXPECT_EQ(factor(context, a, 130, 130, /*upper=*/true, {}).info, bad + 1) << pivot;
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
