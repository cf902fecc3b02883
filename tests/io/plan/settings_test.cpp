// Tests the sampling keys of plans.

#include "io/plan/plan.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

Plan plan_with(const std::string& entry) {
  return parse_plan("sweep:\n  - problem: gesv\n    method: all\n    " + entry + "\n", "p.yaml", {"gesv"});
}

TEST(PlanSampling, ReadsTheSamplingKeys) {
  const Plan plan = plan_with(
      "repeats: {min: 3, max: 1k, noise: 0.5%, time: 250ms, throttled: again}\n    warmup: 1min\n"
      "    cache: cold\n    host_memory: pinned\n    energy: 1.5s\n    rounds: 3\n    reference: never");
  const Settings& s = plan.sweep[0].settings;
  EXPECT_EQ(std::pair(s.sampling.min_samples, s.sampling.max_samples),
            std::pair(std::int64_t{3}, std::int64_t{1024}));
  EXPECT_EQ(std::pair(s.sampling.noise, s.sampling.seconds), std::pair(0.005, 0.25));
  EXPECT_EQ(std::pair(s.sampling.warmup, s.sampling.warmup_seconds), std::pair(std::int64_t{1}, 60.0));
  EXPECT_TRUE(s.sampling.throttled_again && s.sampling.cold && s.pinned);
  EXPECT_EQ(s.energy_seconds, 1.5);
  EXPECT_EQ(s.rounds, 3);
  EXPECT_TRUE(!s.has_reference && plan.settings.has_reference);
  EXPECT_FALSE(plan.settings.sampling.cold || plan.settings.pinned);
  EXPECT_EQ(plan.settings.energy_seconds, 0);
  EXPECT_FALSE(is_duration({"2", {}}));
  EXPECT_FALSE(is_duration({"1k", {}}));
  for (const auto& [wrong, words] :
       {std::pair{"repeats: {least: 3}", "repeats has no 'least'; allowed: min, max,"},
        {"repeats: {min: 9, max: 3}", "repeats.max: '3'; allowed: a whole number from 9"},
        {"repeats: {noise: 1}", "allowed: a percentage above 0% and up to 100%"},
        {"repeats: {throttled: drop}", "allowed: count, again"},
        {"repeats: []", "allowed: a number, or a mapping"},
        {"repeats: {}", "repeats is empty"},
        {"warmup: 2 s", "warmup: '2 s'"},
        {"energy: 5", "allowed: never, or the duration"},
        {"energy: nevr", "nearest: never;"},
        {"cache: hot", "cache: 'hot'; allowed: warm, cold"},
        {"host_memory: pined", "host_memory: 'pined'; nearest: pinned; allowed: pageable, pinned"},
        {"rounds: 0", "rounds: '0'; allowed: a whole number from 1 to 1000"}}) {
    const std::string message = message_of<InputError>([&] { plan_with(wrong); });
    EXPECT_THAT(message, HasSubstr(words));
    EXPECT_THAT(message, HasSubstr("p.yaml:"));
  }
}

// An entry starts with the values of the plan, whatever the order in the file.
TEST(Settings, AnEntryOverridesThePlan) {
  const Plan plan = parse_plan(
      "sweep:\n  - {problem: gesv, method: all, repeats: {time: 1s}, tolerance: {gesv: 4}}\n"
      "  - {problem: gesv, method: all, warmup: 3, tolerance: 2}\n"
      "repeats: 7\nwarmup: 1min\ncache: cold\ntolerance: {gesv: 16, trsv: 8}\n",
      "p.yaml", {"gesv", "trsv"});
  const Settings &first = plan.sweep[0].settings, &second = plan.sweep[1].settings;
  EXPECT_EQ(first.sampling.min_samples, 5) << "a rule replaces the whole number";
  EXPECT_EQ(first.sampling.max_samples, 200);
  EXPECT_EQ(first.sampling.warmup_seconds, 60);
  EXPECT_EQ(second.sampling.max_samples, 7);
  EXPECT_EQ(second.sampling.warmup_seconds, 0);
  EXPECT_TRUE(first.sampling.cold && second.sampling.cold);
  EXPECT_EQ(first.tolerances, (std::map<std::string, double>{{"gesv", 4}, {"trsv", 8}}));
  EXPECT_EQ(second.tolerances, (std::map<std::string, double>{{"", 2}})) << "a factor for every default";
}

}  // namespace
}  // namespace gaussweep::io
