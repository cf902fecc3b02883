// Tests the summary of records: groups, filters, speedups and causes of failures.

#include "driver/summary/summary.hpp"
#include "driver/base/errors.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

std::string error_of(const std::function<void()>& action) {
  return message_of<UsageError>(action);
}

TEST(Summary, RunsOfOneTrialFormAGroupWithTheWorstStatus) {
  std::vector<Record> records;
  for (int run = 1; run <= 3; ++run) {
    Record r = example_record("gauss_block", 64, {0.001 * run, 0.002 * run, 0.003 * run});
    r.run_id = "run-" + std::to_string(run);
    r.residual_ratio = run;
    records.push_back(r);
  }
  records[1].status = "failed";
  records[1].residual_ratio = 1e9;
  records.push_back(example_record("gauss_block", 128, {0.5}));
  const auto groups = group_records(records);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].records.size(), 3U);
  EXPECT_EQ(groups[0].status, "failed");
  EXPECT_DOUBLE_EQ(groups[0].median, 0.004);
  EXPECT_DOUBLE_EQ(groups[0].min, 0.001);
  EXPECT_DOUBLE_EQ(groups[0].max, 0.009);
  EXPECT_DOUBLE_EQ(groups[0].residual_ratio, 1e9);
  EXPECT_EQ(groups[1].status, "pass");
}

TEST(Summary, OneSlowRoundDoesNotWidenTheInterval) {
  std::vector<Record> records;
  for (const double seconds : {10, 1, 1, 1, 1}) {
    records.push_back(example_record("a", 64, {seconds}));
    records.back().round = static_cast<std::int64_t>(records.size());
    records.back().seconds_q1 = 0.9 * seconds;
    records.back().seconds_q3 = 1.1 * seconds;
  }
  const auto groups = group_records(records);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_DOUBLE_EQ(groups[0].median, 1);
  EXPECT_NEAR(groups[0].q1, 0.95, 0.06);
  EXPECT_NEAR(groups[0].q3, 1.1, 1e-9) << "not 11, the third quartile of the slow round";
}

TEST(Summary, SpreadOfPooledRunsShowsThatTheyDisagree) {
  std::vector<Record> records;
  for (const double seconds : {32e-6, 3982e-6}) {
    records.push_back(example_record("a", 64, {0.999 * seconds, seconds, 1.001 * seconds}));
    records.back().run_id = "run-" + std::to_string(records.size());
  }
  const auto groups = group_records(records);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_DOUBLE_EQ(groups[0].median, 2007e-6);
  EXPECT_LT(groups[0].q1, 40e-6);
  EXPECT_GT(groups[0].q3, 3900e-6);
}

TEST(Summary, ParametersPrecisionBackendAndGpuSeparateGroups) {
  std::vector<Record> records(5, example_record("a", 64, {1}));
  records[1].parameters = R"({"blocks":2})";
  records[2].precision = "float";
  records[3].backend = "emulated";
  records[4].gpu_name = "NVIDIA A100";
  EXPECT_EQ(group_records(records).size(), 5U);
}

TEST(Summary, GroupWithoutTimesHasNoTime) {
  std::vector<Record> records = {example_record("a", 64, {})};
  records[0].status = "crashed";
  const auto groups = group_records(records);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(std::isnan(groups[0].median));
  EXPECT_TRUE(std::isnan(groups[0].min));
  EXPECT_EQ(groups[0].status, "crashed");
}

TEST(Summary, BestIsTheFastestThatPassed) {
  std::vector<Record> records = {example_record("slow", 64, {3}), example_record("wrong", 64, {1}),
                                 example_record("good", 64, {2}), example_record("slow", 128, {5})};
  records[1].status = "suspect";
  const auto groups = group_records(records);
  const auto best = best_groups(groups);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].first().method, "good");
  EXPECT_EQ(best[1].first().method, "slow");
  EXPECT_EQ(best[1].first().n, 128);
}

