/// Tests generated plans with hundreds of thousands of keys and values. A linear search for each of them
/// would take hours.

#include "io/plan/plan.hpp"
#include "tests/cpu_limit.hpp"
#include "tests/io/plan/some_problems.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// Each test takes a second; with a linear search it would take minutes to hours.
class PlanSize : public testing::Test {
  const CpuLimit limit_;
};

/// Returns "<before><i><after>" for i from 0 up to `count`.
std::string repeated(int count, const std::string& before, const std::string& after) {
  std::string text;
  for (int i = 0; i < count; ++i) text += before + std::to_string(i) + after;
  return text;
}

std::string failure(const std::string& text) {
  return message_of<InputError>([&] { parse_plan(text, "p.yaml"); });
}

TEST_F(PlanSize, FindsMergedKeysByLookup) {
  const std::string entry = "  - &base\n    problem: gesv\n    method: all\n";
  const std::string plan =
      "sweep:\n" + entry + repeated(240000, "    k", ": 1\n") + "  - {k7: 2, own: 3, <<: *base}\n";
  const Entry merged = parse_plan(plan, "p.yaml").sweep.at(1);
  EXPECT_EQ(merged.axes.size(), 240001U);
  EXPECT_EQ(merged.axes.at("k7").values.at(0).text, "2") << "its own value, not the merged one";
  EXPECT_EQ(merged.axes.at("k239999").values.at(0).text, "1");
}

TEST_F(PlanSize, FindsARepeatedKeyAmongMany) {
  EXPECT_THAT(failure(repeated(100000, "k", ": 1\n") + "k99999: 2\n"),
              StartsWith("p.yaml:100001:1: the key 'k99999' occurs twice in this mapping"));
}

TEST_F(PlanSize, ReportsTheFirstOfManyMistakes) {
  const std::string keys = failure(repeated(60000, "k", ": 1\n"));
  EXPECT_THAT(keys, StartsWith("p.yaml:1:1: "));
  // The check stops after 1000 mistakes and lists 20 of them.
  EXPECT_THAT(keys, EndsWith("\nand at least 980 more"));
  const std::string entries =
      failure("sweep:\n" + repeated(20000, "  - {problem: gesv, method: all, n: -", "}\n"));
  EXPECT_THAT(entries, EndsWith("\nand at least 980 more"));
  // The only mistake follows 20000 valid entries (the parser does not check the names of problems).
  EXPECT_THAT(failure("sweep: [" + repeated(20000, "{problem: ", ", method: all}, ") + "1]"),
              HasSubstr("an entry of sweep is a value"));
}

TEST_F(PlanSize, ReadsListsOfManyValues) {
  const std::string begin = "sweep:\n  - problem: gesv\n", values = "[" + repeated(100000, "", ", ") + "7]";
  const Entry entry =
      parse_plan(begin + "    method: " + values + "\n    seed: " + values + "\n", "p.yaml").sweep.at(0);
  EXPECT_EQ(entry.methods.size(), 100001U);
  EXPECT_EQ(entry.axes.at("seed").values.size(), 100001U);
  const std::string excludes = "[" + repeated(50000, "{seed: ", "}, ") + "{n: 3}]";
  EXPECT_EQ(parse_plan(begin + "    method: all\n    exclude: " + excludes + "\n", "p.yaml")
                .sweep.at(0)
                .excludes.size(),
            50001U);
  const std::string zips = "[" + repeated(50000, "{k", ": [1, 2]}, ") + "{n: [3, 4]}]";
  EXPECT_EQ(parse_plan(begin + "    method: all\n    zip: " + zips + "\n", "p.yaml").sweep.at(0).zips.size(),
            50001U);
}

}  // namespace
}  // namespace gaussweep::io
