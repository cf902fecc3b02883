// Tests numbers, durations and byte counts of plans, and the nearest word.

#include "io/plan/plan.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

TEST(PlanNumbers, ParsesIntegersRealsAndDurations) {
  const auto scalar = [](const std::string& text) { return Scalar{text, {"p", 2, 3}}; };
  EXPECT_EQ(parse_integer(scalar("64"), 0, 100, "x"), 64);
  EXPECT_EQ(parse_integer(scalar("16k"), 0, 100000, "x"), 16384);
  EXPECT_EQ(parse_integer(scalar("-4"), -5, 100, "x"), -4);
  EXPECT_EQ(parse_integer(scalar("+4"), -5, 100, "x"), 4);
  for (const char* bad :
       {"", "k", "1e3", "4.0", "0x10", "1_000", " 4", "4 ", "--4", "+-4", "9223372036854775807k", "٣"}) {
    EXPECT_THROW(parse_integer(scalar(bad), INT64_MIN, INT64_MAX, "x"), InputError) << bad;
  }
  EXPECT_EQ(parse_real(scalar("1e-3"), 0, 1, "x"), 1e-3);
  EXPECT_EQ(parse_real(scalar("+2.5"), 0, 10, "x"), 2.5);
  EXPECT_EQ(parse_real(scalar("-.5"), -1, 0, "x"), -0.5);
  for (const char* bad : {"", "nan", "inf", "1e999", "0x10", "1,5", "1 ", "+-1", "e5", "11"}) {
    EXPECT_THROW(parse_real(scalar(bad), -10, 10, "x"), InputError) << bad;
  }
  EXPECT_EQ(parse_duration(scalar("90s"), "x"), 90);
  EXPECT_EQ(parse_duration(scalar("90"), "x"), 90);
  EXPECT_EQ(parse_duration(scalar("0.5"), "x"), 0.5);
  EXPECT_EQ(parse_duration(scalar("10min"), "x"), 600);
  EXPECT_EQ(parse_duration(scalar("1h30min"), "x"), 5400);
  EXPECT_EQ(parse_duration(scalar("1.5h"), "x"), 5400);
  for (const char* bad : {"", "0", "0min", "-1s", "1 h", "h", "10m", "30min1h", "1h30", "1e3", "inf"}) {
    EXPECT_THROW(parse_duration(scalar(bad), "x"), InputError) << bad;
  }
  EXPECT_EQ(parse_bytes(scalar("50GiB"), "x"), 50 * 0x1p30);
  EXPECT_EQ(parse_bytes(scalar("1.5MiB"), "x"), 1.5 * 0x1p20);
  EXPECT_EQ(parse_bytes(scalar("64KiB"), "x"), 65536);
  EXPECT_EQ(parse_bytes(scalar("2TiB"), "x"), 0x1p41);
  EXPECT_EQ(parse_bytes(scalar("12345"), "x"), 12345);
  EXPECT_EQ(parse_bytes(scalar("0"), "x"), 0);
  EXPECT_TRUE(std::isinf(parse_bytes(scalar("none"), "x")));
  for (const char* bad : {"", "GiB", "1 GiB", "1GB", "1gib", "-1", "1e9", "inf", "all", "1GiB2MiB"}) {
    EXPECT_THROW(parse_bytes(scalar(bad), "x"), InputError) << bad;
  }
  const std::string message = message_of<InputError>([&] { parse_integer(scalar("x"), 1, 9, "blocks"); });
  EXPECT_EQ(message, "p:2:3: blocks: 'x'; allowed: a whole number from 1 to 9 (1k = 1024)");
}

TEST(PlanNumbers, FindsTheNearestWord) {
  EXPECT_EQ(nearest_hint("repeat", {"warmup", "repeats"}), "nearest: repeats; ");
  EXPECT_EQ(nearest_hint("gauss_blok", {"gauss_serial", "gauss_block"}), "nearest: gauss_block; ");
  EXPECT_EQ(nearest_hint("zzzzzzzz", {"warmup", "repeats"}), "");
  EXPECT_EQ(nearest_hint("x", {}), "");
  EXPECT_EQ(nearest_hint("--where", {"--help"}), "") << "equal dashes do not make options near";
}

}  // namespace
}  // namespace gaussweep::io
