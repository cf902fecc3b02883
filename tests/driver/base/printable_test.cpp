// Tests that text from files is safe to print on a terminal.

#include "driver/base/printable.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Printable, KeepsReadableText) {
  for (const char* text : {"", "plain", "Größe 5 µs, Čejka, ∞, 行列", "\u00A0", "\u202F"}) {
    EXPECT_EQ(one_line_printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
  EXPECT_EQ(printable_lines("a\n\tb"), "a\n\tb");
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(one_line_printable("\x1b[31mred"), "\uFFFD[31mred");
  EXPECT_EQ(one_line_printable("a\nb\tc\rd"), "a\uFFFDb\uFFFDc\uFFFDd");
  EXPECT_EQ(printable_lines("a\rb\x7f"), "a\uFFFDb\uFFFD");
  EXPECT_EQ(one_line_printable(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(one_line_printable("\xC2\x9B"
                               "31m"),
            "\uFFFD31m")
      << "C1 control characters";
  EXPECT_EQ(one_line_printable("\u202E\u2066x"), "\uFFFD\uFFFDx") << "direction overrides";
  EXPECT_EQ(one_line_printable("\xff\xc3"), "\uFFFD\uFFFD") << "invalid UTF-8";
}

}  // namespace
}  // namespace gaussweep::driver
