/// Tests plans that are refused, and plans whose sizes come from matrix files.

#include "driver/plan/expand.hpp"
#include "driver/plan/plan_names.hpp"
#include "io/files/errors.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

Registry example_registry() {
  Method cyclic = idle_method(Problem::named("gesv"), "cyclic");
  cyclic.parameters = {integer_parameter("blocks", 8, 1, 64, "blocks"),
                       choice_parameter("order", {"rows", "columns"}, "an order")};
  return Registry(
      {cyclic, idle_method(Problem::named("gesv"), "lapack"), idle_method(Problem::named("gemm"), "plain")});
}

FileFacts example_files(const std::string& file, const std::string&) {
  if (file == "wide.h5") return {"/data/wide.h5", 3, 5, "d2"};
  if (file == "tall.h5") return {"/data/tall.h5", 5, 7, "d3"};
  return {"/data/" + file, 13, 13, "d1"};
}

/// Returns the trials of a plan with one entry, whose keys begin in line 3, column 5.
std::vector<Trial> trials(const std::string& entry, const std::string& problem = "gesv") {
  const io::Plan plan =
      io::parse_plan("sweep:\n  - problem: " + problem + "\n" + entry, "p.yaml", enum_names<Problem>());
  return expand(plan, example_registry(), Backend::host, 0, example_files).trials;
}

Trial only(const std::string& entry, const std::string& problem = "gesv") {
  const std::vector<Trial> all = trials(entry, problem);
  if (all.size() != 1) throw std::runtime_error("not one trial but " + std::to_string(all.size()));
  return all.front();
}

std::string failure(const std::string& entry, const std::string& problem = "gesv") {
  return message_of<io::InputError>([&] { trials(entry, problem); });
}

const std::string lapack8 = "    method: lapack\n    n: 8\n";

TEST(Expand, ReportsAllMistakesOfAnEntry) {
  const std::string message = failure(
      "    method: [lapack, lapak]\n    n: 8\n    repeets: 3\n    tiel: 4\n    expect: {lapakk: failed}\n"
      "    matrix: [{kind: unifrm}, {kind: uniform, seed: -3}]\n    exclude: [{nn: 4}]\n    matrix_b: {kind: "
      "ones}\n");
  for (const char* words : {"'lapak'", "'repeets' is neither", "'tiel' is neither", "'lapakk'", "'unifrm'",
                            "seed: '-3'", "'nn'", "matrix_b is for gemm only"})
    EXPECT_THAT(message, HasSubstr(words));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 7) << message;
}

TEST(Expand, RefusesAMatrixThatNoPrecisionCanHave) {
  const auto with = [](const std::string& matrix) { return lapack8 + "    matrix: {" + matrix + "}\n"; };
  EXPECT_THAT(failure(with("kind: spd, condition: 1e16")),
              AllOf(HasSubstr("p.yaml:5:36: condition 1e+16"), HasSubstr("allowed: up to 1/(64 u)")));
  EXPECT_THAT(failure(with("kind: condition, condition: 1e16")), HasSubstr("allowed: up to 1/u"));
  EXPECT_THAT(trials("    precision: [float, double]\n" + with("kind: spd, condition: 1e7")), SizeIs(2))
      << "single precision skips its trial";
}

TEST(ExpandBatches, SkipMethodsWithoutBatches) {
  const std::vector<Trial> list = trials(lapack8 + "    batch: [1, 1k]\n");
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[0].skip_reason, "");
  EXPECT_EQ(list[0].key, only(lapack8).key) << "one system is no batch";
  EXPECT_EQ(list[1].shape.batch, 1024);
  EXPECT_EQ(list[1].matrix.spec.batch, 1024);
  EXPECT_EQ(list[1].skip_reason, "gesv/lapack takes no batches");
  EXPECT_NE(list[0].matrix.digest, list[1].matrix.digest);
  EXPECT_EQ(nlohmann::json(list[1]).get<Trial>().shape.batch, 1024);
  EXPECT_THAT(describe(list[1]), HasSubstr(" batch=1024"));
  EXPECT_THAT(failure("    method: lapack\n    batch: 2\n    matrix: {file: square.mtx}\n"),
              HasSubstr("batch = 2, but a file holds one matrix"));
  EXPECT_THAT(failure("    method: lapack\n    n: 10000\n    batch: 1000000\n"),
              HasSubstr("allowed here: 1 to 214748"));
}

TEST(ExpandRefusals, ProblemWithoutMethods) {
  EXPECT_EQ(failure("    method: all\n    n: 3\n", "poinv"),
            "p.yaml:3:13: this build has no method for poinv");
}

