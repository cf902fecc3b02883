// Tests the check of rules with further records, and the comparison of rules of two runs.

#include "driver/rule/regret.hpp"
#include "driver/base/errors.hpp"
#include "driver/rule/rule_changes.hpp"
#include "tests/driver/rule/rule_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Formula constant(double seconds) {
  return [seconds](double, double, double) { return seconds; };
}

/// Returns a rule for gesv on every device: one method for orders up to `last`.
Rule fixed_rule(const std::string& method, std::int64_t last) {
  Box box;
  box.n = {1, last};
  box.choice.method = method;
  Rule rule;
  rule.parts = {{"gesv", any_name, {{any_name, any_name, any_name}}, {box}}};
  return rule;
}

io::Results measured() {
  io::Results results;
  // The fastest: batched, batched, cusolver.
  for (const auto& [n, batched, cusolver] :
       {std::tuple(100, 1.0, 1.2), std::tuple(200, 1.0, 1.4), std::tuple(300, 1.5, 1.0)}) {
    results.records.push_back(formula_record("batched", constant(batched), n));
    results.records.push_back(formula_record("cusolver", constant(cusolver), n));
  }
  return results;
}

TEST(RegretOfRules, ComparesWithTheFastestAndTheVendor) {
  const std::vector<Regret> rows =
      regrets_of({{"ours", fixed_rule("batched", 300)}, {"other", fixed_rule("cusolver", 100)}}, measured());
  ASSERT_EQ(rows.size(), 6u);  // three advisers for gesv, and their sums
  const Regret &ours = rows[0], &vendor = rows[1], &other = rows[2];
  EXPECT_EQ(ours.tasks, 3);
  EXPECT_NEAR(ours.mean, 0.5 / 3, 1e-12);
  EXPECT_NEAR(ours.worst, 0.5, 1e-12);
  EXPECT_NE(ours.worst_case.find("n 300"), std::string::npos) << ours.worst_case;
  EXPECT_EQ(vendor.adviser, "the vendor");
  EXPECT_NEAR(vendor.mean, 0.6 / 3, 1e-12);
  EXPECT_NEAR(vendor.worst, 0.4, 1e-12);
  EXPECT_EQ(other.tasks, 1);
  EXPECT_EQ(other.unmeasured, 2);
  EXPECT_NEAR(rows[3].mean, ours.mean, 1e-12);
}

TEST(RegretOfRules, OneGpuAndSeveralCompete) {
  io::Results results = measured();
  for (io::Record& record : results.records) record.gpu_count = record.method == "batched" ? "2" : "1";
  const std::vector<Regret> rows = regrets_of({{"ours", fixed_rule("cusolver", 300)}}, results);
  EXPECT_EQ(rows[0].tasks, 3);
  EXPECT_NEAR(rows[0].worst, 0.4, 1e-12);
}

TEST(RegretOfRules, CountsChoicesWithoutATimeApart) {
  io::Results results = measured();
  results.records[0].status = "failed";   // batched at 100
  results.records[2].status = "skipped";  // batched at 200
  const std::vector<Regret> rows = regrets_of({{"ours", fixed_rule("batched", 250)}}, results);
  EXPECT_EQ(std::tuple(rows[0].failed, rows[0].not_run, rows[0].unmeasured), std::tuple(1, 1, 1));
  EXPECT_EQ(rows[0].tasks, 0);
}

TEST(RegretOfRules, RefusesRunsThatTheRuleDoesNotKnow) {
  EXPECT_THROW(regrets_of({{"ours", fixed_rule("batched", 50)}}, measured()), UsageError);
}

TEST(RuleChanges, ReportsSizesWithAnotherChoiceAndItsWorth) {
  Rule before = fixed_rule("batched", 300), now = before;
  Box large = now.parts[0].boxes[0];
  now.parts[0].boxes[0].n.to = 120;
  large.n = {121, 400};
  large.choice.method = "cusolver";
  large.alternatives = {{{"batched", "{}"}, 1.1, 1.5}};
  now.parts[0].boxes.push_back(large);
  before.provenance["commits"] = {"abc"};
  now.provenance["commits"] = {"def"};
  const std::vector<RuleChange> changes = changes_of({{"monday", before}, {"tuesday", now}, {"friday", now}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].n, (SizeRange{121, 300}));
  EXPECT_EQ(changes[0].before.method, "batched");
  EXPECT_EQ(changes[0].now.value().method, "cusolver");
  EXPECT_EQ(changes[0].most, 1.5);
  EXPECT_EQ(changes[0].since, "tuesday, commits def");
}

/// A method whose answers became wrong is no longer chosen, and perhaps no other method was measured.
TEST(RuleChanges, ReportsSizesThatTheNewRuleDoesNotCover) {
  const Rule before = fixed_rule("batched", 300);
  Rule now = before;
  const SizeRange all = before.parts[0].boxes[0].n;
  now.parts[0].boxes[0].n = {all.from + 10, all.to - 20};
  const std::vector<RuleChange> changes = changes_of({{"monday", before}, {"tuesday", now}});
  ASSERT_EQ(changes.size(), 2u);
  for (const RuleChange& change : changes) EXPECT_FALSE(change.now.has_value());
  EXPECT_EQ(changes[0].n, (SizeRange{all.from, all.from + 9}));
  EXPECT_EQ(changes[1].n, (SizeRange{all.to - 19, all.to}));
  EXPECT_TRUE(changes_of({{"tuesday", now}, {"wednesday", before}}).empty()) << "new sizes are no change";
}

TEST(RuleChanges, RefusesRulesWithoutCommonSizes) {
  Rule other = fixed_rule("batched", 300);
  other.parts[0].problem = "getrf";
  EXPECT_THROW(changes_of({{"a", fixed_rule("batched", 300)}, {"b", other}}), UsageError);
}

}  // namespace
}  // namespace gaussweep::driver
