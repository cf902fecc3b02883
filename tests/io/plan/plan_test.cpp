// Tests the reader of plans: keys, ranges, defaults, and the location and text of every error.
#include "io/plan/plan.hpp"
#include "tests/io/plan/some_problems.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// Returns the error of parsing `text`, or "".
std::string failure(const std::string& text) {
  return message_of<InputError>([&] { parse_plan(text, "p.yaml"); });
}

/// Returns a plan with one entry, whose keys begin in line 4, column 5.
std::string with(const std::string& entry) {
  return "sweep:\n  - problem: gesv\n    method: all\n    " + entry + "\n";
}

std::vector<std::string> texts(const std::vector<Scalar>& values) {
  std::vector<std::string> result;
  for (const Scalar& value : values) result.push_back(value.text);
  return result;
}

Plan plan_of(const std::string& entry) {
  return parse_plan(with(entry), "p.yaml");
}

std::vector<std::string> axis(const std::string& entry, const std::string& name) {
  return texts(plan_of(entry).sweep.at(0).axes.at(name).values);
}

TEST(Plan, ReadsTheDocumentedExample) {
  const Plan plan = parse_plan(R"(name: cyclic-vs-vendor
precision: [double]          # float, double
repeats: 5
tolerance: {gesv: 16}
inner_repeats: 1
timeout: 10min
matrix: {kind: uniform, low: 0, high: 1000, seed: 1}
sweep:
  - problem: gesv
    method: [gauss_cyclic_halving, gauss_cyclic_decrement, cusolver]
    n: [500:5500:500, 8192]
    blocks: [1, 2, 4, 8, 14]
    back_substitution: [reduction, pipelined]
    expect: {gauss_cyclic_halving: [pass, suspect, failed]}
  - problem: poinv
    method: all
    matrix: {file: 1138_bus.mtx}
)",
                               "p.yaml");
  EXPECT_EQ(plan.name, "cyclic-vs-vendor");
  EXPECT_THAT(texts(plan.precision), ElementsAre("double"));
  EXPECT_EQ(plan.settings.tolerances.at("gesv"), 16);
  ASSERT_EQ(plan.sweep.size(), 2u);
  const Entry& first = plan.sweep[0];
  ASSERT_EQ(first.matrices.size(), 1u) << "the plan's matrix";
  EXPECT_EQ(first.matrices[0].values.at("high").text, "1000");
  EXPECT_THAT(texts(first.methods),
              ElementsAre("gauss_cyclic_halving", "gauss_cyclic_decrement", "cusolver"));
  EXPECT_THAT(texts(first.axes.at("n").values), ElementsAre("500", "1000", "1500", "2000", "2500", "3000",
                                                            "3500", "4000", "4500", "5000", "5500", "8192"));
  EXPECT_THAT(texts(first.axes.at("back_substitution").values), ElementsAre("reduction", "pipelined"));
  EXPECT_THAT(texts(first.expect.at("gauss_cyclic_halving").second),
              ElementsAre("pass", "suspect", "failed"));
  EXPECT_EQ(first.location.line, 9);
  EXPECT_EQ(first.location.column, 5);
  EXPECT_EQ(first.axes.at("blocks").location.line, 12);
  EXPECT_EQ(first.axes.at("blocks").values[1].location.line, 12);
  EXPECT_EQ(first.axes.at("blocks").values[1].location.column, 17);
  EXPECT_EQ(plan.sweep[1].matrices.at(0).values.at("file").text, "1138_bus.mtx");
}

TEST(Plan, MissingKeysHaveDefaults) {
  const Plan plan = parse_plan(with("n: 4"), "some/dir/night.yaml");
  EXPECT_EQ(plan.name, "night");
  EXPECT_THAT(texts(plan.precision), ElementsAre("double"));
  const Settings& settings = plan.sweep.at(0).settings;
  EXPECT_EQ(settings.sampling.min_samples, 5);
  EXPECT_EQ(settings.sampling.max_samples, 5);
  EXPECT_EQ(settings.sampling.warmup, 1);
  EXPECT_EQ(settings.inner_repeats, 1);
  EXPECT_EQ(settings.stages, Stages::always);
  EXPECT_EQ(settings.timeout_seconds, 600);
  EXPECT_TRUE(settings.tolerances.empty());
  const MatrixBlock& matrix = plan.sweep[0].matrices.at(0);
  EXPECT_EQ(matrix.values.at("kind").text, "uniform");
  EXPECT_EQ(matrix.values.count("store"), 0u);
}

