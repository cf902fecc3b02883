// Tests the times of the stages of a method.

#include "driver/worker/stage_timer.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using ::testing::FieldsAre;

// The clock, set by the test.
double now = 0;
double test_clock() {
  return now;
}

/// Returns the stages of two steps after 8 s of other work: "a" with 1 s and 3 s, "b" with 2 s.
std::vector<io::Stage> stages_of_two_steps(bool separate_calls) {
  now = 0;
  const auto device = make_host_device(Backend::host, test_clock);
  StageTimer timer(*device, separate_calls);
  now = 8;
  for (const double seconds : {1.0, 3.0}) {
    timer.mark("a");
    timer.launched(seconds == 1 ? 1 : 0.5);
    now += seconds;
    if (seconds > 1) continue;
    timer.mark("b");
    now += 2;
  }
  return timer.finish();
}

TEST(StageTimer, SumsByName) {
  EXPECT_THAT(stages_of_two_steps(false),
              ElementsAre(FieldsAre("a", 2, 4, 2, 0.75, ::testing::DoubleEq(4.0 / 6)),
                          FieldsAre("b", 1, 2, 2, ::testing::IsNan(), ::testing::DoubleEq(2.0 / 6))));
}

TEST(StageTimer, KeepsCallsApart) {
  EXPECT_THAT(stages_of_two_steps(true),
              ElementsAre(FieldsAre("a", 1, 1, 1, 1, ::testing::DoubleEq(1.0 / 6)),
                          FieldsAre("b", 1, 2, 2, ::testing::IsNan(), ::testing::DoubleEq(2.0 / 6)),
                          FieldsAre("a", 1, 3, 3, 0.5, ::testing::DoubleEq(3.0 / 6))));
}

TEST(StageTimer, WithoutStagesIsEmpty) {
  const auto device = make_host_device(Backend::host, test_clock);
  for (const bool separate_calls : {false, true})
    EXPECT_TRUE(StageTimer(*device, separate_calls).finish().empty());
}

}  // namespace
}  // namespace gaussweep::driver
