// Tests Text, a string whose copies share memory, and the pool that finds equal texts.
#include "io/files/text.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

TEST(Text, CopiesShareOneStoreThatOutlivesTheFirst) {
  Text copy;
  {
    const Text first = std::string(1000, 'x');
    copy = first;
    EXPECT_EQ(copy.data(), first.data());
  }
  EXPECT_EQ(copy, std::string(1000, 'x'));
  const Text moved = std::move(copy);
  EXPECT_EQ(moved.size(), 1000U);
  EXPECT_TRUE(copy.empty());
}

TEST(Text, ModifyingACopyLeavesTheOthers) {
  Text one = "gesv";
  const Text other = one;
  one += "/lapack";
  EXPECT_EQ(one, "gesv/lapack");
  EXPECT_EQ(other, "gesv");
  one = one;
  EXPECT_EQ(one, "gesv/lapack");
  one.clear();
  EXPECT_EQ(one, "");
  EXPECT_EQ("is " + other + "!", "is gesv!");
}

TEST(Text, PoolRemembersTextsUntilOthersReplaceThem) {
  TextPool pool;
  const Text first = pool.of("a");
  EXPECT_EQ(pool.of("a").data(), first.data());
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(pool.of(std::to_string(i)), std::to_string(i));
  EXPECT_NE(pool.of("a").data(), first.data());
  EXPECT_EQ(first, "a");
}

}  // namespace
}  // namespace gaussweep::io
