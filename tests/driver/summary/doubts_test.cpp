// Tests the list of doubtful answers: those that pass, but have large errors in small components, or no
// digit.

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

TEST(Doubts, NameAnswersThatPassedWithoutACorrectDigit) {
  io::Record record = solved(1e-16, io::Record::unknown);
  record.forward_error = 0.01;
  EXPECT_EQ(doubt_table({record}).rows.size(), 0U);
  record.forward_error = 16;
  const auto json = render_json(doubt_table({record}));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["doubt"], "condition");
  record.status = "failed";
  EXPECT_EQ(doubt_table({record}).rows.size(), 0U);
}

TEST(Doubts, BlameTheMethodIfAnotherHasCorrectDigitsOnTheSameTask) {
  io::Record unstable = solved(1e-16, io::Record::unknown), stable = unstable;
  unstable.method = "crout";
  unstable.forward_error = 0.12;
  unstable.matrix_digest = stable.matrix_digest = "abc";
  stable.forward_error = 0.00067;
  const auto row = [&] { return render_json(doubt_table({unstable, stable})).at(0); };
  EXPECT_EQ(row()["doubt"], "stability");
  EXPECT_THAT(row()["cause"].get<std::string>(), ::testing::HasSubstr("lapack has 0.00067"));
  stable.forward_error = 0.05;
  EXPECT_EQ(row()["doubt"], "condition") << "the errors of two stable methods differ by chance";
  stable.forward_error = 0.00067;
  stable.method = "crout";
  EXPECT_EQ(row()["doubt"], "condition") << "only other methods count";
  stable.method = "lapack";
  stable.status = "failed";
  EXPECT_EQ(row()["doubt"], "condition") << "only answers that passed count";
  stable.status = "pass";
  stable.matrix_digest = "def";
  EXPECT_EQ(row()["doubt"], "condition") << "only the same matrix counts";
}

TEST(Doubts, BlameThePeaksIfTheVendorExceedsThemToo) {
  io::Record fast = solved(1e-16, io::Record::unknown), vendor = fast;
  fast.method = "gauss";
  fast.reference_method = vendor.reference_method = "lapack";
  fast.timing = "suspect";
  fast.peak_share = 1.57;
  vendor.peak_share = 1.2;
  const auto cause = [&] {
    return render_json(doubt_table({fast, vendor})).at(0)["cause"].get<std::string>();
  };
  EXPECT_THAT(cause(), ::testing::Not(::testing::HasSubstr("too low")));
  vendor.peak_share = 1.94;
  EXPECT_THAT(cause(),
              ::testing::HasSubstr("the vendor's methods reach 1.94 times: the peaks were measured too low"));
  fast.peak_share = 1.94 * 13;
  EXPECT_THAT(cause(), ::testing::AllOf(::testing::HasSubstr("still 13 times too fast"),
                                        ::testing::Not(::testing::HasSubstr("too low"))));
  vendor.host = "another";
  EXPECT_THAT(cause(), ::testing::Not(::testing::HasSubstr("too low")));
}

}  // namespace
}  // namespace gaussweep::driver
