/// Tests the inverse of a triangle level by level (kernels/trtri/levels.cuh) with several
/// levels::InversionSchedule, whose first members are {{block order, border}, max_kernel_half, …}.

#include "kernels/trtri/levels.cuh"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

class TrtriLevels : public ShuffledTest {
 protected:
  TrtriLevels() { context.emulation.shared_bytes = std::size_t{227} * 1024; }
};
// Seeds of the order in which threads run in the emulation: 0 is ascending, the others are shuffled.
INSTANTIATE_TEST_SUITE_P(Orders, TrtriLevels, ::testing::Values(0, 1));

/// Returns |I - A X|_1 / (n u |A|_1 |X|_1) of an inverse X. The other triangle of `x` must be 0.
template <class T>
double ratio(const std::vector<T>& a, int lda, const std::vector<T>& x, int ldx, int n, bool lower,
             bool unit) {
  double residual = 0, size_a = 0, size_x = 0;
  for (int j = 0; j < n; ++j) {
    double column_r = 0, column_a = 0, column_x = 0;
    for (int i = 0; i < n; ++i) {
      if (lower ? i < j : i > j) {
        EXPECT_EQ(x[i + j * ldx], T(0)) << i << ", " << j;
        continue;
      }
      double sum = i == j ? -1 : 0;
      for (int k = std::min(i, j); k <= std::max(i, j); ++k) {
        const double left = unit && i == k ? 1.0 : static_cast<double>(a[i + k * lda]);
        sum += left * static_cast<double>(x[k + j * ldx]);
      }
      column_r += std::fabs(sum);
      column_a += std::fabs(unit && i == j ? 1.0 : static_cast<double>(a[i + j * lda]));
      column_x += std::fabs(static_cast<double>(x[i + j * ldx]));
    }
    residual = std::max(residual, column_r);
    size_a = std::max(size_a, column_a);
    size_x = std::max(size_x, column_x);
  }
  const double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;
  return residual / (n * unit_roundoff * size_a * size_x);
}

template <class T>
void check_inverse(Context& context, int n, int order, bool lower, bool unit,
                   const levels::InversionSchedule& schedule, int padding = 3) {
  SCOPED_TRACE(testing::Message() << "n = " << n << " of " << order << (lower ? ", lower" : ", upper")
                                  << (unit ? ", unit" : ""));
  const int lda = n + padding;
  std::mt19937 engine(static_cast<unsigned>(n));
  std::uniform_real_distribution<double> uniform(-0.1, 0.1);
  std::vector<T> a(static_cast<std::size_t>(lda * n), std::numeric_limits<T>::quiet_NaN());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (lower ? i > j : i < j) a[i + j * lda] = static_cast<T>(uniform(engine));
      if (i == j && !unit) a[i + j * lda] = static_cast<T>(1 + uniform(engine));
    }
  }
  const DeviceArray<T> device_a(context.device, a);
  const auto nan = [](std::int64_t count) {
    return std::vector<T>(static_cast<std::size_t>(count), std::numeric_limits<T>::quiet_NaN());
  };
  const DeviceArray<T> products(context.device, nan(levels::workspace_elements(order)));
  const DeviceArray<T> x(context.device, nan(static_cast<std::int64_t>(order) * order));
  const DeviceArray<int> info(context.device, 1);
  levels::TriangleInverse<T>(context, {device_a.data(), lda, n, lower, unit}, order, products.data(),
                             schedule)
      .invert(x.data(), order, info.data());
  EXPECT_EQ(info.values()[0], 0);
  EXPECT_LT(ratio(a, lda, x.values(), order, n, lower, unit), 1);
}

/// Tests orders with and without a smaller last pair of blocks, with whole and partial blocks, with and
/// without padding by an identity.
template <class T>
void check_orders(Context& context, const levels::InversionSchedule& schedule) {
  for (const int n : {64, 128, 192, 300}) {
    for (const bool lower : {true, false}) {
      const int order = static_cast<int>(levels::padded_order(n));
      check_inverse<T>(context, n, order, lower, n == 192, schedule);
      if (order != n) check_inverse<T>(context, n, n, lower, false, schedule);
    }
  }
}

TEST(TrtriLevelsBlocks, BlocksGiveFewLevelsWithNearlyEqualHalves) {
  struct Case {
    int n, order, border;
  };
  for (const auto& [n, order, border] : {Case{1, 8, 0},
                                         {63, 64, 0},
                                         {64, 64, 0},
                                         {96, 96, 0},
                                         {97, 56, 0},
                                         {999, 64, 0},
                                         {1024, 64, 0},
                                         {1025, 64, 1},
                                         {1040, 64, 16},
                                         {1041, 72, 0},
                                         {1300, 88, 0},
                                         {1552, 96, 16},
                                         {1553, 56, 0},
                                         {2080, 72, 0},
                                         {3001, 96, 0},
                                         {5001, 80, 0},
                                         {8193, 64, 1}}) {
    const levels::BlockSizes blocks = levels::BlockSizes::of(n, 96);
    EXPECT_EQ(blocks.order, order) << n;
    EXPECT_EQ(blocks.border, border) << n;
  }
  EXPECT_EQ(levels::BlockSizes::of(96, 64).order, 48);
}

TEST_P(TrtriLevels, SmallTiles) {
  check_orders<double>(context, levels::InversionSchedule::of<double>(context, 300));
  check_orders<float>(context, levels::InversionSchedule::of<float>(context, 300));
  for (const int n : {1, 2, 63, 65, 97, 161, 281, 385}) {
    for (const bool lower : {true, false}) {
      check_inverse<double>(context, n, n, lower, false, levels::InversionSchedule::of<double>(context, n));
      check_inverse<float>(context, n, n, lower, true, levels::InversionSchedule::of<float>(context, n));
    }
  }
}

