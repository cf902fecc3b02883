// Tests the preparation of the row-cyclic methods, which adds rows to other rows until no element of A is 0.

#include "kernels/check/check.hpp"
#include "kernels/gesv/row_addition.cuh"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// [A | b] by rows, after the preparation.
struct Prepared {
  Prepared(int n, std::vector<double> rows, unsigned threads) : a(std::move(rows)) {
    CpuContext context;
    context.emulation.shuffle_seed = 3;
    simt::launch(context, add_rows_at_zeros<double>, dim3(1), dim3(threads), 0, a.data(), n + 1, n, n + 1,
                 &info);
  }
  std::vector<double> a;
  int info = 0;
};

TEST(GesvRowAddition, AddsTheNextRowThatIsNonzeroInTheColumn) {
  for (const unsigned threads : {1u, 2u, 32u}) {
    // Row 1 ends with a 0. Row 2 does too, so the first row is added.
    const Prepared found(3, {1, 2, 3, 10, 4, 5, 0, 11, 6, 7, 0, 12}, threads);
    EXPECT_EQ(found.info, 0);
    EXPECT_EQ(found.a, (std::vector<double>{1, 2, 3, 10, 5, 7, 3, 21, 7, 9, 3, 22}));
  }
}

TEST(GesvRowAddition, CreatesNoOtherZero) {
  // Adding once would cancel the first column, so the row is subtracted.
  EXPECT_EQ(Prepared(2, {1, 0, 5, -1, 3, 7}, 4).a, (std::vector<double>{2, -3, -2, -1, 3, 7}));
  // Adding once cancels the first column and subtracting once the second, so the row is added twice.
  const Prepared twice(3, {1, 1, 0, 5, -1, 1, 4, 7, 2, 2, 2, 2}, 4);
  EXPECT_EQ(twice.a, (std::vector<double>{-1, 3, 8, 19, -1, 1, 4, 7, 2, 2, 2, 2}));
}

TEST(GesvRowAddition, ColumnOfZerosGivesInfo) {
  EXPECT_EQ(Prepared(3, {1, 0, 2, 1, 3, 0, 4, 1, 5, 0, 7, 1}, 32).info, 2);
  EXPECT_EQ(Prepared(1, {0, 1}, 32).info, 1);
}

TEST(GesvRowAddition, FillsMostlyZeroMatrices) {
  const int n = 40;
  std::vector<double> rows(static_cast<std::size_t>(n * (n + 1)));
  for (int i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i * (n + 1) + i)] = 4;
    if (i > 0) rows[static_cast<std::size_t>(i * (n + 1) + i - 1)] = -1;
    if (i + 1 < n) rows[static_cast<std::size_t>(i * (n + 1) + i + 1)] = -1;
    rows[static_cast<std::size_t>(i * (n + 1) + n)] = 0;  // the right-hand side may stay 0
  }
  const Prepared found(n, rows, 32);
  EXPECT_EQ(found.info, 0);
  for (int i = 0; i < n; ++i) {
    const auto row = found.a.begin() + i * (n + 1);
    EXPECT_EQ(std::count(row, row + n, 0.0), 0) << i;
    EXPECT_EQ(row[n], 0.0);
  }
}

/// The paper claims that the methods can solve every regular system after the preparation. This is true with
/// one stripe (the rows of one thread block).
TEST(GesvRowAddition, MakesAZeroDiagonalSolvable) {
  const auto inputs = equations<double>(2, 1, {0, 2, 4, 3, 1, 8});
  for (const char* variant : {"gauss_cyclic_halving", "gauss_cyclic_decrement", "gauss_cyclic_shared"}) {
    const auto solve = [&](const char* preparation) {
      return try_method(Problem::named("gesv"), variant, inputs,
                        {{"blocks", std::int64_t{1}}, {"preparation", std::string(preparation)}})
          .answer;
    };
    EXPECT_EQ(solve("none").info, 1) << variant;
    const auto answer = solve("add_rows");
    EXPECT_EQ(answer.info, 0) << variant;
    EXPECT_DOUBLE_EQ(answer.x(0, 0), 2);
    EXPECT_DOUBLE_EQ(answer.x(1, 0), 2);
  }
}

/// The claim is false with several stripes, even for the identity: each added row also changes the rows of
/// other stripes, so that minors of a stripe become 0.
TEST(GesvRowAddition, DoesNotMakeEveryStripeRegular) {
  const std::int64_t n = 8;
  const auto inputs = square_inputs<double>("gesv", n, MatrixKind::identity);
  for (const std::int64_t blocks : {1, 2}) {
    const auto answer = try_method(Problem::named("gesv"), "gauss_cyclic_decrement", inputs,
                                   {{"blocks", blocks}, {"preparation", std::string("add_rows")}})
                            .answer;
    EXPECT_EQ(answer.info == 0, blocks == 1) << answer.info;
  }
}

}  // namespace
}  // namespace gaussweep::GAUSSWEEP_BACKEND
