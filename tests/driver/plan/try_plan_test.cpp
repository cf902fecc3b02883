// Tests which methods `try` selects for a matrix.

#include "driver/plan/try_plan.hpp"
#include "driver/base/errors.hpp"
#include "driver/plan/plan_names.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Method on_cpu(Problem problem, const std::string& variant, std::vector<Need> needs = {}) {
  Method row = idle_method(problem, variant);
  row.needs = std::move(needs);
  return row;
}

Registry registry() {
  Method tuned = idle_method(Problem::named("gesv"), "tuned", {Backend::cuda});
  tuned.capability = 90;
  Method fast = on_cpu(Problem::named("gesv"), "fast");
  fast.vendor = true;  // an unmeasured vendor method is assumed to be ten times as fast as others
  return Registry(
      {on_cpu(Problem::named("gesv"), "pivoting"),
       on_cpu(Problem::named("gesv"), "plain", {Need::strongly_regular}),
       on_cpu(Problem::named("gesv"), "full", {Need::nonzero_elements}), fast, tuned,
       on_cpu(Problem::named("potrf"), "cholesky", {Need::spd}),
       on_cpu(Problem::named("trsv"), "substitution", {Need::triangular, Need::nonzero_diagonal})});
}

FileFacts file(std::int64_t n) {
  return {"/data/a \"b\".mtx", n, n, std::string(64, '1')};
}

/// Returns the facts of a full, unsymmetric, well-conditioned matrix.
InspectedMatrix square(std::int64_t n) {
  InspectedMatrix inspected;
  inspected.facts.rows = inspected.facts.cols = n;
  inspected.facts.nonzeros = n * n;
  inspected.facts.lower_bandwidth = inspected.facts.upper_bandwidth = n - 1;
  inspected.conditioning = Conditioning{false, 10, 0};
  return inspected;
}

TryPlan plan_of(const TryRequest& request, const InspectedMatrix& inspected,
                Backend backend = Backend::host) {
  return plan_try(request, inspected, file(inspected.facts.rows), registry(), backend, 0);
}

std::vector<Trial> trials_of(const TryPlan& plan, std::int64_t n) {
  return expand(io::parse_plan(plan.text, "try", enum_names<Problem>()), registry(), Backend::host, 0,
                [&](const std::string&, const std::string&) { return file(n); })
      .trials;
}

std::vector<std::string> methods_of(const TryPlan& plan, std::int64_t n) {
  std::vector<std::string> names;
  for (const Trial& trial : trials_of(plan, n)) names.push_back(trial.method);
  return names;
}

TEST(TryPlan, TriesSuitableMethodsAndExplainsTheOthers) {
  const TryPlan plan = plan_of({}, square(8));
  EXPECT_THAT(methods_of(plan, 8), ElementsAre("fast", "pivoting", "plain", "full"));
  ASSERT_THAT(plan.left_out, SizeIs(2));
  EXPECT_THAT(plan.left_out[0].methods, ElementsAre("potrf"));
  EXPECT_THAT(plan.left_out[0].why, HasSubstr("symmetric positive definite"));
  EXPECT_THAT(plan.left_out[1].methods, ElementsAre("gesv/tuned"));

  InspectedMatrix sparse = square(8);
  sparse.facts.nonzeros = 20;
  sparse.facts.is_symmetric = true;
  sparse.conditioning->is_definite = true;
  EXPECT_THAT(methods_of(plan_of({}, sparse), 8), ElementsAre("fast", "pivoting", "plain", "cholesky"));

  InspectedMatrix upper = square(8);
  upper.facts.lower_bandwidth = 0;
  const std::vector<Trial> trials = trials_of(plan_of({}, upper), 8);
  ASSERT_THAT(trials, SizeIs(1));
  EXPECT_EQ(trials[0].method, "substitution");
  EXPECT_EQ(trials[0].shape.uplo, Uplo::upper);
}

TEST(TryPlan, ExpectsFailuresOfMethodsThatMayNotSuit) {
  const std::vector<std::string> any = {"pass", "suspect", "failed", "diverged"};
  // "full" needs a matrix without zeros in which elimination creates none; the latter is unknown in advance.
  for (const Trial& trial : trials_of(plan_of({}, square(8)), 8)) {
    const bool is_doubtful = trial.method == "plain" || trial.method == "full";
    EXPECT_EQ(trial.expect, is_doubtful ? any : std::vector<std::string>()) << trial.method;
  }
  InspectedMatrix dominant = square(8);
  dominant.facts.by_columns = Dominance::strict;
  for (const Trial& trial : trials_of(plan_of({}, dominant), 8))
    EXPECT_EQ(trial.expect, trial.method == "full" ? any : std::vector<std::string>()) << trial.method;
  InspectedMatrix nearly_singular = square(8);
  nearly_singular.facts.is_symmetric = true;
  nearly_singular.conditioning = Conditioning{true, 1e17, 0};
  const Trial last = trials_of(plan_of({}, nearly_singular), 8).back();
  EXPECT_EQ(last.method, "cholesky");
  EXPECT_EQ(last.expect, any) << "rounding errors may decide whether it succeeds";
  InspectedMatrix singular = square(8);
  singular.conditioning = Conditioning{false, HUGE_VAL, 3};
  const TryPlan plan = plan_of({}, singular);
  EXPECT_THAT(plan.text, IsEmpty()) << "only getrf has an answer for a singular matrix";
  EXPECT_THAT(plan.left_out[0].why, HasSubstr("is singular"));
  EXPECT_THAT(plan.left_out[0].methods, Not(Contains("potrf"))) << "its factors may exist";
  TryRequest named;
  named.methods = {"pivoting"};
  for (const Trial& trial : trials_of(plan_of(named, singular), 8)) EXPECT_EQ(trial.expect, any);
}

