// Tests the conversion of matrices to the precision of a trial.

#include "driver/base/dense.hpp"
#include "io/files/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the matrix [a c; b d].
io::Dense<double> matrix(double a, double b, double c, double d) {
  return {2, 2, {a, b, c, d}};
}

std::string failure(io::Dense<double> a) {
  return message_of<io::InputError>([&] { rounded<float>(std::move(a), "x.mtx"); });
}

TEST(Rounded, KeepsDoubles) {
  EXPECT_EQ(rounded<double>(matrix(1e39, 1e-50, 5e-324, 0.1), "x.mtx").data,
            matrix(1e39, 1e-50, 5e-324, 0.1).data);
}

TEST(Rounded, RefusesElementsBeyondTheRangeOfFloat) {
  EXPECT_THAT(
      failure(matrix(1, 1e39, 1, 1)),
      AllOf(HasSubstr("x.mtx: element (2, 1) is 1e+39, beyond the range of float (up to 3.4028235e+38)"),
            HasSubstr("precision: double")));
  EXPECT_THAT(failure(matrix(1, 1, -1e39, 1)), HasSubstr("element (1, 2) is -1e+39"));
  EXPECT_EQ(failure(matrix(3.4028234e38, 1, 1, -3.4028234e38)), "");
}

// An element may round to 0 if its row and column keep nonzero elements. Otherwise the matrix is refused.
TEST(Rounded, RefusesRowsAndColumnsThatBecomeZeroInFloat) {
  EXPECT_EQ(rounded<float>(matrix(1, 1e-50, 1e-42, 2), "x.mtx").data,
            (std::vector<float>{1, 0, static_cast<float>(1e-42), 2}));
  EXPECT_THAT(failure(matrix(1, 0, 0, 1e-50)),
              HasSubstr("x.mtx: element (2, 2) is 1e-50, which becomes 0 in float, as does all of its row"));
  EXPECT_THAT(failure(matrix(1e-50, 1e-50, 1e-50, 1e-50)), HasSubstr("element (1, 1) is 1e-50"));
  EXPECT_THAT(failure(matrix(1, 1, 1e-42, 1e-42)), HasSubstr("element (1, 2) is 1e-42"));
  EXPECT_THAT(failure(matrix(1, 1, 1e-42, 1e-42)), HasSubstr("all of its column"));
  EXPECT_EQ(failure(matrix(1, 0, 0, 0)), "") << "a row of zeros loses nothing";
  EXPECT_EQ(failure(matrix(1, 0, 0, 0x1p-149)), "") << "exact in float";
}

}  // namespace
}  // namespace gaussweep::driver