TEST(Plan, RangesAreInclusive) {
  EXPECT_THAT(axis("n: 1:10:3", "n"), ElementsAre("1", "4", "7", "10"));
  EXPECT_THAT(axis("n: 1:11:3", "n"), ElementsAre("1", "4", "7", "10"));
  EXPECT_THAT(axis("n: 7:7:1", "n"), ElementsAre("7"));
  EXPECT_THAT(axis("n: [64:512:*2, 3]", "n"), ElementsAre("64", "128", "256", "512", "3"));
  EXPECT_THAT(axis("n: 1:100:*10", "n"), ElementsAre("1", "10", "100"));
  EXPECT_THAT(axis("n: 1k:4k:1k", "n"), ElementsAre("1024", "2048", "3072", "4096"));
  EXPECT_THAT(axis("blocks: 2:4:1", "blocks"), ElementsAre("2", "3", "4"));
  EXPECT_THAT(axis("word: a:b:c", "word"), ElementsAre("a:b:c")) << "not every value with colons is a range";
}

TEST(Plan, NMayDifferByBackend) {
  const Plan plan = plan_of("n: {cuda: [4k], emulated: 8:16:*2}");
  const Axis& n = plan.sweep[0].axes.at("n");
  EXPECT_TRUE(n.values.empty());
  EXPECT_THAT(texts(n.by_backend.at("cuda")), ElementsAre("4k"));
  EXPECT_THAT(texts(n.by_backend.at("emulated")), ElementsAre("8", "16"));
  const Plan by_gpu = plan_of("n: {H200: 16k, K20Xm: 4k, emulated: 8}");
  EXPECT_THAT(texts(by_gpu.sweep[0].axes.at("n").by_backend.at("K20Xm")), ElementsAre("4k"));
}

TEST(Plan, ReadsNumbersOfAnEntry) {
  const Plan plan = plan_of(
      "repeats: 3\n    warmup: 0\n    inner_repeats: 1k\n    timeout: 90s\n    stages: never\n"
      "    tolerance: 2\n    zip: {n: [4, 8], blocks: 1:2:1}\n"
      "    exclude: [{method: lapack, n: \">4\"}, {blocks: [1, \"<= 0.5\", \">=1k\"]}]\n"
      "    expect: {gauss_*: failed}\n    matrix_b: {kind: ones}");
  const Entry& entry = plan.sweep[0];
  EXPECT_EQ(entry.settings.sampling.min_samples, 3);
  EXPECT_EQ(entry.settings.sampling.max_samples, 3);
  EXPECT_EQ(entry.settings.sampling.warmup, 0);
  EXPECT_EQ(entry.settings.stages, Stages::never);
  EXPECT_EQ(entry.settings.inner_repeats, 1024);
  EXPECT_EQ(entry.settings.timeout_seconds, 90);
  EXPECT_EQ(entry.settings.tolerances.at(""), 2);
  ASSERT_EQ(entry.zips.size(), 1u);
  EXPECT_THAT(texts(entry.zips[0].at("blocks").values), ElementsAre("1", "2"));
  ASSERT_EQ(entry.excludes.size(), 2u);
  EXPECT_THAT(texts(entry.excludes[0].conditions.at("n")), ElementsAre(">4"));
  EXPECT_THAT(texts(entry.expect.at("gauss_*").second), ElementsAre("failed"));
  EXPECT_EQ(entry.matrix_b->values.at("kind").text, "ones");
}

