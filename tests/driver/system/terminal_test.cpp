// Tests the width of the terminal.

#include "driver/system/terminal.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Terminal, WidthIsThatOfColumnsIfValid) {
  ASSERT_EQ(::setenv("COLUMNS", "200", 1), 0);
  EXPECT_EQ(output_width(), 200U);
  ASSERT_EQ(::unsetenv("COLUMNS"), 0);
  const std::size_t without = output_width();
  for (const char* no_width : {"", "0", "-80", "80x", "99999999999999999999", "3"}) {
    ASSERT_EQ(::setenv("COLUMNS", no_width, 1), 0);
    EXPECT_EQ(output_width(), without) << no_width;
  }
  ASSERT_EQ(::unsetenv("COLUMNS"), 0);
}

}  // namespace
}  // namespace gaussweep::driver
