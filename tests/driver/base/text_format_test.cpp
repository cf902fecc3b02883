// Tests the formatting of numbers, durations, lines and shell words.

#include "driver/base/text_format.hpp"
#include "driver/base/table.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(Words, SecondsUseReadableUnits) {
  EXPECT_EQ(seconds_text(12.3456), "12.35 s");
  EXPECT_EQ(seconds_text(0.9999), "0.9999 s");
  EXPECT_EQ(seconds_text(0.01), "10 ms");
  EXPECT_EQ(seconds_text(0.00099999), "1 ms");
  EXPECT_EQ(seconds_text(4.56e-5), "45.6 us");
  EXPECT_EQ(seconds_text(7e-9), "7 ns");
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(std::nan("")), "");
}

TEST(Words, SettingsAreWrittenWithoutJson) {
  EXPECT_EQ(parameters_for_people(R"({"blocks":3,"order":"rows","omega":1.5})"),
            "blocks=3 order=rows omega=1.5");
  EXPECT_EQ(parameters_for_people("{}"), "");
  EXPECT_EQ(parameters_for_people("torn{"), "torn{");
}

TEST(Words, SignificantDigitsHaveNoExponent) {
  EXPECT_EQ(significant_text(0.012345, 3), "0.0123");
  EXPECT_EQ(significant_text(9.996, 3), "10.0") << "counts the digits after rounding";
  EXPECT_EQ(significant_text(461.2, 3), "461");
  EXPECT_EQ(significant_text(123456.7, 4), "123457");
  EXPECT_EQ(significant_text(-2, 3), "-2.00");
  EXPECT_EQ(significant_text(0, 3), "0");
  EXPECT_EQ(significant_text(1.25e-12, 3), "1.25e-12");
  EXPECT_EQ(significant_text(1e15, 3), "1e+15");
  EXPECT_EQ(significant_text(INFINITY, 3), "inf");
}

TEST(Words, LinesBreakAtSpacesThenAtPunctuationThenAnywhere) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("the residual is large", 12), (Lines{"the residual", "is large"}));
  EXPECT_EQ(wrapped("", 5), Lines{""});
  EXPECT_EQ(wrapped("gesv/gauss_cyclic_decrement", 20), (Lines{"gesv/gauss_cyclic_", "decrement"}));
  EXPECT_EQ(wrapped("a_bcdefghijklm", 8), (Lines{"a_bcdefg", "hijklm"}))
      << "no break after the first few letters";
  EXPECT_EQ(wrapped("ééééé", 2), (Lines{"éé", "éé", "é"})) << "no break within a character";
  EXPECT_EQ(wrapped("as long as it gets", any_width), Lines{"as long as it gets"});
  EXPECT_EQ(paragraph("one two", 3), "one\ntwo\n");
}

TEST(Words, DurationsAreInHoursMinutesAndSeconds) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(3725), "1 h 02 min");
  EXPECT_EQ(duration_text(-5), "0 s");
}

TEST(Words, ShellWordsAreQuotedWhenNeeded) {
  EXPECT_EQ(shell_quoted("runs/first-1.yaml"), "runs/first-1.yaml");
  EXPECT_EQ(shell_quoted("my runs/$HOME"), "'my runs/$HOME'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("-x y"), "'./-x y'") << "not an option";
  EXPECT_EQ(shell_quoted("-"), "-");
  EXPECT_EQ(shell_word("--shard"), "--shard") << "an option";
}

}  // namespace
}  // namespace gaussweep::driver
