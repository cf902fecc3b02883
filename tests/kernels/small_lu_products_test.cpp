// Tests LU with products by halves and residues at small orders. By default the methods use these products
// only for large k; the parameter `least_inner` sets the smallest k.

#include "kernels/check/check.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
void expect_products(const char* problem, const char* variant, std::int64_t n, int least) {
  const Shape shape{n, n, n, 1, Uplo::lower};
  const auto inputs = make_inputs<T>(Problem::named(problem), shape, MatrixKind::uniform);
  const auto run =
      try_method(Problem::named(problem), variant, inputs, {{"least_inner", std::int64_t{1}}}, 5);
  const std::string id = std::string(problem) + "/" + variant;
  EXPECT_GE(run.report.iterations, least) << id << " " << n;
  EXPECT_LT(check(row_of(id), inputs, run.answer).ratio, 1) << id << " " << n;
}

TEST(SmallLuProducts, AreUsedFromOrder65On) {
  for (const std::int64_t n : {80, 200}) {
    const int least = n > 128 ? 2 : 1;
    expect_products<float>("getrf", "halves", n, least);
    expect_products<float>("getrf", "residues", n, least);
    expect_products<double>("getrf", "residues", n, least);
    expect_products<double>("gesv", "residues", n, least);
    expect_products<float>("gesv", "halves", n, least);
    expect_products<float>("geinv", "residues", n, least);
    expect_products<double>("geinv", "residues", n, least);
  }
}

// Orders around multiples of 64, where a recursion level ends or a panel has few columns.
TEST(SmallLuProducts, LeaveTheFactorsRight) {
  for (const std::int64_t n : {64, 65, 72, 73, 127, 129, 193, 257})
    expect_products<double>("getrf", "residues", n, 0);
}

}  // namespace
}  // namespace gaussweep
