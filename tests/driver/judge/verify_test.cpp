// Tests the command `verify`, which recomputes the statuses of stored records with other tolerances.

#include "driver/judge/verify.hpp"
#include "driver/base/errors.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/summary/summary.hpp"
#include "kernels/check/check.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Record judged(const std::string& status, double ratio) {
  Record r = example_record("gauss_block", 64, {1});
  r.status = status;
  r.residual_ratio = ratio;
  return r;
}

std::vector<std::string> statuses(const Verification& verification) {
  std::vector<std::string> all;
  for (const Record& record : verification.records) all.push_back(record.status);
  return all;
}

using Words = std::vector<std::string>;

TEST(Verify, WithoutAnOptionUsesTheStoredTolerance) {
  const auto result = judge_all_again({judged("pass", 1), judged("suspect", 20), judged("failed", 1e6)}, {},
                                      /*plan=*/nullptr);
  EXPECT_EQ(statuses(result), (Words{"pass", "suspect", "failed"}));
  EXPECT_TRUE(result.changed.empty());
  EXPECT_EQ(result.exit_code, exit_wrong);
}

TEST(Verify, NewToleranceChangesStatusToleranceAndMessage) {
  const auto result = judge_all_again({judged("pass", 10), judged("suspect", 20), judged("failed", 1e6)},
                                      parse_tolerances({"gesv=32"}), /*plan=*/nullptr);
  EXPECT_EQ(statuses(result), (Words{"pass", "pass", "failed"}));
  EXPECT_EQ(result.changed, (std::vector<std::size_t>{1}));
  EXPECT_EQ(result.records[1].tolerance, 32);
  EXPECT_EQ(result.records[1].message, "");
  const auto strict = judge_all_again({judged("pass", 10)}, parse_tolerances({"gesv=2"}), /*plan=*/nullptr);
  EXPECT_EQ(strict.records[0].status, "suspect");
  EXPECT_EQ(strict.records[0].message, "residual ratio 10, tolerance 2");
  const auto json = render_json(change_table(strict, Reader::program));
  EXPECT_EQ(json[0]["old_status"], "pass");
  EXPECT_EQ(json[0]["status"], "suspect");
}

TEST(Verify, BareNumberScalesTheDefaultAndAProblemOverridesIt) {
  Record r = judged("pass", 1);
  EXPECT_DOUBLE_EQ(parse_tolerances({"2.0"}).of(r), 2 * default_tolerance(Problem::named("gesv")));
  EXPECT_DOUBLE_EQ(parse_tolerances({"2.0", "gesv=5"}).of(r), 5);
  EXPECT_DOUBLE_EQ(parse_tolerances({"2.0,getrf=7,gesv=5"}).of(r), 5);
  EXPECT_DOUBLE_EQ(parse_tolerances({"getrf=7", "2.0"}).of(r), 2 * default_tolerance(Problem::named("gesv")));
  EXPECT_THROW(parse_tolerances({"2.0", "3"}), UsageError) << "two factors";
  EXPECT_DOUBLE_EQ(parse_tolerances({"getrf=5"}).of(r), 16) << "no option: the stored tolerance";
  for (const char* text : {"", "0", "-1", "x", "gesv=", "gesv=x", "nope=3", "=3", "inf", "nan", "1,5",
                           "gesv=1,5", "2,", "gesv=1,"}) {
    EXPECT_THROW(parse_tolerances({text}), UsageError) << text;
  }
}

TEST(Verify, KeepsRecordsThatWereNeverJudged) {
  std::vector<Record> records;
  for (const char* status : {"crashed", "timeout", "oom", "error", "skipped"}) {
    records.push_back(judged(status, Record::unknown));
  }
  const auto result = judge_all_again(records, parse_tolerances({"1000"}), /*plan=*/nullptr);
  EXPECT_EQ(statuses(result), (Words{"crashed", "timeout", "oom", "error", "skipped"}));
  EXPECT_EQ(result.exit_code, exit_broken);
}

