// Tests the learning of rules from records.

#include "driver/base/errors.hpp"
#include "driver/rule/rule.hpp"
#include "tests/driver/rule/rule_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

// The times of two methods, which are equal at n = 1000.
const Formula quadratic = [](double n, double r, double b) { return 1e-6 * n * n * r * b; };
const Formula linear = [](double n, double r, double b) { return 1e-3 * n * r * b; };

Question question_at(std::int64_t n, std::int64_t nrhs = 1, std::int64_t batch = 1) {
  return {"gesv", "NVIDIA H200", "double", "lower", "uniform", n, nrhs, batch};
}

std::string method_at(const Rule& rule, const Question& question) {
  const Box* box = rule.find(question);
  return box == nullptr ? "not measured" : box->choice.method;
}

std::size_t boxes_of(const Rule& rule) {
  std::size_t boxes = 0;
  for (const RulePart& part : rule.parts) boxes += part.boxes.size();
  return boxes;
}

io::Results two_methods(const std::vector<std::int64_t>& orders) {
  io::Results results;
  for (const std::int64_t n : orders) {
    results.records.push_back(formula_record("batched", quadratic, n));
    results.records.push_back(formula_record("cusolver", linear, n));
  }
  return results;
}

TEST(LearnRule, FindsTheCrossingBetweenMeasuredOrders) {
  const Rule rule = learn_rule(two_methods({256, 512, 768, 1280, 2048}));
  ASSERT_EQ(boxes_of(rule), 2u);
  EXPECT_NEAR(static_cast<double>(rule.parts[0].boxes[0].n.to), 1000, 10);
  EXPECT_EQ(method_at(rule, question_at(990)), "batched");
  EXPECT_EQ(method_at(rule, question_at(1010)), "cusolver");
}

TEST(LearnRule, AnswersOnlyWhatWasMeasured) {
  const Rule rule = learn_rule(two_methods({256, 512}));
  EXPECT_EQ(method_at(rule, question_at(255)), "not measured");
  EXPECT_EQ(method_at(rule, question_at(256)), "batched");
  EXPECT_EQ(method_at(rule, question_at(512)), "batched");
  EXPECT_EQ(method_at(rule, question_at(513)), "not measured");
  EXPECT_EQ(method_at(rule, question_at(300, 2)), "not measured");
  EXPECT_EQ(method_at(rule, question_at(300, 1, 2)), "not measured");
  Question other = question_at(300);
  other.device = "NVIDIA H100";
  EXPECT_EQ(method_at(rule, other), "not measured");
  other = question_at(300);
  other.matrix = "hilbert";
  EXPECT_EQ(method_at(rule, other), "not measured");
}

TEST(LearnRule, DoesNotInterpolateAcrossWideGaps) {
  const Rule rule = learn_rule(two_methods({16, 32, 2048, 4096}));
  EXPECT_EQ(method_at(rule, question_at(32)), "batched");
  EXPECT_EQ(method_at(rule, question_at(33)), "not measured");
  EXPECT_EQ(method_at(rule, question_at(2047)), "not measured");
  EXPECT_EQ(method_at(rule, question_at(3000)), "cusolver");
}

TEST(LearnRule, GivesTiesToTheVendorAndNeedsNoThreshold) {
  io::Results results;
  for (const std::int64_t n : {128, 256, 512}) {
    // The other method is faster by 1 %, then slower.
    const double factor = n == 512 ? 1.2 : 0.99;
    results.records.push_back(formula_record(
        "batched", [&](double m, double r, double b) { return factor * quadratic(m, r, b); }, n));
    results.records.push_back(formula_record("cusolver", quadratic, n));
  }
  const Rule rule = learn_rule(results, 0.02);
  ASSERT_EQ(boxes_of(rule), 1u);
  EXPECT_EQ(rule.parts[0].boxes[0].choice.method, "cusolver");
  EXPECT_NEAR(rule.parts[0].boxes[0].worst, 0.0101, 0.001);
  EXPECT_EQ(boxes_of(learn_rule(results, 0.001)), 2u);
}

TEST(LearnRule, TimesThatDifferOnlyByLaunchesTie) {
  io::Results results;
  results.records.push_back(formula_record(
      "batched", [](double, double, double) { return 20e-6; }, 512));
  results.records.push_back(formula_record(
      "cusolver", [](double, double, double) { return 25e-6; }, 512));
  EXPECT_EQ(method_at(learn_rule(results), question_at(512)), "batched");
  for (io::Record& r : results.records) r.replay_median = 5e-6;
  EXPECT_EQ(method_at(learn_rule(results), question_at(512)), "cusolver");
}