TEST(TryPlan, LibrarySolveComesFirstWhateverItsCost) {
  InspectedMatrix unknown = square(3000);
  unknown.facts.is_symmetric = true;
  unknown.conditioning.reset();  // Cholesky may suit it and would be faster
  TryRequest request;
  request.seconds = 1e-3;
  const std::vector<Trial> trials = trials_of(plan_of(request, unknown), 3000);
  ASSERT_THAT(trials, SizeIs(1));
  EXPECT_EQ(trials[0].method, "fast");
  EXPECT_THAT(trials[0].expect, SizeIs(4)) << "the matrix may be singular";
}

TEST(TryPlan, NamedMethodsAreTriedWhateverTheyNeedAndCost) {
  TryRequest request;
  request.problems = {Problem::named("potrf"), Problem::named("gesv")};
  request.methods = {"cholesky", "gesv/pl*"};
  request.nrhs = {1, 3};
  request.seconds = 1e-9;
  InspectedMatrix indefinite = square(8);
  indefinite.facts.is_symmetric = true;
  const std::vector<Trial> trials = trials_of(plan_of(request, indefinite), 8);
  ASSERT_THAT(trials, SizeIs(3));
  EXPECT_EQ(trials[0].method, "cholesky");
  EXPECT_THAT(trials[0].expect, SizeIs(4));
  EXPECT_EQ(trials[1].shape.nrhs, 1);
  EXPECT_EQ(trials[2].shape.nrhs, 3);
  // This matrix is not symmetric, and Cholesky would ignore one of its triangles.
  EXPECT_THAT(trials_of(plan_of(request, square(8)), 8), SizeIs(2));

  request.methods = {"cholesy"};
  const std::string message = message_of<UsageError>([&] { plan_of(request, square(8)); });
  EXPECT_THAT(message, HasSubstr("--method cholesy"));
  EXPECT_THAT(message, HasSubstr("gesv/plain"));
}

TEST(TryPlan, TriesTheShortestFirstUntilTheTimeIsUsed) {
  TryRequest request;
  request.problems = {Problem::named("gesv")};
  request.seconds = 10;  // n = 1000: 0.7 Gflop, 0.7 s at 1 Gflop/s, six runs
  const TryPlan plan = plan_of(request, square(1000));
  EXPECT_THAT(methods_of(plan, 1000), ElementsAre("fast", "pivoting"));
  ASSERT_THAT(plan.left_out, SizeIs(2));
  EXPECT_THAT(plan.left_out[1].methods, ElementsAre("gesv/plain", "gesv/full"));
  EXPECT_THAT(plan.left_out[1].why, HasSubstr("--time-limit"));
  request.seconds = 1e-3;
  EXPECT_THAT(methods_of(plan_of(request, square(1000)), 1000),
              ElementsAre("fast"));  // at least one method is tried
}

TEST(TryPlan, HasRoundsPerMethod) {
  TryRequest request;
  request.problems = {Problem::named("gesv")};
  const TryPlan plan = plan_of(request, square(8));
  EXPECT_THAT(plan.methods, SizeIs(4));
  EXPECT_EQ(plan.trials, 4U);
  EXPECT_EQ(plan.left_out_count, 1U);
  TryPlan further;
  further.text = plan.in_rounds([](const Method& method) {
    return method.variant == "fast" ? 3 : method.variant == "plain" ? 1 : 0;
  });
  EXPECT_THAT(methods_of(further, 8), testing::UnorderedElementsAre("fast", "fast", "fast", "plain"));
  EXPECT_THAT(plan.in_rounds([](const Method&) { return 0; }), IsEmpty());
}

TEST(TryPlan, RefusesRectanglesAndEmptyPlans) {
  InspectedMatrix tall = square(8);
  tall.facts.cols = 3;
  EXPECT_THROW(plan_of({}, tall), UsageError);
  TryRequest request;
  request.problems = {Problem::named("potrf")};
  EXPECT_THAT(plan_of(request, square(8)).text, IsEmpty());
}

}  // namespace
}  // namespace gaussweep::driver
