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

}  // namespace
}  // namespace gaussweep::driver