TEST(LearnRule, CountsOnlyMethodsThatPassed) {
  io::Results results = two_methods({256, 512, 768});
  for (io::Record& r : results.records) {
    if (r.method == "batched" && r.n == 512) r.status = "failed";
  }
  const Rule rule = learn_rule(results);
  EXPECT_EQ(method_at(rule, question_at(256)), "batched");
  EXPECT_EQ(method_at(rule, question_at(257)),
            "cusolver");  // nothing is known about `batched` next to its failure
  EXPECT_EQ(method_at(rule, question_at(512)), "cusolver");
  EXPECT_EQ(method_at(rule, question_at(767)), "cusolver");
  EXPECT_EQ(method_at(rule, question_at(768)), "batched");
}

TEST(LearnRule, AMatrixThatIsSkippedLeavesTheTimeOfAnotherOne) {
  io::Results results = two_methods({256});
  io::Record skipped = results.records[0];
  skipped.status = "skipped";
  skipped.matrix_digest = "another";
  results.records.push_back(skipped);
  EXPECT_EQ(method_at(learn_rule(results), question_at(256)), "batched");
}

TEST(LearnRule, InterpolatesBetweenBatchesAndRightHandSides) {
  // The crossing moves from n = 1000 at one system to 100 at 100 systems.
  io::Results results;
  for (const std::int64_t n : {50, 100, 200, 400, 800, 1600}) {
    for (const std::int64_t batch : {1, 10, 100}) {
      results.records.push_back(formula_record(
          "batched", [](double m, double, double b) { return 1e-6 * m * m * b; }, n, 1, batch));
      results.records.push_back(formula_record(
          "cusolver", [](double m, double, double b) { return 1e-3 * m * std::sqrt(b); }, n, 1, batch));
    }
  }
  const Rule rule = learn_rule(results);
  for (const std::int64_t batch : {1, 2, 5, 10, 30, 70, 100}) {
    const double crossing = 1000 / std::sqrt(static_cast<double>(batch));
    EXPECT_EQ(method_at(rule, question_at(static_cast<std::int64_t>(0.7 * crossing), 1, batch)), "batched")
        << batch;
    EXPECT_EQ(method_at(rule, question_at(static_cast<std::int64_t>(1.5 * crossing), 1, batch)), "cusolver")
        << batch;
  }
}

TEST(LearnRule, KeepsMethodsWithoutBatchesToOneSystem) {
  io::Results results;
  for (const std::int64_t n : {100, 200}) {
    for (const std::int64_t batch : {1, 10}) {
      io::Record single = formula_record("recursive", quadratic, n, 1, batch);
      if (batch > 1) single.status = "skipped";
      results.records.push_back(single);
      results.records.push_back(formula_record("cusolver", linear, n, 1, batch));
    }
  }
  const Rule rule = learn_rule(results);
  EXPECT_EQ(method_at(rule, question_at(150, 1, 1)), "recursive");
  EXPECT_EQ(method_at(rule, question_at(150, 1, 2)), "cusolver");
}

TEST(LearnRule, SharesBoxesAmongNamesUnlessTheyMatter) {
  const Formula slower = [](double n, double r, double b) { return 2 * linear(n, r, b); };
  io::Results results;
  for (const char* matrix : {"uniform", "spd"}) {
    for (const char* precision : {"float", "double"}) {
      for (const std::int64_t n : {100, 200, 400}) {
        const bool is_slow = std::string(matrix) == "spd" && std::string(precision) == "float";
        results.records.push_back(formula_record("cusolver", linear, n, 1, 1, precision, matrix));
        results.records.push_back(
            formula_record("batched", is_slow ? slower : quadratic, n, 1, 1, precision, matrix));
      }
    }
  }
  const Rule rule = learn_rule(results);
  ASSERT_EQ(rule.parts.size(), 2u);
  EXPECT_EQ(rule.parts[0].names.size(), 3u);
  EXPECT_EQ(rule.parts[1].names.size(), 1u);
  EXPECT_EQ(boxes_of(rule), 2u);
  Question q = question_at(150);
  EXPECT_EQ(method_at(rule, q), "batched");
  q.matrix = "spd";
  q.precision = "float";
  EXPECT_EQ(method_at(rule, q), "cusolver");
}

TEST(LearnRule, StatesTheCostOfOtherChoices) {
  const Rule rule = learn_rule(two_methods({256, 512}));
  ASSERT_EQ(boxes_of(rule), 1u);
  const Box& box = rule.parts[0].boxes[0];
  ASSERT_EQ(box.alternatives.size(), 1u);
  EXPECT_EQ(box.alternatives[0].choice.method, "cusolver");
  EXPECT_NEAR(box.alternatives[0].most, 1000.0 / 256, 1e-9);
  EXPECT_NEAR(box.alternatives[0].least, 1000.0 / 512, 1e-9);
}

TEST(LearnRule, RefusesRecordsWithoutTimes) {
  io::Results results = two_methods({256});
  for (io::Record& r : results.records) r.status = "failed";
  EXPECT_THROW(learn_rule(results), UsageError);
  for (io::Record& r : results.records) r.problem = "eigen";
  EXPECT_THROW(learn_rule(results), UsageError);
}

}  // namespace
}  // namespace gaussweep::driver