TEST(Plan, CombinesListsOfAMatrix) {
  const Plan plan = plan_of("matrix: [{kind: condition, condition: [1e2, 1e6], mode: [1, 3]}, {kind: spd}]");
  const std::vector<MatrixBlock>& blocks = plan.sweep[0].matrices;
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[1].values.at("condition").text, "1e2");
  EXPECT_EQ(blocks[1].values.at("mode").text, "3");
  EXPECT_EQ(blocks[2].values.at("condition").text, "1e6");
  EXPECT_EQ(blocks[4].values.at("kind").text, "spd");
}

TEST(Plan, MatrixSeedsMayBeARange) {
  const Plan plan = plan_of("matrix: {kind: uniform, seed: [7, 1:5:2]}");
  std::string seeds;
  for (const MatrixBlock& block : plan.sweep[0].matrices) seeds += block.values.at("seed").text + " ";
  EXPECT_EQ(seeds, "7 1 3 5 ");
  EXPECT_THAT(failure(with("matrix: {kind: uniform, seed: 1:5:0}")), HasSubstr("1:5:0"));
}

TEST(Plan, StoreMayBeNeverForThePlanOrAMatrix) {
  const Plan all = parse_plan("store: never\n" + with("matrix_b: {kind: ones, store: always}"), "p.yaml");
  EXPECT_EQ(all.sweep[0].matrices.at(0).values.at("store").text, "never");
  EXPECT_EQ(all.sweep[0].matrix_b->values.at("store").text, "always") << "its own key";
  const Plan plan = plan_of("matrix: {kind: ones, store: never}");
  EXPECT_EQ(plan.sweep[0].matrices[0].values.at("store").text, "never");
}

TEST(Plan, ReadsTheStoreLimit) {
  EXPECT_FALSE(plan_of("n: 1").store_limit);
  EXPECT_EQ(parse_plan("store_limit: 50GiB\n" + with("n: 1"), "p.yaml").store_limit, 50 * 0x1p30);
}

TEST(Plan, AliasesRepeatAValue) {
  const Plan plan = parse_plan(
      "sweep:\n  - {problem: gesv, method: all, n: &sizes [1, 2]}\n"
      "  - {problem: trsv, method: all, n: *sizes}\n",
      "p.yaml");
  EXPECT_THAT(texts(plan.sweep[1].axes.at("n").values), ElementsAre("1", "2"));
}

TEST(Plan, ListOfProblemsOrConditionsGivesOneEntryPerValue) {
  const Plan plan = parse_plan(
      "host_memory: [pageable, pinned]\n"
      "sweep:\n  - {problem: [gesv, trsv], method: all, n: 1, cache: [warm, cold], host_memory: pinned}\n"
      "  - {problem: gesv, method: all, n: 1}\n",
      "p.yaml");
  ASSERT_EQ(plan.sweep.size(), 6u);
  std::multiset<std::string> problems;
  int cold = 0, pinned = 0;
  for (const Entry& entry : plan.sweep) {
    problems.insert(entry.problem.text);
    cold += entry.settings.sampling.cold ? 1 : 0;
    pinned += entry.settings.pinned ? 1 : 0;
  }
  EXPECT_EQ(problems.count("trsv"), 2u);
  EXPECT_EQ(cold, 2);
  EXPECT_EQ(pinned, 5);
  EXPECT_THAT(plan.sweep[0].problems, ElementsAre("gesv", "trsv"));
  EXPECT_THAT(failure("sweep: [{problem: [], method: all, n: 1}]\n"), HasSubstr("problem"));
  EXPECT_THAT(failure("sweep: [{problem: gesv, method: all, cache: [warm, colt]}]\n"), HasSubstr("colt"));
}

TEST(Plan, RangesAreAllowedWhereNumbersAre) {
  EXPECT_EQ(plan_of("seed: 1:31").sweep[0].axes.at("seed").values.size(), 31u);
  const Plan plan = plan_of("matrix: {kind: blur, radius: 1:3, file: '1:2'}\n    exclude: [{n: 4:6}]");
  EXPECT_EQ(plan.sweep[0].matrices.size(), 3u);
  EXPECT_EQ(plan.sweep[0].matrices[0].values.at("file").text, "1:2");
  EXPECT_THAT(texts(plan.sweep[0].excludes[0].conditions.at("n")), ElementsAre("4", "5", "6"));
}

