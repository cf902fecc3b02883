// Tests the progress line of a sweep.

#include "driver/sweep/progress.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Progress, ExpectedFailuresAreNoFailures) {
  testing::internal::CaptureStderr();
  Progress progress(6, 1);
  for (const char* status : {"pass", "failed", "crashed"}) progress.count(status, true);
  progress.finish();
  const std::string expected = testing::internal::GetCapturedStderr();
  EXPECT_EQ(expected, "4/6 trials (67 %)\n");

  testing::internal::CaptureStderr();
  progress.count("suspect", false);
  progress.count("timeout", false);
  progress.finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "6/6 trials (100 %), 1 wrong, 1 broken\n");
}

TEST(Progress, ShowsNoTimeLeftOnceTheEstimateHasPassed) {
  for (const auto& [high, is_shown] : {std::pair{10.0, true}, {0.2, false}}) {
    testing::internal::CaptureStderr();
    Progress progress(6, 1);
    progress.show([high = high] { return TimeRange{0, high / 2, high}; }, true);
    const std::string shown = testing::internal::GetCapturedStderr();
    EXPECT_EQ(shown.find(" left") != std::string::npos, is_shown) << shown;
  }
}

}  // namespace
}  // namespace gaussweep::driver
