// Tests the progress line of a sweep.

#include "driver/sweep/progress.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Progress, ExpectedFailuresAreNoFailures) {
  testing::internal::CaptureStderr();
  Progress progress(8, 1);
  for (const char* status : {"pass", "failed", "crashed"}) progress.count(status, true);
  progress.finish();
  const std::string expected = testing::internal::GetCapturedStderr();
  EXPECT_EQ(expected, "4/8 trials (50 %)\n");

  testing::internal::CaptureStderr();
  for (const char* status : {"suspect", "timeout", "failed", "pass"}) progress.count(status, false);
  progress.finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "8/8 trials (100 %), 1 wrong, 1 suspect, 1 passed unexpectedly, 1 broken\n");
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