TEST(Summary, EmulatedTimesAreNotComparedWithOthers) {
  std::vector<Record> records = {example_record("quick", 64, {1}), example_record("lapack", 64, {2})};
  records[0].backend = "emulated";
  records[1].backend = "host";
  auto groups = group_records(records);
  ASSERT_EQ(best_groups(groups).size(), 1U);
  EXPECT_EQ(best_groups(groups)[0].first().method, "lapack");
  set_speedups(groups, groups, "lapack");
  EXPECT_TRUE(std::isnan(groups[0].speedup));
  EXPECT_DOUBLE_EQ(groups[1].speedup, 1);
  set_speedups(groups, groups, "quick");
  EXPECT_DOUBLE_EQ(groups[0].speedup, 1);
}

TEST(Summary, PrefersTheBaselineOnTheSameDevice) {
  std::vector<Record> records = {example_record("mine", 64, {2}), example_record("cusolver", 64, {1}),
                                 example_record("cusolver", 64, {8}), example_record("mine", 64, {4}),
                                 example_record("mine", 128, {1})};
  records[2].gpu_name = records[3].gpu_name = "Tesla K40c";
  auto groups = group_records(records);
  set_speedups(groups, groups, "cusolver");
  EXPECT_DOUBLE_EQ(groups[0].speedup, 0.5);
  EXPECT_DOUBLE_EQ(groups[1].speedup, 1);
  EXPECT_DOUBLE_EQ(groups[3].speedup, 2);
  EXPECT_TRUE(std::isnan(groups[4].speedup)) << "no baseline of this size";
  EXPECT_NE(error_of([&] { set_speedups(groups, groups, "magma"); }).find("gesv/cusolver"),
            std::string::npos);
}

TEST(Summary, FailedAnswersHaveNoSpeedup) {
  std::vector<Record> records = {example_record("wrong", 64, {1}), example_record("vendor", 64, {2})};
  records[0].status = "failed";
  for (const char* baseline : {"vendor", "wrong"}) {
    auto groups = group_records(records);
    set_speedups(groups, groups, baseline);
    EXPECT_TRUE(std::isnan(groups[0].speedup)) << baseline;
    EXPECT_EQ(std::isnan(groups[1].speedup), baseline == std::string("wrong")) << baseline;
  }
}

TEST(Summary, UsesABaselineOfAnotherDeviceIfThereIsNone) {
  std::vector<Record> records = {example_record("mine", 64, {2}), example_record("lapack", 64, {6})};
  records[1].backend = "host";
  auto groups = group_records(records);
  set_speedups(groups, groups, "gesv/lapack");
  EXPECT_DOUBLE_EQ(groups[0].speedup, 3);
}

TEST(Summary, DefaultsToTheVendorOnTheSameDevice) {
  std::vector<Record> records = {example_record("mine", 64, {2}), example_record("cusolver", 64, {1}),
                                 example_record("mine", 64, {4}), example_record("lapack", 64, {6})};
  for (Record& r : records) r.reference_method = "cusolver";
  records[2].gpu_name = "Tesla K40c";
  records[3].backend = "host";
  auto groups = group_records(records);
  set_speedups(groups, groups, "");
  EXPECT_DOUBLE_EQ(groups[0].speedup, 0.5);
  EXPECT_TRUE(std::isnan(groups[2].speedup)) << "it did not run on that GPU";
  EXPECT_TRUE(std::isnan(groups[3].speedup));
}

TEST(Summary, ListsTheChoicesIfFiltersTogetherMatchNothing) {
  const std::vector<Record> records = {example_record("gauss_a", 64, {1}),
                                       example_record("lapack", 2048, {1})};
  Filter filter;
  filter.methods = {"lapack"};
  filter.sizes = {"<1k"};
  EXPECT_TRUE(filter_records(records, filter).empty());
  const std::string message = error_of([&] { filter_records(records, filter, IfEmpty::throws); });
  EXPECT_THAT(message, testing::HasSubstr("there are gesv/lapack in double on cuda (NVIDIA H200), n 2048,"));
  filter.sizes = {"<64", "65"};
  EXPECT_EQ(error_of([&] { filter_records(records, filter, IfEmpty::throws); }),
            "--n <64,65: no record matches; present are 64, 2048");
}