/// A plan with a mistake, and the expected error.
struct BadPlan {
  std::string text;
  const char* location;  ///< "line:column"
  const char* words;     ///< part of the message
};

/// Expects the error of each plan: one paragraph that begins with the file and the location and contains
/// `words`.
void expect_failures(const std::vector<BadPlan>& cases) {
  for (const BadPlan& bad : cases) {
    const std::string message = failure(bad.text);
    EXPECT_THAT(message, StartsWith(std::string("p.yaml:") + bad.location + ": ")) << bad.text;
    EXPECT_THAT(message, HasSubstr(bad.words)) << bad.text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << "one paragraph: " << message;
  }
}

TEST(PlanErrors, UnknownKeysNameTheNearest) {
  expect_failures({
      {"nmae: x\nsweep: [{problem: gesv, method: all}]\n", "1:1",
       "'nmae'; nearest: name; allowed: cache, energy, host_memory, inner_repeats, libraries, matrix, name"},
      {"name: x\nrepeat: 3\n", "2:1", "nearest: repeats;"},
      {"matrix: {kind: ones, vlaue: 3}\n", "1:22", "nearest: value;"},
      {"matrix:\n  - kind: ones\n    sede: 3\n", "3:5", "nearest: seed;"},
      {"tolerance: {gesv: 1, gestf: 2}\n", "1:22", "'gestf'; nearest: gesv; allowed: gemm, trsv, gesv"},
      {"stages: no\n", "1:9", "stages: 'no'; allowed: always, never, calls"},
      {"store: nevr\n", "1:8", "nearest: never; allowed: always, never"},
      {"precision: [double, flaot]\n", "1:21", "nearest: float; allowed: float, double"},
      {with("n: {cuda: 1, emulatd: 2}"), "4:18", "nearest: emulated;"},
      {with("uplo: uper"), "4:11", "nearest: upper;"},
      {with("expect: {lapack: [pass, fialed]}"), "4:29", "nearest: failed;"},
  });
}

TEST(PlanErrors, ReportsUpToAThousandMistakesTogether) {
  const std::string message = failure(
      "nmae: x\nsweep:\n  - problem: gesv\n    method: all\n    uplo: uper\n    n: 0\n"
      "  - method: all\n    repeats: none\n  - problem: gesv\n");
  for (const char* location :
       {"p.yaml:1:1: ", "p.yaml:5:11: ", "p.yaml:6:8: ", "p.yaml:7:5: problem is missing",
        "p.yaml:8:14: ", "p.yaml:9:5: method is missing"})
    EXPECT_THAT("\n" + message, HasSubstr("\n" + std::string(location)));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 5) << message;
  std::string many = "sweep:\n";
  for (int i = 0; i < 1000; ++i) many += "  - {problem: gesv, method: all, n: 0}\n";
  EXPECT_THAT(failure(many), testing::EndsWith("\nand 980 more"));
}

TEST(Plan, MergeKeysAddMissingKeys) {
  const Plan plan = parse_plan(
      "sweep:\n  - &base {problem: gesv, method: all, n: 64, blocks: 1}\n"
      "  - &more {<<: *base, n: 128}\n  - {n: 256, <<: [*more, {blocks: 9, threads: 3}]}\n",
      "p.yaml");
  ASSERT_EQ(plan.sweep.size(), 3U);
  EXPECT_THAT(texts(plan.sweep[1].axes.at("n").values), ElementsAre("128"));
  EXPECT_THAT(texts(plan.sweep[1].axes.at("blocks").values), ElementsAre("1"));
  EXPECT_THAT(texts(plan.sweep[2].axes.at("n").values), ElementsAre("256"));
  EXPECT_THAT(texts(plan.sweep[2].axes.at("blocks").values), ElementsAre("1")) << "the earlier one wins";
  EXPECT_THAT(texts(plan.sweep[2].axes.at("threads").values), ElementsAre("3"));
  expect_failures({{"sweep:\n  - {<<: 3, problem: gesv}\n", "2:10", "<< is a value; allowed: a mapping"}});
}

