#include "kernels/core/small_blocks.hpp"

#include <gtest/gtest.h>

namespace gaussweep {
namespace {

TEST(SmallBlocks, AreKeptForWhoWantsAsManyBytes) {
  SmallBlocks blocks;
  char memory[3];
  EXPECT_EQ(blocks.take(100), nullptr);
  blocks.note(&memory[0], 100);
  blocks.note(&memory[1], 200);
  EXPECT_EQ(blocks.take(100), nullptr) << "it is in use";
  EXPECT_TRUE(blocks.keep(&memory[0]));
  EXPECT_EQ(blocks.take(99), nullptr);
  EXPECT_EQ(blocks.take(100), &memory[0]);
  EXPECT_EQ(blocks.take(100), nullptr);
  EXPECT_TRUE(blocks.keep(&memory[0])) << "once more";
  EXPECT_TRUE(blocks.keep(&memory[1]));
  EXPECT_FALSE(blocks.keep(&memory[2])) << "nobody noted it";
  EXPECT_EQ(blocks.drop().size(), 2U);
  EXPECT_TRUE(blocks.drop().empty());
  EXPECT_EQ(blocks.take(200), nullptr);
}

TEST(SmallBlocks, NeitherLargeOnesNorTooManyAreKept) {
  SmallBlocks blocks;
  constexpr std::size_t most = SmallBlocks::most_kept / SmallBlocks::most_bytes;
  std::vector<char> memory(most + 2);
  blocks.note(&memory[0], SmallBlocks::most_bytes + 1);
  EXPECT_FALSE(blocks.keep(&memory[0]));
  for (std::size_t i = 0; i <= most; ++i) {
    blocks.note(&memory[i], SmallBlocks::most_bytes);
    EXPECT_EQ(blocks.keep(&memory[i]), i < most) << i;
  }
  EXPECT_EQ(blocks.drop().size(), most);
}

}  // namespace
}  // namespace gaussweep
