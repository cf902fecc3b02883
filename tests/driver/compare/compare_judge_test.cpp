// Tests when compare reports SAME or UNCLEAR, and which remedy it suggests.

#include "driver/compare/compare.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(CompareJudge, IsUnclearWhenTheIntervalExceedsTheThreshold) {
  const auto judged = [](const std::vector<double>& samples, std::int64_t rounds) {
    io::Results base, now;
    for (std::int64_t round = 1; round <= rounds; ++round) {
      for (io::Results* set : {&base, &now}) {
        Record r = example_record("m", 64, samples);
        r.round = round;
        set->records.push_back(r);
      }
    }
    return compare(base, now, {});
  };
  const Comparison tight = judged({1, 1.0001, 1.0002}, 1);
  EXPECT_EQ(tight.pairs.at(0).change.verdict, Verdict::same);
  EXPECT_TRUE(unclear_words(tight).empty());
  const Comparison wide = judged({0.9, 1, 1.12}, 1);
  const Change& change = wide.pairs.at(0).change;
  EXPECT_EQ(change.ratio, 1);
  EXPECT_GT(change.high, 1.02);
  EXPECT_EQ(change.verdict, Verdict::unclear);
  EXPECT_TRUE(wide.regressions.empty());
  EXPECT_GE(change.detectable, change.high - 1) << "the rule for all trials together needs more";
  ASSERT_EQ(wide.unclear.size(), 1U);
  const Unclear& unclear = wide.unclear.front();
  EXPECT_EQ(unclear.trials, 1);
  EXPECT_EQ(unclear.detectable, change.detectable);
  EXPECT_LT(unclear.with_duet, unclear.with_rounds);
  EXPECT_LT(unclear.with_rounds, unclear.detectable);
  EXPECT_LT(unclear.with_samples, 0.7 * unclear.detectable) << "most of the scatter is within the samples";
  ASSERT_EQ(unclear_words(wide).size(), 1U);
  EXPECT_THAT(unclear_words(wide).front(),
              ::testing::AllOf(::testing::HasSubstr("rounds: 3"), ::testing::HasSubstr("duet"),
                               ::testing::HasSubstr("samples"), ::testing::HasSubstr("%")));
  EXPECT_NEAR(judged({0.9, 1, 1.12}, 3).pairs.at(0).change.detectable, unclear.with_rounds,
              0.3 * unclear.with_rounds);
}

}  // namespace
}  // namespace gaussweep::driver
