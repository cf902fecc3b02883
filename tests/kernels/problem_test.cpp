// Tests the table of problems: order, names, shapes, and the refusal of incomplete rows.
#include "kernels/registry/problem.hpp"
#include "kernels/registry/problem_check.hpp"
#include "kernels/tables.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

std::string fault_of(const std::function<void()>& act) {
  return message_of<std::logic_error>([&] { act(); });
}

TEST(Problem, ListFollowsTheOrderOfTheTables) {
  std::vector<std::string> names;
  for (const Problem problem : all_problems()) names.push_back(problem->name);
  EXPECT_THAT(names,
              ElementsAre("gemm", "trsv", "gesv", "getrf", "potrf", "posv", "trtri", "geinv", "poinv"));
  EXPECT_EQ(allowed_names<Problem>(), "gemm, trsv, gesv, getrf, potrf, posv, trtri, geinv, poinv");
  const std::vector<ProblemTable> tables = problem_tables();
  ASSERT_EQ(tables.size(), names.size());
  for (const ProblemTable& table : tables) {
    EXPECT_FALSE(table.problem->title.empty()) << table.problem->name;
    for (const Method& method : table.methods()) EXPECT_EQ(method.problem, table.problem) << method.id();
  }
}

TEST(Problem, IsFoundByName) {
  EXPECT_EQ(Problem::named("potrf")->name, "potrf");
  EXPECT_EQ(from_string<Problem>("potrf"), Problem::named("potrf"));
  EXPECT_FALSE(from_string<Problem>("gels"));
  EXPECT_NE(Problem::named("gesv"), Problem::named("trsv"));
  EXPECT_THAT(fault_of([] { Problem::named("gels"); }), HasSubstr("no problem 'gels' in this program"));
  EXPECT_THAT(fault_of([] { Problem().row(); }), HasSubstr("is not set"));
  EXPECT_EQ(to_string(Problem()), "?");
}

TEST(Problem, ShapesAreThoseOfItsRow) {
  const Shape s{2, 3, 4, 5, Uplo::lower};
  const Problem gemm = Problem::named("gemm"), gesv = Problem::named("gesv"), potrf = Problem::named("potrf");
  EXPECT_EQ(gemm->a(s), (Extent{2, 4}));
  EXPECT_EQ(gemm->b(s), (Extent{4, 3}));
  EXPECT_EQ(gemm->x(s), (Extent{2, 3}));
  EXPECT_EQ(gesv->a(s), (Extent{3, 3}));
  EXPECT_EQ(gesv->b(s), (Extent{3, 5}));
  EXPECT_EQ(gesv->x(s), (Extent{3, 5}));
  EXPECT_EQ(potrf->b, nullptr);
  EXPECT_EQ(potrf->x(s), (Extent{3, 3}));
}

TEST(Problem, ChecksOnlyTheSizesThatItHas) {
  Shape shape{0, 3, 0, 0, Uplo::lower};
  EXPECT_NO_THROW(require_sizes(Problem::named("potrf").row(), shape, "test"));
  EXPECT_THROW(require_sizes(Problem::named("gesv").row(), shape, "test"), std::invalid_argument);
  EXPECT_THROW(require_sizes(Problem::named("gemm").row(), shape, "test"), std::invalid_argument);
  shape.nrhs = 1;
  EXPECT_NO_THROW(require_sizes(Problem::named("gesv").row(), shape, "test"));
  shape.n = 0;
  EXPECT_THROW(require_sizes(Problem::named("potrf").row(), shape, "test"), std::invalid_argument);
}

TEST(Problem, RefusesIncompleteRows) {
  const auto fault = [](void (*spoil)(ProblemRow&)) {
    ProblemRow row = Problem::named("gesv").row();
    spoil(row);
    return fault_of([&] { validate(row); });
  };
  EXPECT_EQ(fault([](ProblemRow&) {}), "");
  EXPECT_THAT(fault([](ProblemRow& r) { r.name = "LU!"; }), HasSubstr("not of a-z"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.axes = {"n", "nhrs"}; }), HasSubstr("'nhrs' is no axis"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.axes = {"nrhs"}; }), HasSubstr("no axis n"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.axes = {"n"}; }), HasSubstr("nrhs is the axis"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.axes = {"n", "m", "k", "nrhs"}; }), HasSubstr("m and k"));
  EXPECT_THAT(fault([](ProblemRow& r) {
                r.axes = {"n", "k", "nrhs"};
              }),
              HasSubstr("m and k"))
      << "plans would give k, and trials ignore it";
  EXPECT_THAT(fault([](ProblemRow& r) { r.b = nullptr; }), HasSubstr("shape of B"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.flops = nullptr; }), HasSubstr("flops"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.verifier.float32 = nullptr; }), HasSubstr("verifier"));
  EXPECT_THAT(fault([](ProblemRow& r) { r.tolerance = 0; }), HasSubstr("tolerance"));
}

}  // namespace
}  // namespace gaussweep
