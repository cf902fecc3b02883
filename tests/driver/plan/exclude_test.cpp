/// Tests `exclude`: which trials its mappings remove, and that thousands of mappings cost a lookup each.

#include "driver/plan/exclude.hpp"
#include "driver/plan/expand.hpp"
#include "driver/plan/plan_names.hpp"
#include "io/files/errors.hpp"
#include "tests/cpu_limit.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the trials that remain after `exclude`, as "<method> <n> <seed>".
std::vector<std::string> remaining(const std::string& axes, const std::string& exclude) {
  const Problem gesv = Problem::named("gesv");
  Method tiled = idle_method(gesv, "tiled");
  tiled.parameters = {real_parameter("omega", 0, -1, 2, "")};
  const io::Plan plan = io::parse_plan(
      "sweep:\n  - problem: gesv\n    method: all\n    " + axes + "\n    exclude: [" + exclude + "]\n",
      "p.yaml", enum_names<Problem>());
  std::vector<std::string> words;
  const Registry registry({idle_method(gesv, "plain"), tiled});
  for (const Trial& t : expand(plan, registry, Backend::host, 0, {}).trials)
    words.push_back(fmt::format("{} {} {}", t.method, t.shape.n, t.matrix.spec.seed));
  return words;
}

TEST(Exclude, EveryConditionOfAMappingMustHold) {
  const auto remaining_of_all = [](const std::string& exclude) {
    return remaining("n: [2, 1k]\n    seed: [1, 2]", "{method: tiled}, " + exclude);
  };
  EXPECT_THAT(remaining_of_all("{n: 2, seed: 1}, {n: 1024.0, seed: 2}"),
              ElementsAre("plain 2 2", "plain 1024 1"));
  EXPECT_THAT(remaining_of_all("{n: [2, \">1k\"], seed: [1, 2, 3]}"),
              ElementsAre("plain 1024 1", "plain 1024 2"));
  EXPECT_THAT(remaining_of_all("{n: 2, seed: \">1\"}, {seed: 1, n: \"1*\"}"),
              ElementsAre("plain 2 1", "plain 1024 2"));
  EXPECT_THAT(remaining_of_all("{n: 2, precision: float}, {n: 3}"),
              ElementsAre("plain 2 1", "plain 2 2", "plain 1024 1", "plain 1024 2"));
  EXPECT_THAT(remaining("n: 2", "{omega: -0.0}"), ElementsAre("plain 2 1"))
      << "only tiled has this parameter, 0 by default";
}

TEST(Exclude, LooksUpThousandsOfMappings) {
  const CpuLimit limit;  // would take minutes if every trial tried every mapping
  std::string exclude;
  for (int seed = 0; seed < 10000; ++seed)
    exclude += fmt::format("{{seed: {}, n: [4, 5, {}], precision: double}}, ", seed, seed);
  EXPECT_THAT(remaining("n: 4\n    seed: 1:10000", exclude + "{method: tiled}"),
              ElementsAre("plain 4 10000"));
}

TEST(Exclude, LimitsMappingsThatEveryTrialMustTry) {
  std::string exclude;
  for (int i = 0; i < 1000; ++i) exclude += fmt::format("{{n: \">{}\"}}, ", 100 + i);
  EXPECT_EQ(remaining("n: 4", exclude + "{n: 5}").size(), 2U);
  const std::string message =
      message_of<io::InputError>([&] { remaining("n: 4", exclude + "{method: plain}"); });
  EXPECT_THAT(message, HasSubstr("p.yaml:5:"));
  EXPECT_THAT(message, HasSubstr("more than 1000 mappings"));
}

}  // namespace
}  // namespace gaussweep::driver
