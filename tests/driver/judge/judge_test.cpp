// Tests the decision on the status: from the residual ratio, tolerance, info and convergence.

#include "driver/judge/judge.hpp"
#include "driver/plan/trial.hpp"
#include "io/records/status.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Evidence evidence(double ratio, double tolerance, std::int64_t info = 0,
                  Convergence convergence = Convergence::none, Problem problem = Problem::named("gesv")) {
  return {problem, ratio, tolerance, info, convergence, {}};
}

TEST(Judge, ToleranceSeparatesPassFromSuspectAndTenTimesItFromFailed) {
  EXPECT_EQ(judge(evidence(0, 16)), "pass");
  EXPECT_EQ(judge(evidence(16, 16)), "pass");
  EXPECT_EQ(judge(evidence(std::nextafter(16, 17), 16)), "suspect");
  EXPECT_EQ(judge(evidence(160, 16)), "suspect");
  EXPECT_EQ(judge(evidence(std::nextafter(160, 161), 16)), "failed");
}

TEST(Judge, NaNAndInfinityFail) {
  EXPECT_EQ(judge(evidence(not_a_number, 16)), "failed");
  EXPECT_EQ(judge(evidence(infinity, 16)), "failed");
  EXPECT_EQ(judge(evidence(-infinity, 16)), "pass") << "check() never returns it";
  EXPECT_EQ(judge(evidence(infinity, 1e300)), "failed");
  EXPECT_EQ(judge(evidence(1e308, 1e308)), "pass");
}

TEST(Judge, NegativeInfoIsAnError) {
  EXPECT_EQ(judge(evidence(0.1, 16, -3)), "error");
  EXPECT_EQ(judge(evidence(not_a_number, 16, -1)), "error");
}

TEST(Judge, ZeroPivotFailsExceptForFactorizations) {
  for (const Problem problem :
       {Problem::named("trsv"), Problem::named("gesv"), Problem::named("potrf"), Problem::named("posv"),
        Problem::named("trtri"), Problem::named("geinv"), Problem::named("poinv")}) {
    EXPECT_EQ(judge(evidence(0.1, 30, 2, Convergence::none, problem)), "failed") << to_string(problem);
    EXPECT_EQ(judge(evidence(20, 16, 2, Convergence::diverged, problem)), "failed") << to_string(problem);
  }
  EXPECT_EQ(judge(evidence(0.1, 30, 2, Convergence::none, Problem::named("getrf"))), "pass");
  EXPECT_EQ(judge(evidence(infinity, 30, 2, Convergence::none, Problem::named("getrf"))), "failed");
}

TEST(Judge, DivergedNeverPasses) {
  for (const double ratio : {0.0, 0.1, 20.0, 1e6, infinity, not_a_number}) {
    EXPECT_EQ(judge(evidence(ratio, 16, 0, Convergence::diverged)), "diverged") << ratio;
  }
  EXPECT_EQ(judge(evidence(0.1, 16, 0, Convergence::max_iterations)), "pass");
  EXPECT_EQ(judge(evidence(20, 16, 0, Convergence::max_iterations)), "suspect");
}

TEST(Judge, ToleranceMustBePositiveAndFinite) {
  for (const double tolerance : {0.0, -1.0, not_a_number, infinity}) {
    EXPECT_THROW(judge(evidence(1, tolerance)), std::invalid_argument);
  }
}

TEST(Judge, EveryStatusIsJudgedBrokenOrSkipped) {
  for (const std::string& status : io::status_names()) {
    EXPECT_EQ(is_judged(status) + is_broken(status) + (status == "skipped"), 1) << status;
  }
}

TEST(Judge, MessagesNameTheReason) {
  Evidence e = evidence(1e6, 16);
  EXPECT_EQ(finding_text(e), "residual ratio 1e+06, tolerance 16");
  EXPECT_EQ(finding_text(evidence(std::numeric_limits<double>::max(), 16)),
            "residual ratio inf, tolerance 16");
  e.convergence = Convergence::diverged;
  e.ratio = 0.5;
  EXPECT_EQ(finding_text(e), "the iteration diverged; residual ratio 0.5, tolerance 16");
  e.info = 3;
  e.convergence = Convergence::none;
  EXPECT_EQ(finding_text(e), "zero pivot 3: the method did not finish; residual ratio 0.5, tolerance 16");
  for (const double ratio : {infinity, not_a_number}) {
    e.ratio = ratio;
    EXPECT_EQ(finding_text(e),
              "zero pivot 3: the method did not finish; the answer or its operands hold NaN or "
              "Inf");
  }
  e.info = 0;
  e.flaw = "the answer holds NaN, first at row 2, column 1";
  EXPECT_EQ(finding_text(e), e.flaw);
  e.info = -1;
  EXPECT_EQ(finding_text(e), "the method gave up (info -1)");
}

TEST(Judge, PassHasNoMessageUnlessAPivotIsZero) {
  EXPECT_EQ(finding_text(evidence(0.5, 16)), "");
  Evidence e = evidence(0.5, 30, 3, Convergence::none, Problem::named("getrf"));
  EXPECT_EQ(finding_text(e), "zero pivot 3: the factors exist, the matrix is singular");
  e.ratio = 1e6;
  EXPECT_EQ(finding_text(e), "zero pivot 3; residual ratio 1e+06, tolerance 30");
}

TEST(Judge, RecordHoldsTheEvidence) {
  io::Record r;
  r.problem = "poinv";
  r.residual_ratio = 7;
  r.tolerance = 30;
  r.info = 4;
  r.convergence = "stagnated";
  const auto found = evidence_of(r);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problem, Problem::named("poinv"));
  EXPECT_EQ(std::tuple(found->ratio, found->tolerance, found->info), std::tuple(7, 30, 4));
  EXPECT_EQ(found->convergence, Convergence::stagnated);
  r.problem = "gels";
  EXPECT_FALSE(evidence_of(r));
}

TEST(Judge, ExpectedFailuresAreFindings) {
  struct Case {
    const char* status;
    std::int64_t expected;
    bool finding, unexpected;
  };
  for (const Case& c :
       {Case{"pass", 1, false, false}, Case{"failed", 1, true, false}, Case{"pass", 0, false, true},
        Case{"crashed", 0, false, true}, Case{"skipped", 1, false, false}, Case{"pass", -1, false, false},
        Case{"failed", -1, false, true}, Case{"skipped", -1, false, false}}) {
    io::Record r;
    r.status = c.status;
    r.expected = c.expected;
    EXPECT_EQ(is_expected_failure(r), c.finding) << c.status << " " << c.expected;
    EXPECT_EQ(is_unexpected(r), c.unexpected) << c.status << " " << c.expected;
  }
}

}  // namespace
}  // namespace gaussweep::driver
