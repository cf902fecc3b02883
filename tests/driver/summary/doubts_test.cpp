#include "driver/summary/summary.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

io::Record solved(double backward, double componentwise, const char* precision = "double") {
  io::Record record;
  record.problem = "gesv";
  record.method = "lapack";
  record.precision = precision;
  record.status = "pass";
  record.n = 8;
  record.backward_error = backward;
  record.componentwise_error = componentwise;
  return record;
}

TEST(Doubts, ShowAComponentwiseErrorAThousandTimesTheNormwiseOne) {
  EXPECT_EQ(doubt_table({solved(1e-16, 0.5)}).rows.size(), 1U);
  EXPECT_EQ(doubt_table({solved(1e-16, 0.9e-13)}).rows.size(), 0U);
  // A backward error below the unit roundoff is raised to the unit roundoff.
  EXPECT_EQ(doubt_table({solved(1e-20, 1e-15)}).rows.size(), 0U);
  EXPECT_EQ(doubt_table({solved(1e-10, 1e-5, "float")}).rows.size(), 0U);
  EXPECT_EQ(doubt_table({solved(1e-10, 1e-4, "float")}).rows.size(), 1U);
  EXPECT_EQ(doubt_table({solved(1e-16, io::Record::unknown)}).rows.size(), 0U);
}

}  // namespace
}  // namespace gaussweep::driver