TEST(Verify, KeepsAPassWithoutAStoredResidual) {
  const auto result =
      judge_all_again({judged("pass", Record::unknown)}, parse_tolerances({"2"}), /*plan=*/nullptr);
  EXPECT_EQ(result.records[0].status, "pass");
  EXPECT_EQ(result.not_judged, 1);
  EXPECT_EQ(result.exit_code, exit_ok);
}

TEST(Verify, DivergedMethodNeverPasses) {
  Record r = judged("diverged", 100);
  r.convergence = "diverged";
  EXPECT_EQ(judge_all_again({r}, parse_tolerances({"gesv=10"}), /*plan=*/nullptr).records[0].status,
            "diverged");
  EXPECT_EQ(judge_all_again({r}, parse_tolerances({"gesv=200"}), /*plan=*/nullptr).records[0].status,
            "diverged");
}

// Older versions stored a zero pivot with a small residual as a pass, without a message.
TEST(Verify, PassOfAnUnfinishedMethodFails) {
  Record r = judged("pass", 0.5);
  r.info = 6;
  const auto result = judge_all_again({r}, {}, /*plan=*/nullptr);
  EXPECT_EQ(result.records[0].status, "failed");
  EXPECT_EQ(result.records[0].message,
            "zero pivot 6: the method did not finish; residual ratio 0.5, tolerance 16");
  EXPECT_EQ(result.exit_code, exit_wrong);
  r.problem = "getrf";
  EXPECT_EQ(judge_all_again({r}, {}, /*plan=*/nullptr).records[0].status, "pass");
}

TEST(Verify, KeepsRecordsOfUnknownProblems) {
  Record r = judged("pass", 100);
  r.problem = "gels";
  const auto result = judge_all_again({r}, {}, /*plan=*/nullptr);
  EXPECT_EQ(result.records[0].status, "pass");
  EXPECT_EQ(result.not_judged, 1);
}

io::Plan plan_with_expectations() {
  return io::parse_plan(R"(
name: p
sweep:
  - problem: gesv
    method: [gauss_*, lapack]
    n: [64, 128]
    matrix: {kind: cauchy}
    expect: {gauss_block: [pass, failed]}
)",
                        "plan.yaml", enum_names<Problem>());
}

TEST(Verify, ExitCodeIsThatOfRun) {
  const io::Plan plan = plan_with_expectations();
  EXPECT_EQ(judge_all_again({judged("failed", 1e6)}, {}, &plan).exit_code, exit_ok) << "expected";
  EXPECT_EQ(judge_all_again({judged("suspect", 20)}, {}, &plan).exit_code, exit_wrong)
      << "not among the expected";
  Record other = judged("failed", 1e6);
  other.method = "lapack";
  EXPECT_EQ(judge_all_again({other}, {}, &plan).exit_code, exit_wrong);
  other.n = 100;
  EXPECT_EQ(judge_all_again({other}, {}, &plan).exit_code, exit_ok) << "no longer in the plan";
}

TEST(Verify, NamesTheMatrixOfAChangedRecord) {
  std::vector<Record> records(2, judged("pass", 1));
  for (Record& r : records) r.matrix = "condition";
  records[0].matrix_parameters = R"({"condition":10.0})";
  records[1].matrix_parameters = R"({"condition":1e12})";
  records[1].residual_ratio = 16.01;
  const std::string text =
      render_text(change_table(judge_all_again(records, {}, /*plan=*/nullptr), Reader::person), any_width);
  EXPECT_NE(text.find("condition condition=1e+12"), std::string::npos) << text;
  EXPECT_NE(text.find("16.01"), std::string::npos) << "not the tolerance, 16: " << text;
}

