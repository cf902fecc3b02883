// Compares the residual that the verification computes, a product minus a target, with exact sums.

#include "kernels/check/residual.hpp"
#include "kernels/check/tile.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Returns random elements of either sign from 2^-spread to 1, and zeros; NaN outside the triangle.
template <class T>
HostMatrix<T> random_matrix(std::int64_t rows, std::int64_t cols, MatrixPart part, int spread,
                            unsigned seed) {
  std::mt19937 generator(seed);
  HostMatrix<T> a(rows, cols);
  for (T& value : a.data) {
    value = static_cast<T>(static_cast<double>(generator()) / 0x1p31 - 1);
    value = std::ldexp(value, -static_cast<int>(generator() % (spread + 1u)));
    if (generator() % 8 == 0) value = 0;
  }
  for (std::int64_t j = 0; j < cols; ++j) {
    const RowRange range = rows_of(part, rows, j);
    for (std::int64_t i = 0; i < rows; ++i) {
      if (i < range.begin || i >= range.end) a(i, j) = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return a;
}

PRECISION_TEST_SUITE(Residual);

TYPED_TEST(Residual, IsWithinItsBoundOfTheExactOne) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 7, 32, 65, 130}) {
    HostMatrix<T> c(n, n);
    for (std::int64_t k = 0; k < n * n; ++k)
      c.data[static_cast<std::size_t>(k)] = k % (n + 1) == 0 ? 1 : 0.25;
    const ResidualTarget<T> target{&c};
    for (const MatrixPart left_part : {MatrixPart::all, MatrixPart::lower, MatrixPart::upper}) {
      for (const MatrixPart right_part : {MatrixPart::all, MatrixPart::lower, MatrixPart::upper}) {
        const int spread = n == 65 ? 40 : 2;
        const auto a = random_matrix<T>(n, n, left_part, spread, 1);
        const auto b = random_matrix<T>(n, n, right_part, spread, 2);
        const ProductOperands<T> operands{Operand<T>(a, left_part), Operand<T>(b, right_part, n == 7)};
        for (const Measure measure : {Measure::sum, Measure::largest, Measure::squares}) {
          const auto columns = residual_columns(operands, target, measure);
          ASSERT_EQ(columns.size(), static_cast<std::size_t>(n));
          for (const std::int64_t j : {std::int64_t{0}, n / 2, n - 1}) {
            const auto& column = columns[static_cast<std::size_t>(j)];
            double found = column.value.value();
            double exact = exact_column(operands, target, measure, j).value();
            double bound = column.bound.value();
            if (measure == Measure::squares) {
              found = std::sqrt(found);
              exact = std::sqrt(exact);
              bound = std::sqrt(bound);
            }
            EXPECT_LE(std::fabs(found - exact), bound + 1e-14 * exact) << "n " << n << ", column " << j;
            EXPECT_LE(bound, static_cast<double>(n * n) * (sizeof(T) == 8 ? 0x1p-68 : 0x1p-45));
          }
        }
      }
    }
  }
}

TYPED_TEST(Residual, TransposedAndRectangularFactors) {
  using T = TypeParam;
  const auto a = random_matrix<T>(70, 3, MatrixPart::all, 2, 1);
  const auto b = random_matrix<T>(70, 5, MatrixPart::all, 2, 2);
  Operand<T> left(a);
  left.transposed = true;  // A^T B is 3 x 5
  const HostMatrix<T> zero(3, 5);
  const auto columns =
      residual_columns(ProductOperands<T>{left, Operand<T>(b)}, ResidualTarget<T>{&zero}, Measure::largest);
  ASSERT_EQ(columns.size(), 5u);
  double largest = 0;
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int k = 0; k < 70; ++k) sum += static_cast<double>(a(k, i)) * b(k, 4);
    largest = std::max(largest, std::fabs(sum));
  }
  EXPECT_NEAR(columns[4].value.value(), largest, 1e-13);
}

/// At ordinary exponents the residual is summed in plain double. Scaled operands must give the same bits.
TEST(ResidualInDouble, HasTheSameBitsAtExtremeExponents) {
  constexpr std::int64_t n = 70;
  const auto a = random_matrix<double>(n, n, MatrixPart::all, 40, 1),
             b = random_matrix<double>(n, n, MatrixPart::lower, 40, 2);
  HostMatrix<double> c(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    c(i, i) = 1.25;
    for (std::int64_t k = 3; k < n; ++k) c(i, 3) += a(i, k) * b(k, 3);  // cancels
  }
  const auto times = [](HostMatrix<double> m, int exponent) {
    for (double& value : m.data) value = std::ldexp(value, exponent);
    return m;
  };
  for (const Measure measure : {Measure::sum, Measure::largest}) {
    const auto plain = residual_columns(
        ProductOperands<double>{Operand<double>(a), Operand<double>(b, MatrixPart::lower)}, {&c}, measure);
    for (const int exponent : {-700, -300, 300, 700}) {
      const auto scaled_a = times(a, exponent), scaled_c = times(c, exponent);
      const auto extreme = residual_columns(
          ProductOperands<double>{Operand<double>(scaled_a), Operand<double>(b, MatrixPart::lower)},
          {&scaled_c}, measure);
      for (std::size_t j = 0; j < plain.size(); ++j) {
        EXPECT_EQ(extreme[j].value.mantissa, plain[j].value.mantissa) << j;
        EXPECT_EQ(extreme[j].value.exponent, plain[j].value.exponent + exponent) << j;
        EXPECT_EQ(extreme[j].bound.mantissa, plain[j].bound.mantissa) << j;
      }
    }
  }
}

// Every processor must give the same verdict.
TEST(TileSums, HasTheSameBitsWithAndWithoutVectors) {
  using namespace tiles;
  std::mt19937 generator(3);
  const auto filled = [&](std::size_t count) {
    std::vector<double> data(count);
    for (double& value : data)
      value = std::ldexp(generator() / 0x1p31 - 1, -static_cast<int>(generator() % 60));
    return data;
  };
  const auto left = filled(tile_edge * tile_depth * 2), right = filled(tile_edge * tile_depth * 3);
  for (const auto products : {split_products, plain_products}) {
    const auto tile_by = [&](int lanes) {
      auto tile = std::make_unique<TileSums>();
      for (int repeat = 0; repeat < 3; ++repeat)
        products(lanes)(left.data(), right.data(), tile_edge / microtile_rows, tile_edge / microtile_cols,
                        *tile);
      return tile;
    };
    const auto scalar_tile = tile_by(1);
    EXPECT_NE(scalar_tile->high[5], 0);
    for (const int lanes : {4, 8})
      EXPECT_EQ(std::memcmp(tile_by(lanes).get(), scalar_tile.get(), sizeof(TileSums)), 0);
  }
}

}  // namespace
}  // namespace gaussweep