TEST(PlanErrors, RepeatedKeys) {
  expect_failures({
      {"name: x\nname: y\n", "2:1", "'name' occurs twice in this mapping"},
      {with("n: 1\n    n: 2"), "5:5", "'n' occurs twice in this mapping"},
      {"matrix: {seed: 1, seed: 2}\n", "1:19", "twice"},
      {with("n: 1\n    zip: {n: [1], blocks: [2]}"), "5:11", "n is given twice"},
      {with("zip: [{n: 1}, {n: 2}]"), "4:20", "n is given twice"},
  });
}

TEST(PlanErrors, WrongTypes) {
  expect_failures({
      {"- a\n- b\n", "1:1", "no plan; allowed: a mapping"},
      {"just words\n", "1:1", "no plan"},
      {"sweep: 3\n", "1:8", "sweep is a value; allowed: a list of entries"},
      {"sweep:\n  problem: gesv\n", "2:3", "sweep is a mapping; allowed: a list"},
      {"sweep: [3]\n", "1:9", "an entry of sweep is a value"},
      {"name: [a]\n", "1:7", "name is a list; allowed: one value"},
      {"name:\n", "1:1", "name is nothing; allowed: one value"},
      {"repeats: [5]\n", "1:10", "repeats is a list"},
      {"matrix: cauchy\n", "1:9", "matrix is a value; allowed: a mapping"},
      {"matrix: {kind: {a: b}}\n", "1:16", "matrix.kind is a mapping"},
      {"tolerance: [1]\n", "1:12", "tolerance is a list"},
      {"sweep:\n  - problem: [[gesv]]\n    method: all\n", "2:15", "problem is a list"},
      {"sweep:\n  - problem: []\n    method: all\n", "2:14", "problem is an empty list"},
      {"cache: []\n", "1:8", "cache is an empty list"},
      {"sweep:\n  - problem: gesv\n    method: {a: b}\n", "3:13", "method is a mapping"},
      {with("blocks: {cuda: 1}"), "4:13", "only n, m and k"},
      {with("n: [[1]]"), "4:9", "an entry of n is a list"},
      {with("expects: {a: pass}"), "4:14", "nearest: expect;"},
      {with("zip: [[{n: 1}]]"), "4:11", "an entry of zip is a list"},
      {with("exclude: {n: 1}"), "4:14", "exclude is a mapping"},
      {with("expect: failed"), "4:13", "expect is a value"},
      {with("matrix_b: [{kind: ones}, {kind: ones}]"), "4:15", "matrix_b gives several"},
      {"? [a, b]\n: c\n", "1:3", "this key is a list"},
      {"{a: b}: c\n", "1:1", "this key is a mapping"},
      {"name: !include x\n", "1:7", "the tag '!include'"},
  });
}

TEST(PlanErrors, Numbers) {
  expect_failures({
      {"repeats: 0\n", "1:10", "'0'; allowed: a whole number from 1 to 1000000"},
      {"repeats: -3\n", "1:10", "'-3'"},
      {"repeats: 1.5\n", "1:10", "'1.5'"},
      {"warmup: -1\n", "1:9", "from 0 to"},
      {"inner_repeats: many\n", "1:16", "'many'"},
      {"timeout: 10parsec\n", "1:10", "allowed: a duration above 0 as 90s, 10min"},
      {"timeout: 0s\n", "1:10", "'0s'"},
      {"timeout: -5\n", "1:10", "'-5'"},
      {"store_limit: 50GB\n", "1:14", "store_limit: '50GB'; allowed: 50GiB"},
      {"store_limit: -1\n", "1:14", "'-1'"},
      {"tolerance: 0\n", "1:12", "'0'"},
      {"tolerance: {gesv: .nan}\n", "1:19", "tolerance.gesv: '.nan'"},
      {"tolerance: inf\n", "1:12", "'inf'"},
      {with("n: 0"), "4:8", "n: '0'; allowed: a whole number from 1"},
      {with("n: [4, -4]"), "4:12", "n: '-4'"},
      {with("n: 99999999999999999999"), "4:8", "n: '999"},
      {with("nrhs: 0"), "4:11", "nrhs: '0'"},
      {with("seed: -1"), "4:11", "seed: '-1'"},
      {with("n: {cuda: 0}"), "4:15", "n: '0'"},
      {with("n: 0:4:2"), "4:8", "n: '0'"},
      {with("exclude: [{n: \">4O96\"}]"), "4:19", "'4O96'; allowed: a number"},
      {with("exclude: [{n: \"<>4\"}]"), "4:19", "is no condition"},
      {with("exclude: [{n: \">\"}]"), "4:19", "is no condition"},
  });
}