TEST(Summary, Filters) {
  std::vector<Record> records = {example_record("gauss_a", 64, {1}), example_record("gauss_b", 1024, {1}),
                                 example_record("lapack", 2048, {1})};
  const auto count = [&](const Filter& filter) { return filter_records(records, filter).size(); };
  Filter filter;
  EXPECT_EQ(count(filter), 3U);
  filter.methods = {"gauss_*"};
  EXPECT_EQ(count(filter), 2U);
  filter.methods = {"gesv/lapack"};
  EXPECT_EQ(count(filter), 1U);
  filter.methods.clear();
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::size_t>>{
           {"64", 1}, {"1k", 1}, {"65:2k", 2}, {">=1024", 2}, {">1024", 1}, {"<64", 0}, {"<=64", 1}}) {
    filter.sizes = {text};
    EXPECT_EQ(count(filter), expected) << text;
  }
  filter.sizes = {"64", "2048"};
  EXPECT_EQ(count(filter), 2U);
}

TEST(Summary, RefusesAFilterThatCanMatchNothing) {
  const std::vector<Record> records = {example_record("cusolver", 64, {1})};
  Filter filter;
  filter.methods = {"cusolverr"};
  const std::string message = error_of([&] { filter_records(records, filter); });
  EXPECT_NE(message.find("--method cusolverr"), std::string::npos) << message;
  EXPECT_NE(message.find("cusolver"), std::string::npos);
  filter.methods.clear();
  filter.statuses = {"failed"};
  EXPECT_TRUE(filter_records(records, filter).empty()) << "a filter without failures is valid";
  filter.statuses = {"fail"};
  EXPECT_NE(error_of([&] { filter_records(records, filter); }).find("allowed are pass, suspect, failed"),
            std::string::npos);
  filter.statuses.clear();
  filter.sizes = {"64:32"};
  EXPECT_EQ(error_of([&] { filter_records(records, filter); }),
            "--n 64:32: the range ends before it starts; allowed: low:high");
  filter.sizes.clear();
  Record on_cpu = records.front();
  on_cpu.gpu_name.clear();
  filter.gpus = {"*H200*"};
  EXPECT_EQ(error_of([&] { filter_records({on_cpu}, filter); }),
            "--gpu *H200*: no record names a GPU; --backend chooses other records");
  filter.gpus.clear();
  filter.statuses.clear();
  for (const std::string text : {"", "x", "-3", "1:2:3", "5kk", "99999999999999999999"}) {
    filter.sizes = {text};
    EXPECT_NE(error_of([&] { filter_records(records, filter); }).find("--n"), std::string::npos) << text;
  }
}

TEST(Summary, SortsByAnyColumnInBothDirections) {
  std::vector<Record> records = {example_record("b", 64, {2}), example_record("a", 64, {}),
                                 example_record("c", 64, {1})};
  auto groups = group_records(records);
  const auto order = [&](const std::string& column) {
    sort_groups(groups, column);
    return groups[0].first().method + groups[1].first().method + groups[2].first().method;
  };
  EXPECT_EQ(order("method"), "abc");
  EXPECT_EQ(order("-method"), "cba");
  EXPECT_EQ(order("median"), "cba") << "groups without a time come last";
  EXPECT_EQ(order("-median"), "bca");
  EXPECT_NE(error_of([&] { sort_groups(groups, "medain"); }).find("median"), std::string::npos);
}

