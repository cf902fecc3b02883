#include "driver/session.hpp"

#include <gtest/gtest.h>

#include <set>

#include "driver/coordinator.hpp"
#include "io/matrix_file.hpp"

namespace gaussweep::driver {
namespace {

TEST(TimeLimit, ReadsDurationsAndSlurmsForms) {
  EXPECT_EQ(parse_time_limit("90"), 90);
  EXPECT_EQ(parse_time_limit("10min"), 600);
  EXPECT_EQ(parse_time_limit("1h30min"), 5400);
  EXPECT_EQ(parse_time_limit("02:30"), 150);
  EXPECT_EQ(parse_time_limit("01:00:05"), 3605);
  EXPECT_EQ(parse_time_limit("1-02:00:00"), 86400 + 7200);
  EXPECT_THROW(parse_time_limit("soon"), UsageError);
  EXPECT_THROW(parse_time_limit(""), UsageError);
}

std::vector<Trial> many_trials(int count) {
  std::vector<Trial> trials(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    trials[static_cast<std::size_t>(i)].key = io::sha256(std::to_string(i)).substr(0, 32);
  return trials;
}

TEST(Shards, SplitWithoutOverlapAndWithoutLoss) {
  const std::vector<Trial> trials = many_trials(1000);
  std::set<std::string> seen;
  for (int shard = 1; shard <= 4; ++shard) {
    const std::vector<Trial> part = shard_of(trials, {shard, 4});
    EXPECT_GT(part.size(), 150U) << "shards are of about the same size";
    for (const Trial& trial : part) EXPECT_TRUE(seen.insert(trial.key).second);
  }
  EXPECT_EQ(seen.size(), trials.size());
  EXPECT_EQ(shard_of(trials, {1, 1}).size(), trials.size());
}

TEST(Shards, AreStableWhenThePlanGrows) {
  const std::vector<Trial> before = shard_of(many_trials(100), {2, 3});
  std::set<std::string> after;
  for (const Trial& trial : shard_of(many_trials(200), {2, 3})) after.insert(trial.key);
  for (const Trial& trial : before) EXPECT_EQ(after.count(trial.key), 1U);
}

TEST(AsExpected, DefaultsToPassAndNeverMindsSkipped) {
  Trial trial;
  EXPECT_TRUE(as_expected(trial, "pass"));
  EXPECT_FALSE(as_expected(trial, "suspect"));
  EXPECT_FALSE(as_expected(trial, "crashed"));
  EXPECT_TRUE(as_expected(trial, "skipped"));
  trial.expect = {"failed", "suspect"};
  EXPECT_TRUE(as_expected(trial, "failed"));
  EXPECT_FALSE(as_expected(trial, "pass"));
}

}  // namespace
}  // namespace gaussweep::driver