TEST(PlanErrors, Ranges) {
  const auto n = [](const std::string& range) { return failure(with("n: [1, " + range + "]")); };
  EXPECT_THAT(n("500:5500:0"), HasSubstr("p.yaml:4:12: the range '500:5500:0' has no positive step"));
  EXPECT_THAT(n("500:5500:-1"), HasSubstr("4:12: the range '500:5500:-1' has no positive step"));
  EXPECT_THAT(n("10:5:1"),
              HasSubstr("4:12: the range '10:5:1' ends before it starts; allowed: stop >= start"));
  EXPECT_THAT(n("10:5:*2"), HasSubstr("ends before it starts"));
  EXPECT_THAT(n("1:5:*1"), HasSubstr("would not end; allowed: a factor of at least 2"));
  EXPECT_THAT(n("1:5:*0"), HasSubstr("would not end"));
  EXPECT_THAT(n("1:5:*-2"), HasSubstr("would not end"));
  EXPECT_THAT(n("0:5:*2"), HasSubstr("would not end; allowed: a start of at least 1"));
  EXPECT_THAT(n("1:5:*"), HasSubstr("is no range; allowed: start:stop (1:8, step 1), start:stop:step"));
  EXPECT_THAT(n("5:1"), HasSubstr("ends before it starts"));
  EXPECT_THAT(n("1:5:x"), HasSubstr("is no range"));
  EXPECT_THAT(n("1:5:1:1"), HasSubstr("is no range"));
  EXPECT_THAT(n("1:2000000:1"), HasSubstr("more than 1000000 values"));
  EXPECT_THAT(n("1:900000000000000000:1"), HasSubstr("more than 1000000 values"));
  EXPECT_THAT(n("-9007199254740991k:-9007199254740991k:9007199254740991k"),
              HasSubstr("4:12: n: '-9223372036854774784'"));
  EXPECT_THAT(n("1:999999999999999999k:1"), HasSubstr("4:12: range: '999999999999999999k'"));
  EXPECT_THAT(failure(with("a: 1:900000:1\n    b: 1:900000:1")),
              HasSubstr("5:8: the ranges of this plan have more than"));
}