TEST(Summary, FailuresHaveTheirCauses) {
  std::vector<Record> records(8, example_record("gauss", 64, {1}));
  records[0].status = "failed";
  records[0].residual_ratio = 1e4;
  records[1].status = "failed";
  records[1].residual_ratio = 1e6;
  records[1].n = 512;
  records[2].status = "failed";
  records[2].residual_ratio = std::numeric_limits<double>::infinity();
  records[3].status = records[4].status = "crashed";
  records[3].message = records[4].message = "signal 11 in stage eliminate";
  records[5].status = "skipped";
  records[5].message = "needs CUDA";
  records[7].status = "failed";
  records[7].info = 3;
  records[7].residual_ratio = 0.5;
  const Table table = failure_table(records, Failures::all);
  ASSERT_EQ(table.rows.size(), 3U);
  const auto text = [&](std::size_t row, std::size_t column) {
    return to_text(table.rows[row][column], Style::plain);
  };
  EXPECT_EQ(text(0, 1), "cauchy");
  EXPECT_EQ(text(0, 2), "crashed");
  EXPECT_EQ(text(0, 3), "2");
  EXPECT_EQ(text(0, 5), "signal 11 in stage eliminate");
  EXPECT_EQ(text(1, 2), "failed");
  EXPECT_EQ(text(1, 4), "64 to 512");
  EXPECT_EQ(text(1, 5),
            "residual ratio 0.5 to 1e+06, tolerance 16; NaN or Inf in 1 answer; zero pivot in 1 trial");
  EXPECT_EQ(text(2, 2), "skipped") << "comes last";
  EXPECT_EQ(status_counts_text(records), "1 pass, 4 failed, 1 skipped, 2 crashed");
}

// The worker gives an answer with such a fault an infinite ratio, although it has neither NaN nor Inf.
TEST(Summary, FailuresWithoutARatioHaveTheRecordedCause) {
  std::vector<Record> records(7, example_record("gauss", 64, {1}));
  for (Record& record : records) {
    record.status = "failed";
    record.residual_ratio = std::numeric_limits<double>::infinity();
    record.message = "the method overwrote its inputs";
  }
  const auto cause = [&] {
    return to_text(failure_table(records, Failures::all).rows.at(0)[5], Style::plain);
  };
  EXPECT_EQ(cause(), "the method overwrote its inputs in 7 answers");
  records[0].residual_ratio = 100;
  records[0].message = "residual ratio 100, tolerance 16";
  records[1].message = "the answer holds NaN, first in row 1 of column 1";
  records[2].message = "fault A";
  records[3].message = "fault B";
  records[4].message = "fault C";
  records[4].info = 3;
  EXPECT_EQ(
      cause(),
      "residual ratio 100, tolerance 16; NaN or Inf in 1 answer; fault A in 1 answer; fault B in 1 answer; "
      "fault C in 1 answer; 1 more message");
}

TEST(Summary, ExpectedFailuresAreFindings) {
  std::vector<Record> records(5, example_record("gauss", 64, {1}));
  for (Record& record : records) record.expected = 1;
  records[0].status = records[1].status = "failed";
  records[1].matrix_kind = "uniform";
  records[1].expected = 0;
  records[2].expected = 0;  // a pass, but the plan has `expect: [failed]`
  records[3].status = "skipped";
  const auto of = [&](Failures which) {
    const Table table = failure_table(records, which);
    std::string text;
    for (const auto& row : table.rows)
      text += to_text(row[1], Style::plain) + " " + to_text(row[2], Style::plain) + "; ";
    return text;
  };
  EXPECT_EQ(of(Failures::unexpected), "cauchy pass; uniform failed; ");
  EXPECT_EQ(of(Failures::findings), "cauchy failed;  skipped; ");
  EXPECT_EQ(of(Failures::all), "cauchy pass; uniform failed; cauchy failed;  skipped; ");
  EXPECT_THAT(to_text(failure_table(records, Failures::unexpected).rows[0][5], Style::plain),
              testing::HasSubstr("the plan does not expect it to pass"));
  records[1].matrix = records[4].matrix = "condition";
  records[1].matrix_parameters = R"({"condition":10.0})";
  records[4].matrix_parameters = R"({"condition":1e12})";
  EXPECT_EQ(of(Failures::unexpected), "cauchy pass; condition condition=10 failed; ")
      << "not the one that passed";
  const auto json = render_json(failure_table(records, Failures::all));
  EXPECT_EQ(json[1]["expected"], 0);
  EXPECT_EQ(json[2]["expected"], 1);
}

