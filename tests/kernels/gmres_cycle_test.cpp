// Tests the least-squares problem of GMRES, kernels/gesv/gmres_cycle.hpp.

#include "kernels/gesv/gmres_cycle.hpp"
#include "tests/testing.hpp"

namespace gaussweep::mixed {
namespace {

/// The four columns of a 5 x 4 Hessenberg matrix; column j has j + 2 elements.
const std::vector<std::vector<double>> hessenberg{
    {2, 0.5}, {1, 3, 0.25}, {-1, 0.5, 2, 0.125}, {0.5, 1, -0.25, 1, 0.0625}};

/// Returns |norm e1 - H y| for the first `count` columns.
double residual(const std::vector<double>& y, double norm) {
  std::vector<double> left(y.size() + 1);
  left[0] = norm;
  for (std::size_t j = 0; j < y.size(); ++j) {
    for (std::size_t i = 0; i < hessenberg[j].size(); ++i) left[i] -= hessenberg[j][i] * y[j];
  }
  double sum = 0;
  for (const double value : left) sum += value * value;
  return std::sqrt(sum);
}

TEST(GmresCycle, ResidualMatchesTheCoefficientsAndIsMinimal) {
  const double norm = 3, scale = 0.5;
  GmresCycle cycle;
  cycle.start(norm, scale, 1e-300);
  for (std::size_t k = 1; k <= hessenberg.size(); ++k) {
    const double reached = cycle.add(hessenberg[k - 1].data());
    const std::vector<double> found = cycle.coefficients();
    ASSERT_EQ(found.size(), k);
    EXPECT_NEAR(reached, scale * residual(found, norm), 1e-14);
    for (std::size_t i = 0; i < k; ++i) {
      for (const double step : {1e-4, -1e-4}) {
        std::vector<double> other = found;
        other[i] += step;
        EXPECT_GT(residual(other, norm), residual(found, norm));
      }
    }
  }
}

/// Returns the state after `count` residuals, each smaller than the one before by the factor `gain`.
GmresCycle falling(double gain, std::size_t count, double target) {
  GmresCycle cycle;
  cycle.start(1, 1, target);
  const double subdiagonal = 1 / std::sqrt(gain * gain - 1);
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double> column(k + 2);
    column[k] = k == 0 ? 1 : gain * subdiagonal;  // the previous rotation makes this 1
    column[k + 1] = subdiagonal;
    EXPECT_NEAR(cycle.add(column.data()), std::pow(gain, -static_cast<double>(k + 1)), 1e-12);
  }
  return cycle;
}

TEST(GmresCycle, ReachedDependsOnTheResidualAndIsFalseForNaN) {
  EXPECT_FALSE(GmresCycle().has_reached_target());
  GmresCycle cycle;
  cycle.start(1, 1, 0.25);
  const double first[] = {1, 1};
  cycle.add(first);
  EXPECT_FALSE(cycle.has_reached_target());
  const double second[] = {0, 10, 0};
  cycle.add(second);
  EXPECT_TRUE(cycle.has_reached_target());
  const double with_nan[] = {std::numeric_limits<double>::quiet_NaN(), 1};
  cycle.start(1, 1, 0.25);
  EXPECT_TRUE(std::isnan(cycle.add(with_nan)));
  EXPECT_FALSE(cycle.has_reached_target());
}

TEST(GmresCycle, RatesPredictWhetherTheTargetIsReached) {
  EXPECT_FALSE(falling(16, 1, 1e-15).is_slow());  // one residual has no rate
  EXPECT_FALSE(falling(1e4, 2, 1e-15).is_slow());
  EXPECT_TRUE(falling(1.5, 2, 1e-15).is_slow());
  EXPECT_FALSE(falling(1e3, 4, 1e-15).is_hopeless(30));
  EXPECT_TRUE(falling(1.1, 5, 1e-15).is_hopeless(30));
  GmresCycle cycle = falling(1.5, 2, 1e-15);
  cycle.forget_rate();
  EXPECT_FALSE(cycle.is_slow());
  EXPECT_FALSE(cycle.is_hopeless(30));
}

}  // namespace
}  // namespace gaussweep::mixed