TEST(Verify, KeepsTheRecordedExpectationOrTakesThePlans) {
  const io::Plan plan = plan_with_expectations();
  const auto expected = [](const Verification& result) { return result.records[0].expected; };
  Record known = judged("suspect", 20);
  known.expected = 1;
  EXPECT_EQ(judge_all_again({known}, {}, /*plan=*/nullptr).exit_code, exit_ok);
  EXPECT_EQ(judge_all_again({known}, {}, &plan).exit_code, exit_ok) << "recorded by the run";
  EXPECT_EQ(expected(judge_all_again({judged("failed", 1e6)}, {}, &plan)), 1);
  EXPECT_EQ(expected(judge_all_again({judged("suspect", 20)}, {}, &plan)), 0);
  EXPECT_EQ(expected(judge_all_again({judged("failed", 1e6)}, {}, /*plan=*/nullptr)), -1);
  // The status changed, so the expectation that was recorded for the old status does not apply.
  const Tolerances strict = parse_tolerances({"gesv=0.1"});
  EXPECT_EQ(expected(judge_all_again({known}, strict, /*plan=*/nullptr)), -1);
  EXPECT_EQ(expected(judge_all_again({known}, strict, &plan)), 1);
  EXPECT_EQ(judge_all_again({known}, strict, /*plan=*/nullptr).exit_code, exit_wrong);
}

TEST(Verify, ExpectationsMatchProblemMethodSizeAndKind) {
  const io::Plan plan = plan_with_expectations();
  const Record r = judged("pass", 1);
  EXPECT_EQ(expected_of(plan, r), (Words{"pass", "failed"}));
  Record other = r;
  other.method = "gauss_serial";
  EXPECT_EQ(expected_of(plan, other), (Words{"pass"}));
  other = r;
  other.problem = "trsv";
  EXPECT_EQ(expected_of(plan, other), std::nullopt);
  other = r;
  other.matrix_kind = "uniform";
  EXPECT_EQ(expected_of(plan, other), std::nullopt);
}

// verify accepts every method name that `run` accepts.
TEST(Verify, AcceptsIdsAndAllAsMethodNames) {
  const io::Plan plan = io::parse_plan(R"(
matrix: {kind: cauchy}
sweep:
  - {problem: gesv, method: gesv/gauss_*, n: 64, expect: {gesv/gauss_block: [failed]}}
  - {problem: trsv, method: all, n: 64, expect: {all: [suspect]}}
)",
                                       "plan.yaml", enum_names<Problem>());
  const Record r = judged("failed", 1e6);
  EXPECT_EQ(expected_of(plan, r), (Words{"failed"}));
  Record other = r;
  other.method = "gauss_serial";
  EXPECT_EQ(expected_of(plan, other), (Words{"pass"}));
  other.problem = "trsv";
  EXPECT_EQ(expected_of(plan, other), (Words{"suspect"}));
}

TEST(Verify, TellsEntriesApartByZipUploAndMatrix) {
  const io::Plan plan = io::parse_plan(R"(
matrix: {kind: cauchy}
sweep:
  - {problem: trsv, method: serial, zip: {n: [64, 128], nrhs: [1, 2]}, uplo: lower, expect: {serial: failed}}
  - {problem: trsv, method: serial, n: [64, 128], uplo: upper, expect: {serial: suspect}}
)",
                                       "plan.yaml", enum_names<Problem>());
  Record r = example_record("serial", 64, {1});
  r.problem = "trsv";
  r.uplo = "lower";
  EXPECT_EQ(expected_of(plan, r), (Words{"failed"}));
  r.nrhs = 2;
  EXPECT_EQ(expected_of(plan, r), std::nullopt) << "128 goes with 2";
  r.uplo = "upper";
  EXPECT_EQ(expected_of(plan, r), (Words{"suspect"}));
  r.matrix_kind = "uniform";
  EXPECT_EQ(expected_of(plan, r), std::nullopt);
}

}  // namespace
}  // namespace gaussweep::driver
