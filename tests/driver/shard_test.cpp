#include "driver/shard.hpp"

#include <gtest/gtest.h>

namespace gaussweep::driver {
namespace {

TEST(Shard, IsReadAsItIsWritten) {
  ASSERT_TRUE(read_shard("2/4"));
  EXPECT_EQ(read_shard("2/4")->number, 2);
  EXPECT_EQ(read_shard("2/4")->count, 4);
  for (const char* text : {"", "0/1", "5/4", "1/0", "1", "a/b", "-1/2", "1/2 "}) {
    EXPECT_FALSE(read_shard(text)) << text;
  }
}

TEST(Shard, EveryKeyIsInJustOne) {
  for (const char* key : {"0123456789abcdef0123", "ffffffffffffffffffff", "f", "no digits", ""}) {
    int holders = 0;
    for (std::int64_t number = 1; number <= 7; ++number) holders += in_shard(key, {number, 7}) ? 1 : 0;
    EXPECT_EQ(holders, 1) << key;
  }
  EXPECT_TRUE(in_shard("00000000000000a9", {11, 11})) << "by its first 15 digits: 10 is 10 modulo 11";
}

}  // namespace
}  // namespace gaussweep::driver