TEST(Summary, TerminalTableHasTheTriangleOnlyOfProblemsWithBoth) {
  std::vector<Record> records = {example_record("m", 64, {1}), example_record("m", 64, {1}),
                                 example_record("m", 65, {1})};
  records[0].problem = records[1].problem = "potrf";
  records[0].uplo = records[2].uplo = "lower";
  records[1].uplo = "upper";
  const std::string text = render_text(summary_table(group_records(records), /*full=*/false), any_width);
  EXPECT_EQ(text.find("lower"), text.rfind("lower")) << text;
  EXPECT_NE(text.find("upper"), std::string::npos) << text;
}

TEST(Summary, FailuresNameTheParametersThatVary) {
  std::vector<Record> records = {example_record("m", 64, {1}), example_record("m", 64, {1})};
  records[0].parameters = R"({"blocks":1,"threads":0})";
  records[1].parameters = R"({"blocks":4,"threads":0})";
  records[1].status = "failed";
  EXPECT_EQ(render_json(failure_table(records, Failures::all)).at(0)["parameters"], "blocks=4");
}

TEST(Summary, EmulatedTimesHaveNoFractionOfAPeak) {
  std::vector<Record> records = {example_record("m", 64, {1})};
  records[0].peak_share = 0.001;
  EXPECT_EQ(group_records(records).at(0).peak_share, 0.001);
  records[0].backend = "emulated";
  EXPECT_TRUE(std::isnan(group_records(records).at(0).peak_share));
}

TEST(Summary, MethodsThatStoppedEarlyHaveNoRate) {
  std::vector<Record> records = {example_record("m", 64, {1})};
  records[0].info = 2;
  records[0].gflops = Record::unknown;
  EXPECT_TRUE(std::isnan(group_records(records).at(0).gflops));
}

TEST(Summary, RatesAreThoseOfThePooledTime) {
  std::vector<Record> records = {example_record("a", 64, {1}), example_record("a", 64, {4})};
  for (Record& r : records) {
    r.peak_share = 0.5 / r.seconds_median;
    r.energy_joules = 2;
  }
  const Group group = group_records(records).at(0);
  EXPECT_DOUBLE_EQ(group.median, 2.5);
  EXPECT_DOUBLE_EQ(group.gflops, records[0].flops / 2.5 * 1e-9);
  EXPECT_DOUBLE_EQ(group.peak_share, 0.2);
}

TEST(Summary, TerminalTableIsShortAndTheFullOneComplete) {
  const std::vector<Record> records = {example_record("gauss", 64, {1, 2, 3})};
  const auto groups = group_records(records);
  const std::string text = render_text(summary_table(groups, /*full=*/false), any_width);
  EXPECT_NE(text.find("gesv/gauss"), std::string::npos);
  EXPECT_EQ(text.find("NRHS"), std::string::npos);
  EXPECT_EQ(text.find("SPEEDUP"), std::string::npos) << "no baseline was asked for";
  const auto json = render_json(summary_table(groups, /*full=*/true));
  for (const char* name : {"problem", "method", "backend", "precision", "m", "n", "k", "nrhs", "status",
                           "min", "q1", "median", "q3", "max", "gflops", "ratio", "speedup", "trials"}) {
    EXPECT_TRUE(json[0].contains(name)) << name;
  }
  EXPECT_EQ(json[0]["median"], 2.0);
}

TEST(Summary, HandlesAHundredThousandRecords) {
  std::vector<Record> records;
  for (int i = 0; i < 100000; ++i)
    records.push_back(example_record("m" + std::to_string(i % 10), i / 10 + 1, {1e-3}));
  const auto groups = group_records(records);
  const std::string text = render_text(summary_table(groups, /*full=*/false), any_width);
  EXPECT_EQ(groups.size(), 100000U);
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 100000);
}

}  // namespace
}  // namespace gaussweep::driver
