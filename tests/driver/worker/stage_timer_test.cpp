#include "driver/worker/stage_timer.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using ::testing::FieldsAre;

// The clock, set by the test.
double now = 0;
double clock_of_the_test() {
  return now;
}

/// Returns the stages of two steps after 8 s of other work: "a" with 1 s and 3 s, "b" with 2 s.
std::vector<io::Stage> stages_of_two_steps(bool apart) {
  now = 0;
  const auto device = make_host_device(Backend::host, clock_of_the_test);
  StageTimer timer(*device, apart);
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
  const auto device = make_host_device(Backend::host, clock_of_the_test);
  for (const bool apart : {false, true}) EXPECT_TRUE(StageTimer(*device, apart).finish().empty());
}

}  // namespace
}  // namespace gaussweep::driver
