// Tests the split of a plan's trials into shards.

#include "driver/plan/shard.hpp"
#include "io/matrix/matrix_file.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Shard, ParsesItsText) {
  ASSERT_TRUE(read_shard("2/4"));
  EXPECT_EQ(read_shard("2/4")->number, 2);
  EXPECT_EQ(read_shard("2/4")->count, 4);
  for (const char* text : {"", "0/1", "5/4", "1/0", "1", "a/b", "-1/2", "1/2 "}) {
    EXPECT_FALSE(read_shard(text)) << text;
  }
}

TEST(Shard, EveryKeyIsInExactlyOne) {
  for (const char* key : {"0123456789abcdef0123", "ffffffffffffffffffff", "f", "no digits", ""}) {
    int holders = 0;
    for (std::int64_t number = 1; number <= 7; ++number) holders += in_shard(key, {number, 7}) ? 1 : 0;
    EXPECT_EQ(holders, 1) << key;
  }
  EXPECT_TRUE(in_shard("00000000000000a9", {11, 11})) << "by its first 15 digits: 10 is 10 modulo 11";
}

std::vector<Trial> many_trials(int count) {
  std::vector<Trial> trials(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    trials[static_cast<std::size_t>(i)].key = io::sha256(std::to_string(i)).substr(0, 32);
  return trials;
}

TEST(Shard, SplitsWithoutOverlapAndWithoutLoss) {
  const std::vector<Trial> trials = many_trials(1000);
  std::set<std::string> seen;
  for (int shard = 1; shard <= 4; ++shard) {
    const std::vector<Trial> part = shard_of(trials, {shard, 4});
    EXPECT_GT(part.size(), 150U) << "shards have similar sizes";
    for (const Trial& trial : part) EXPECT_TRUE(seen.insert(trial.key).second);
  }
  EXPECT_EQ(seen.size(), trials.size());
  EXPECT_EQ(shard_of(trials, {1, 1}).size(), trials.size());
}

TEST(Shard, HasAllRoundsOfATrial) {
  std::vector<Trial> trials;
  for (std::int64_t n = 1; n <= 50; ++n) {
    for (std::int64_t round = 1; round <= 3; ++round) {
      Trial& trial = trials.emplace_back();
      trial.problem = Problem::named("gesv");
      trial.shape.n = n;
      trial.round = round;
      trial.key = trial_key(trial);
    }
  }
  for (const std::int64_t number : {1, 2}) {
    std::map<std::int64_t, int> rounds;
    for (const Trial& trial : shard_of(trials, {number, 2})) {
      ++rounds[trial.shape.n];
      if (trial.round == 1) {
        EXPECT_TRUE(in_shard(trial.key, {number, 2})) << "as without rounds";
      }
    }
    EXPECT_GT(rounds.size(), 10U);
    for (const auto& [n, count] : rounds) EXPECT_EQ(count, 3) << n;
  }
}

TEST(Shard, StaysStableWhenThePlanGrows) {
  const std::vector<Trial> before = shard_of(many_trials(100), {2, 3});
  std::set<std::string> after;
  for (const Trial& trial : shard_of(many_trials(200), {2, 3})) after.insert(trial.key);
  for (const Trial& trial : before) EXPECT_EQ(after.count(trial.key), 1U);
}

}  // namespace
}  // namespace gaussweep::driver