TEST(ExpandRefusals, OneTrialWithTwoTolerances) {
  const std::string again = "  - problem: gesv\n";
  EXPECT_THAT(failure(lapack8 + "    tolerance: 2\n" + again + lapack8),
              AllOf(StartsWith("p.yaml:6:"), HasSubstr("gesv/lapack double n=8"),
                    HasSubstr("at line 2 too, with tolerance 32; here it is 16")));
  EXPECT_THAT(trials(lapack8 + "    tolerance: 1\n" + again + lapack8), SizeIs(1)) << "they agree";
  EXPECT_THAT(trials(lapack8 + "    tolerance: 2\n" + again +
                     "    method: lapack\n    n: [8, 9]\n    exclude: [{n: 8}]\n"),
              SizeIs(2));
}

TEST(ExpandRefusals, RepeatedTrialMayEndAsEitherEntryExpects) {
  const std::string again = "  - problem: gesv\n" + lapack8 + "    expect: {lapack: failed}\n";
  EXPECT_THAT(only(lapack8 + again).expect, UnorderedElementsAre("pass", "failed"));
}

TEST(ExpandRefusals, ConditionsThatNeverHold) {
  const auto exclude = [](const std::string& conditions) {
    return failure("    method: [cyclic, lapack]\n    n: 8\n    exclude: [{" + conditions + "}]\n");
  };
  EXPECT_THAT(
      exclude("blokcs: 2"),
      StartsWith("p.yaml:5:24: exclude knows no 'blokcs'; nearest: blocks; allowed: backend, batch, blocks"));
  EXPECT_THAT(exclude("method: lapak"), StartsWith("p.yaml:5:24: exclude: gesv has no method 'lapak'"));
  EXPECT_THAT(exclude("precision: duoble"),
              HasSubstr("never 'duoble'; nearest: double; allowed: float, double"));
  EXPECT_THAT(exclude("backend: \">3\""), HasSubstr("exclude: backend is never '>3'"));
  EXPECT_THAT(exclude("matrix: cauhcy"), HasSubstr("nearest: cauchy;"));
  EXPECT_THAT(exclude("order: row"), HasSubstr("nearest: rows; allowed: rows, columns"));
  EXPECT_THAT(exclude("backend: gpu"), HasSubstr("allowed: cuda, emulated, host"));
  for (const std::string never : {"!=8", "eight", "8m"}) {
    EXPECT_THAT(exclude("n: \"" + never + "\""),
                StartsWith("p.yaml:5:19: exclude: n is never '" + never + "'; allowed: a number"));
  }
  EXPECT_THAT(exclude("blocks: few"), HasSubstr("exclude: blocks is never 'few'"));
  for (const std::string sometimes : {"<= 4", ">1k", "9", "1?", "[79]", "4:7"}) {
    EXPECT_EQ(exclude("n: \"" + sometimes + "\""), "") << sometimes;
  }
}

TEST(ExpandRefusals, ConditionsMayBeGlobsAndIds) {
  const auto remaining = [](const std::string& conditions) {
    return trials(
               "    method: [cyclic, lapack]\n    n: [8, 16]\n    order: [rows, columns]\n    exclude: [{" +
               conditions + "}]\n")
        .size();
  };
  EXPECT_EQ(remaining("method: gesv/lapack"), 4U);
  EXPECT_EQ(remaining("order: \"r*\""), 4U);
  EXPECT_EQ(remaining("matrix: unif*, n: 8"), 3U);
  EXPECT_EQ(remaining("backend: cuda"), 6U);
  EXPECT_EQ(remaining("order: rows"), 4U) << "lapack has no order, so it is never excluded by one";
}

TEST(ExpandRefusals, MoreThanAMillionTrials) {
  EXPECT_THAT(failure("    method: cyclic\n    n: 1:10000:1\n    seed: 1:10000:1\n"),
              StartsWith("p.yaml:2:5: with this entry the plan has more than 1000000 trials"));
}

TEST(ExpandRefusals, AcceptsEveryMatrixKind) {
  for (const auto& [kind, name] : EnumNames<MatrixKind>::table) {
    const std::string image = kind == MatrixKind::blur ? ", width: 4" : "";  // 8 is no square
    const Trial trial = only(lapack8 + "    matrix: {kind: " + std::string(name) + image + "}\n");
    EXPECT_EQ(trial.matrix.kind, name);
    EXPECT_EQ(trial.matrix.spec.kind, kind);
    EXPECT_EQ(trial.matrix.spec.rows, 8);
    EXPECT_EQ(trial.matrix.spec.cols, 8);
  }
}

