// How samples are taken, as plans say it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/plan/plan.hpp"

namespace gaussweep::io {
namespace {

using testing::HasSubstr;

Plan plan_with(const std::string& entry) {
  return parse_plan("sweep:\n  - problem: gesv\n    method: all\n    " + entry + "\n", "p.yaml", {"gesv"});
}

TEST(PlanSampling, HowSamplesAreTaken) {
  const Plan plan = plan_with(
      "repeats: {min: 3, max: 1k, noise: 0.5%, time: 250ms, throttled: again}\n    warmup: 1min\n"
      "    cache: cold\n    host_memory: pinned\n    energy: 1.5s\n    rounds: 3");
  const Entry& entry = plan.sweep[0];
  EXPECT_EQ(parse_share(entry.repeats.at("noise"), ""), 0.005);
  EXPECT_EQ(parse_duration(entry.repeats.at("time"), ""), 0.25);
  EXPECT_TRUE(is_duration(*entry.warmup));
  EXPECT_FALSE(is_duration({"2", {}}));
  EXPECT_FALSE(is_duration({"1k", {}}));
  EXPECT_EQ(entry.cache->text, "cold");
  EXPECT_EQ(entry.rounds->text, "3");
  EXPECT_EQ(entry.host_memory->text, "pinned");
  EXPECT_EQ(plan.cache.text, "warm");
  EXPECT_EQ(plan.host_memory.text, "pageable");
  EXPECT_EQ(plan.energy.text, "never");
  for (const auto& [wrong, said] :
       {std::pair{"repeats: {least: 3}", "repeats has no 'least'; allowed: min, max,"},
        {"repeats: {min: 9, max: 3}", "repeats.max: '3'; allowed: a whole number from 9"},
        {"repeats: {noise: 1}", "allowed: a percentage above 0% and up to 100%"},
        {"repeats: {throttled: drop}", "allowed: count, again"},
        {"repeats: []", "allowed: a number, or a mapping"},
        {"repeats: {}", "repeats is empty"},
        {"warmup: 2 s", "warmup: '2 s'"},
        {"energy: 5", "allowed: never, or for how long"},
        {"energy: nevr", "(nearest: never)"},
        {"cache: hot", "cache: 'hot'; allowed: warm, cold"},
        {"host_memory: pined", "host_memory: 'pined'; allowed: pageable, pinned (nearest: pinned)"},
        {"rounds: 0", "rounds: '0'; allowed: a whole number from 1 to 1000"}}) {
    try {
      plan_with(wrong);
      ADD_FAILURE() << wrong;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(said));
      EXPECT_THAT(error.what(), HasSubstr("p.yaml:"));
    }
  }
}

}  // namespace
}  // namespace gaussweep::io