TEST(PlanErrors, Missing) {
  expect_failures({
      {"name: x\n", "1:1", "sweep is missing"},
      {"sweep: []\n", "1:8", "sweep is empty"},
      {"sweep:\n  - method: all\n", "2:5", "problem is missing"},
      {"sweep:\n  - problem: gesv\n    n: 4\n", "2:5", "method is missing"},
      {"sweep:\n  - problem: gesv\n    n: 4\n    methods: all\n", "2:5",
       "is 'methods' at line 4 meant to be it?"},
      {"sweep:\n  - prolbem: gesv\n    method: all\n", "2:5", "is 'prolbem' at line 2 meant to be it?"},
      {"name: \"\"\n", "1:7", "name is an empty text; allowed: one value"},
      {"precision: [double, '']\n", "1:21", "an entry of precision is an empty text"},
      {"sweep:\n  - problem: gesv\n    method: []\n", "3:13", "method is an empty list"},
      {with("n: []"), "4:8", "n is an empty list"},
      {with("n:"), "4:5", "n is nothing"},
      {with("n: {}"), "4:8", "n is empty"},
      {with("zip: {}"), "4:10", "zip is empty"},
      {with("zip: []"), "4:10", "zip is a list"},
      {with("zip: {n: [1, 2], blocks: [1, 2, 3]}"), "4:30",
       "zip: blocks has 3 values, n has 2; allowed: lists of equal length"},
      {with("zip: {n: {cuda: 1}}"), "4:14", "differs by backend"},
      {with("exclude: []"), "4:14", "exclude is an empty list"},
      {with("exclude: [{}]"), "4:15", "is empty"},
      {with("expect: {}"), "4:13", "expect is empty"},
      {with("expect: {lapack: []}"), "4:22", "expect.lapack is an empty list"},
      {"matrix: {}\n", "1:9", "matrix is empty"},
      {"matrix: []\n", "1:9", "matrix is an empty list"},
      {"tolerance: {}\n", "1:12", "tolerance is empty"},
  });
}

TEST(PlanErrors, NotYaml) {
  expect_failures({
      {"sweep:\n\t- problem: gesv\n", "2:2", "not YAML"},
      {"sweep:\n\t- problem: gesv\n", "2:2", "spaces, not with tabs"},
      {"name: [a, b\n", "2:1", "not YAML"},
      {"name: \"\\q\"\n", "1:10", "not YAML"},
      {"name: a: b\n", "1:8", "not YAML"},
      {"method: *serial\n", "1:9", "must stand in quotes"},
      {"exclude: [{n: >4}]\n", "1:15", "must stand in quotes"},
      {"name: a\n---\nname: b\n", "3:1", "a second YAML document"},
      {"a: &x [*x]\n", "1:8", "an alias inside its own anchor"},
  });
  EXPECT_THAT(failure(""), HasSubstr("p.yaml"));
  EXPECT_THAT(failure("# only a comment\n"), HasSubstr("p.yaml"));
  EXPECT_THAT(failure(std::string("name: a\0b\n", 10)), StartsWith("p.yaml:1:8: a byte that is no text"));
  EXPECT_THAT(failure("name: \xff\n"), StartsWith("p.yaml:1:7: a byte that is no text"));
  EXPECT_THAT(failure("name: x\nb: \x04\n"), StartsWith("p.yaml:2:4: a byte that is no text"));
  EXPECT_THAT(failure("\x89HDF\r\n"), StartsWith("p.yaml:1:1: a byte that is no text"));
}

TEST(PlanErrors, UnclosedQuotes) {
  const std::string rest_of_message = " that begins here is never closed";
  EXPECT_EQ(failure("name: \"night\n" + with("n: 4")), "p.yaml:1:7: the quote \"" + rest_of_message);
  EXPECT_EQ(failure("name: 'it''s\n" + with("n: 4")), "p.yaml:1:7: the quote '" + rest_of_message);
  EXPECT_EQ(failure("name: a\n" + with("blocks: '1, 2")), "p.yaml:5:13: the quote '" + rest_of_message);
  EXPECT_EQ(failure("\xEF\xBB\xBFname: \"n\\\"\n" + with("n: 4")),
            "p.yaml:1:7: the quote \"" + rest_of_message);
  for (const char* name :
       {R"("a \" b")", R"('it''s')", "\"two\n  lines\"", R"("\\")", "it's", R"('''')", R"(! "a")"}) {
    EXPECT_EQ(failure(std::string("name: ") + name + "\n" + with("n: 4")), "") << name;
  }
}