TEST(ExpandRefusals, MatricesThatNoGeneratorMakes) {
  const auto matrix = [](const std::string& block) {
    return failure(lapack8 + "    matrix: " + block + "\n");
  };
  EXPECT_THAT(matrix("{kind: uniform, low: 0, high: 1e-30}"), HasSubstr("at least 1e-20"));
  EXPECT_THAT(matrix("{kind: uniform, high: 1e31}"), StartsWith("p.yaml:5:35: high: '1e31'"));
  EXPECT_THAT(matrix("{kind: ones, value: -1e31}"), StartsWith("p.yaml:5:33: value: '-1e31'"));
  EXPECT_THAT(matrix("{kind: file}"), StartsWith("p.yaml:5:20: a matrix of kind file needs the file"));
  EXPECT_THAT(matrix("{file: a.mtx, seed: 1}"), HasSubstr("a matrix of a file has no 'seed'"));
  EXPECT_THAT(failure("    method: lapack\n    n: [2, 1]\n    matrix: {kind: condition}\n"),
              StartsWith("p.yaml:5:13: a 1 x 1 matrix has condition 1"));
  EXPECT_EQ(trials("    method: lapack\n    n: [2, 1]\n    matrix: {kind: condition, condition: 1}\n").size(),
            2U);
}

TEST(ExpandRefusals, SecondMatrixOutsideGemm) {
  EXPECT_EQ(failure(lapack8 + "    matrix_b: {kind: ones}\n"),
            "p.yaml:5:15: matrix_b is for gemm only, not for gesv");
}

TEST(ExpandGemm, BHasTheSeedAfterA) {
  const Trial trial =
      only("    method: plain\n    n: 2\n    seed: 5\n    matrix_b: {kind: uniform, low: -1}\n", "gemm");
  EXPECT_EQ(trial.matrix.spec.seed, 5U);
  EXPECT_EQ(trial.matrix_b->spec.seed, 6U);
  EXPECT_EQ(trial.matrix_b->spec.low, -1);
  EXPECT_EQ(
      only("    method: plain\n    n: 2\n    matrix_b: {kind: spd, seed: 1}\n", "gemm").matrix_b->spec.seed,
      1U)
      << "unless requested";
}

TEST(ExpandGemm, MostKindsMustBeSquare) {
  EXPECT_THAT(failure("    method: plain\n    n: 2\n    m: 3\n    matrix: {kind: spd}\n", "gemm"),
              StartsWith("p.yaml:6:13: a matrix of kind spd must be square, here it is 3 x 2"));
  EXPECT_THAT(failure("    method: plain\n    n: 3\n    k: 2\n    matrix_b: {kind: identity}\n", "gemm"),
              StartsWith("p.yaml:6:15: a matrix of kind identity must be square, here it is 2 x 3"));
  for (const char* kind : {"uniform", "ones", "hilbert", "cauchy"}) {
    EXPECT_EQ(
        only("    method: plain\n    n: 2\n    m: 3\n    matrix: {kind: " + std::string(kind) + "}\n", "gemm")
            .matrix.spec.rows,
        3);
  }
}

TEST(ExpandGemm, FilesGiveTheSizes) {
  const std::string files = "    method: plain\n    matrix: {file: wide.h5}\n    matrix_b: {file: tall.h5}\n";
  const Trial trial = only(files, "gemm");
  EXPECT_EQ(std::tuple(trial.shape.m, trial.shape.k, trial.shape.n), std::tuple(3, 5, 7));
  EXPECT_EQ(only(files + "    m: 3\n    n: 7\n    k: 5\n", "gemm").key, trial.key);
  EXPECT_EQ(failure(files + "    m: 4\n", "gemm"),
            "p.yaml:6:8: m = 4, but /data/wide.h5 is 3 x 5; leave m out");
  EXPECT_EQ(failure(files + "    k: 4\n", "gemm"),
            "p.yaml:6:8: k = 4, but /data/wide.h5 is 3 x 5; leave k out");
  EXPECT_EQ(failure(files + "    n: 4\n", "gemm"),
            "p.yaml:6:8: n = 4, but /data/tall.h5 is 5 x 7; leave n out");
  EXPECT_EQ(
      only("    method: plain\n    matrix: {kind: ones}\n    matrix_b: {file: tall.h5}\n", "gemm").shape.m,
      7);
}

TEST(ExpandGemm, RefusesFilesThatDoNotFit) {
  EXPECT_THAT(
      failure("    method: plain\n    matrix: {file: tall.h5}\n    matrix_b: {file: wide.h5}\n", "gemm"),
      StartsWith("p.yaml:5:15: /data/wide.h5 is 3 x 5; B must be k x n with k = 7"));
  EXPECT_THAT(failure("    method: plain\n    n: 3\n    matrix: {file: wide.h5}\n", "gemm"),
              HasSubstr("needs matrix_b too"));
  const std::string wide = "    method: plain\n    matrix: {file: wide.h5}\n    matrix_b: {kind: ones}\n";
  EXPECT_THAT(failure(wide, "gemm"), HasSubstr("n is missing"));
  EXPECT_EQ(only(wide + "    n: 6\n", "gemm").shape.n, 6);
}

}  // namespace
}  // namespace gaussweep::driver
