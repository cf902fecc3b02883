// Tests the race of methods in `try`: when a winner is clear, and when more rounds are useless.

#include "driver/compare/race.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns one record per round of a CPU method with these medians.
std::vector<io::Record> in_rounds(const std::string& method, const std::vector<double>& medians) {
  std::vector<io::Record> records;
  for (const double median : medians) {
    records.push_back(example_record(method, 64, {0.99 * median, median, median, median, 1.01 * median}));
    records.back().backend = "host";
    records.back().gpu_name.clear();
    records.back().round = static_cast<std::int64_t>(records.size());
  }
  return records;
}

/// A race of methods. Owns the records to which the race refers.
struct Example {
  explicit Example(const std::vector<std::vector<io::Record>>& methods) {
    for (const auto& rounds : methods) records.insert(records.end(), rounds.begin(), rounds.end());
    groups = group_records(records);
    std::vector<const Group*> all;
    for (const Group& group : groups) all.push_back(&group);
    race = race_of(all);
  }
  std::string first() const { return race.racers.front().group->first().method; }
  std::vector<io::Record> records;
  std::vector<Group> groups;
  Race race;
};

TEST(Race, NamesAWinnerThatEveryRoundConfirms) {
  const Example example({in_rounds("slow", {1.5, 3.1, 1.45, 1.6}), in_rounds("fast", {1, 2, 1, 1})});
  EXPECT_EQ(example.first(), "fast");
  EXPECT_NEAR(example.race.reported().slowdown.ratio(), 1.52, 0.03);
  EXPECT_GT(example.race.reported().low(), 1.3);
  EXPECT_TRUE(example.race.is_clear());
  EXPECT_TRUE(example.race.is_settled());
  EXPECT_GT(example.race.noise, noisy_sigma) << "all of one round took twice as long";
}

TEST(Race, DoesNotDecideByOneOrTwoRounds) {
  const Example one({in_rounds("slow", {2}), in_rounds("fast", {1})});
  EXPECT_FALSE(one.race.is_clear());
  EXPECT_FALSE(one.race.is_settled());
  EXPECT_FALSE(Example({in_rounds("slow", {5, 5.2}), in_rounds("fast", {1, 1})}).race.is_clear());
  EXPECT_TRUE(Example({in_rounds("slow", {5, 5.2, 5}), in_rounds("fast", {1, 1, 1})}).race.is_clear());
  const Example far({in_rounds("slow", {200}), in_rounds("fast", {1})});
  std::vector<io::Record> unsteady = in_rounds("slow", {200});
  unsteady[0].seconds_q1 = 1;
  unsteady[0].seconds_q3 = 2000;
  EXPECT_FALSE(Example({unsteady, in_rounds("fast", {1})}).race.is_settled());
  EXPECT_TRUE(far.race.is_settled()) << "more rounds cannot change a lead of 200";
}

TEST(Race, DropsNoShortMethodAfterOneRound) {
  const Example delayed({in_rounds("delayed", {1.2e-3}), in_rounds("fast", {1e-4})});
  EXPECT_FALSE(delayed.race.is_clear()) << "another program may have had the CPU for a millisecond";
  EXPECT_FALSE(delayed.race.is_settled());
}

TEST(Race, OrderAgreesWithTheCommonRounds) {
  // lapack has the smallest median. crout left the race after three rounds, in which it was faster than
  // lapack, but slower than pivot.
  const Example example({in_rounds("crout", {1, 1, 1}), in_rounds("pivot", {0.4, 0.4, 0.4, 3, 3, 3, 3, 3}),
                         in_rounds("lapack", {2, 2, 2, 0.1, 0.1, 0.1, 0.1, 0.1})});
  EXPECT_EQ(example.first(), "lapack");
  for (std::size_t i = 1; i < example.race.racers.size(); ++i)
    EXPECT_GE(example.race.racers[i].slowdown.ratio(), 1) << i;
  const Example interrupted({in_rounds("a", {1, 1, 1, 1}), in_rounds("b", {0.9, 0.9, 0.9})});
  EXPECT_EQ(interrupted.first(), "b") << "the last round ended before b ran";
  EXPECT_NEAR(interrupted.race.reported().slowdown.ratio(), 1 / 0.9, 1e-9);
}

TEST(Race, ReportsTheRivalThatMakesTheWinnerUnclear) {
  const Example example({in_rounds("fast", {1, 1, 1, 1}), in_rounds("steady", {1.3, 1.3, 1.3, 1.3}),
                         in_rounds("unsteady", {0.8, 9, 1, 2})});
  EXPECT_FALSE(example.race.is_clear());
  EXPECT_EQ(example.race.racers[1].group->first().method, "steady");
  EXPECT_FALSE(example.race.racers[1].is_rival);
  EXPECT_EQ(example.race.reported().group->first().method, "unsteady");
}

TEST(Race, DoesNotNameAWinnerOfNoise) {
  const Example noisy({in_rounds("a", {1, 3, 1, 2.5}), in_rounds("b", {2.6, 1, 2.8, 1.2})});
  EXPECT_FALSE(noisy.race.is_clear());
  EXPECT_FALSE(noisy.race.is_settled());
  EXPECT_LT(noisy.race.reported().low(), 1);
}

TEST(Race, SettlesWhereMethodsAreLevel) {
  const Example level(
      {in_rounds("a", {1, 1.01, 1, 1, 1.02, 1, 1, 1.01}), in_rounds("b", {1.01, 1, 1.01, 1, 1, 1.01, 1, 1})});
  EXPECT_FALSE(level.race.is_clear());
  EXPECT_TRUE(level.race.is_settled());
}

TEST(Race, OfEmulatedKernelsHasNoOtherMethods) {
  std::vector<io::Record> emulated = in_rounds("emulated", {1e-3, 1e-3, 1e-3});
  for (io::Record& r : emulated) r.backend = "emulated";
  const Example mixed({emulated, in_rounds("host", {1, 1, 1})});
  EXPECT_EQ(mixed.first(), "host");
  EXPECT_FALSE(mixed.race.has_lead());
  EXPECT_TRUE(mixed.race.is_clear());
  const Example alone({emulated});
  EXPECT_EQ(alone.first(), "emulated");
  std::vector<io::Record> failed = in_rounds("host", {1, 1, 1});
  for (io::Record& r : failed) r.status = "failed";
  EXPECT_TRUE(Example({emulated, failed}).race.racers.empty());
}

}  // namespace
}  // namespace gaussweep::driver