TEST(PlanErrors, LimitsApplyBeforeAllocation) {
  std::string lists = "matrix: {kind: ones";
  for (const char* word : {"low", "high", "value", "mode", "seed"}) {
    lists += std::string(", ") + word + ": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
  }
  EXPECT_THAT(failure(lists + "}\n"), HasSubstr("matrix: the lists have too many combinations"));
  for (const char* seeds : {"1:20000:1", "[1:9000:1, 1:9000:1]"}) {
    EXPECT_THAT(failure(std::string("matrix: {kind: uniform, seed: ") + seeds + "}\n" + with("n: 4")),
                HasSubstr("matrix: the lists have too many combinations"));
  }
  EXPECT_THAT(failure(std::string((10u << 20) + 1, ' ')), HasSubstr("larger than 10 MiB"));
  EXPECT_THAT(failure(std::string(40, '[') + std::string(40, ']')),
              StartsWith("p.yaml:1:33: nested too deeply; a plan has at most 32 levels"));
  EXPECT_THAT(failure(std::string(100000, '[')), HasSubstr("p.yaml:1:"));
  EXPECT_THAT(failure(std::string(100000, '{')), HasSubstr("p.yaml:1:"));
  std::string dashes;
  for (int i = 0; i < 50000; ++i) dashes += "- ";
  EXPECT_THAT(failure(dashes), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("name: x\nsweep: " + std::string(10'000'000, '{')),
              StartsWith("p.yaml:2:1008: over 1000 open brackets"));
  std::string braces = "name: x\nsweep: [{}";
  for (int i = 0; i < 1'000'000; ++i) braces += ", {}";
  EXPECT_THAT(failure(braces + "]\n"), StartsWith("p.yaml:2:2000007: too many values: over 1000000"));
  // Each line contains the previous one ten times.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", " : "") + before;
    bomb += "]\n";
  }
  EXPECT_THAT(failure(bomb), HasSubstr("too many values once aliases are written out"));
  // Each line contains the previous one once, beyond the allowed depth.
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 100000; ++i) {
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_THAT(failure(chain), HasSubstr("nested too deeply"));
  std::string many = "sweep: [";
  for (int i = 0; i < 1000001; ++i) many += "1,";
  EXPECT_THAT(failure(many), HasSubstr("too many values"));
}

TEST(PlanErrors, DamagedPlansNeverCrash) {
  const std::string whole = with(
      "n: {cuda: [500:5500:500, 8k]}\n    zip: {m: [1, 2], k: &a [3, 4]}\n"
      "    exclude: [{method: 'x*', n: \">4096\"}]\n    expect: {a: [pass, failed]}\n"
      "    matrix: [{kind: ones, value: 2}, {file: \"x\"}]\n    q: *a\n    timeout: 1h");
  ASSERT_EQ(failure(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) failure(whole.substr(0, length));
  std::mt19937 random(1);
  const std::string bytes = "[]{}:,-&*!|>'\"%@`#? \n\t0azk\x80\xc3\x04";
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int change = 0; change < 1 + round % 4; ++change)
      text[random() % text.size()] = bytes[random() % bytes.size()];
    const std::string message = failure(text);
    if (!message.empty()) {
      EXPECT_THAT(message, StartsWith("p.yaml")) << text;
    }
  }
}

TEST(PlanFile, NamesAnUnreadableFile) {
  const auto failure_of = [](const std::filesystem::path& path) -> std::string {
    return message_of<InputError>([&] { read_plan(path); });
  };
  const TestFolder folder;
  EXPECT_THAT(failure_of(folder.folder()), HasSubstr("is a directory"));
  EXPECT_THAT(failure_of(folder / "absent.yaml"), HasSubstr("No such file"));
  EXPECT_THAT(failure_of("/dev/zero"), HasSubstr("larger than 10 MiB"));
  const std::filesystem::path plan = folder / "p.yaml";
  std::ofstream(plan) << with("n: 3");
  EXPECT_EQ(read_plan(plan).sweep.size(), 1u);
  EXPECT_EQ(read_plan(plan).text, with("n: 3"));
  std::ofstream(plan) << "nmae: 3\n";
  EXPECT_THAT(failure_of(plan), StartsWith(plan.string() + ":1:1: "));
  if (geteuid() != 0) {
    chmod(plan.c_str(), 0);
    EXPECT_THAT(failure_of(plan), HasSubstr("Permission denied"));
  }
}

}  // namespace
}  // namespace gaussweep::io