TEST_P(TrtriLevels, TilesOf64) {
  const levels::InversionSchedule schedule{{64, 0}, 512, 1, 512, 1 << 30, 0};
  check_orders<double>(context, schedule);
  check_orders<float>(context, schedule);
  for (const bool lower : {true, false}) {
    check_inverse<double>(context, 300, 300, lower, false, {{40, 0}, 512, 1, 512, 1 << 30, 0});
    check_inverse<double>(context, 300, 300, lower, false, {{88, 0}, 512, 1, 512, 1 << 30, 0});
  }
}

TEST_P(TrtriLevels, LargeTiles) {
  for (const int min_128_tiles : {0, 1 << 30}) {
    for (const bool lower : {true, false}) {
      // Padded by an identity, with half a tile in the last pair; one or all operands have columns of odd
      // length. Nine tiles are more than run concurrently.
      check_inverse<double>(context, 300, 320, lower, false, {{64, 0}, 512, 1 << 30, 512, 1, min_128_tiles});
      check_inverse<double>(context, 330, 336, lower, false, {{48, 0}, 512, 1 << 30, 512, 1, min_128_tiles});
      check_inverse<double>(context, 301, 301, lower, true, {{72, 0}, 512, 1 << 30, 512, 1, min_128_tiles},
                            4);
      check_inverse<double>(context, 256, 256, lower, false, {{64, 0}, 512, 1 << 30, 512, 1, min_128_tiles},
                            4);
    }
  }
}

// Two thread blocks share each of few tiles. The cases have one pair of blocks, one tile, columns of odd
// length, or a single slice of k.
TEST_P(TrtriLevels, SharedLargeTiles) {
  for (const bool lower : {true, false}) {
    check_inverse<double>(context, 257, 257, lower, false, {{64, 0}, 512, 1 << 30, 512, 1, 1 << 30, 1});
    check_inverse<double>(context, 140, 160, lower, true, {{72, 0}, 512, 1 << 30, 512, 1, 1 << 30, 1});
  }
}

TEST_P(TrtriLevels, RemaindersOfUpToSixteenRows) {
  for (const bool lower : {true, false}) {
    for (const int border : {1, 8, 9, 16}) {
      const levels::InversionSchedule schedule{{64, border}, 512, 1 << 30, 512, 1 << 30, 0};
      check_inverse<double>(context, 256 + border, 256 + border, lower, false, schedule);
      check_inverse<float>(context, 256 + border, 256 + border, lower, border == 1, schedule);
    }
    // Large tiles; one operand has columns of odd length.
    for (const int min_128_tiles : {0, 1 << 30}) {
      check_inverse<double>(context, 257, 257, lower, false, {{64, 1}, 512, 1 << 30, 512, 1, min_128_tiles},
                            4);
    }
    // The leading part has three blocks.
    check_inverse<double>(context, 250, 250, lower, true, {{80, 10}, 512, 1 << 30, 512, 1 << 30, 0});
  }
}

/// Inverts lower and upper triangles with ill-conditioned diagonal blocks. The residual A X - I, or X A - I
/// if `from_left`, must be as small as by substitution.
template <class T>
void check_hard_inverse(Context& context, int n, int order, bool from_left,
                        const levels::InversionSchedule& schedule) {
  for (const bool lower : {true, false}) {
    SCOPED_TRACE(testing::Message() << "n = " << n << (lower ? ", lower" : ", upper")
                                    << (from_left ? ", from the left" : ""));
    std::mt19937 engine(static_cast<unsigned>(n));
    std::uniform_real_distribution<double> uniform(-0.8, 0.8);
    const int elements = order * order;
    std::vector<T> a(static_cast<std::size_t>(elements), T(0));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (lower ? i > j : i < j) a[i + j * order] = static_cast<T>(uniform(engine));
        if (i == j) a[i + j * order] = T(1);
      }
    }
    const DeviceArray<T> device_a(context.device, a);
    const DeviceArray<T> products(context.device, static_cast<int>(levels::workspace_elements(order)));
    const DeviceArray<T> x(context.device, elements);
    levels::TriangleInverse<T>(context, {device_a.data(), order, n, lower, false, 1, 0, from_left}, order,
                               products.data(), schedule)
        .invert(x.data(), order, nullptr);
    const std::vector<T> inverse = x.values();
    EXPECT_LT(from_left ? ratio(inverse, order, a, order, n, lower, false)
                        : ratio(a, order, inverse, order, n, lower, false),
              1);
  }
}

TEST_P(TrtriLevels, IllConditionedTriangles) {
  levels::InversionSchedule large;
  large.min_tiles_for_large = 1;
  for (const bool from_left : {false, true}) {
    check_hard_inverse<float>(context, 130, 144, from_left,
                              levels::InversionSchedule::of<float>(context, 144));
    check_hard_inverse<double>(context, 97, 97, from_left,
                               levels::InversionSchedule::of<double>(context, 97));
    check_hard_inverse<double>(context, 136, 136, from_left, {{64, 0}, 0, 1, 64});
    check_hard_inverse<double>(context, 136, 136, from_left, {{64, 8}, 512});
    check_hard_inverse<double>(context, 136, 136, from_left, large);
  }
}

TEST_P(TrtriLevels, StripsOfTheVendorsProducts) {
  for (const int block : {64, 72}) {
    const levels::InversionSchedule schedule{{block, 0}, 0, 1, 64, 1 << 30, 0};
    check_orders<double>(context, schedule);
    check_orders<float>(context, schedule);
    for (const bool lower : {true, false}) {  // the last of two pairs is smaller
      check_inverse<double>(context, 640, 640, lower, false, schedule);
    }
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
