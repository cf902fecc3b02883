// Tests the expansion of a plan into trials.

#include "driver/plan/expand.hpp"
#include "driver/plan/plan_names.hpp"
#include "io/records/status.hpp"
#include "kernels/check/check.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns methods of every kind that the expansion distinguishes.
Registry registry() {
  const Problem gesv = Problem::named("gesv");
  Method cyclic = idle_method(gesv, "cyclic_a", {Backend::cuda, Backend::emulated});
  cyclic.parameters = {integer_parameter("blocks", 1, 1, 64, ""),
                       choice_parameter("order", {"up", "down"}, ""),
                       real_parameter("omega", 1.0, 0.1, 2.0, "")};
  Method second = cyclic;
  second.variant = "cyclic_b";
  second.parameters.resize(1);
  Method serial = idle_method(gesv, "serial");
  serial.max_nrhs = 2;
  Method tuned = idle_method(gesv, "tuned", {Backend::cuda});  // needs a new GPU
  tuned.capability = 90;
  Method single = idle_method(gesv, "single");  // float only, even n only
  single.host.float64 = nullptr;
  single.accepts = [](const Shape& shape, const Parameters&) { return shape.n % 2 == 0; };
  Method triangular = idle_method(Problem::named("trsv"), "plain");
  triangular.needs = {Need::triangular};
  Method definite = idle_method(Problem::named("potrf"), "plain");
  definite.needs = {Need::spd};
  return Registry({cyclic, second, serial, tuned, single, idle_method(Problem::named("gemm"), "plain"),
                   triangular, definite});
}

HostMatrix<double> matrix_of(std::int64_t n, std::vector<double> elements) {
  HostMatrix<double> matrix;
  matrix.rows = matrix.cols = n;
  matrix.data = std::move(elements);
  return matrix;
}

/// Describes the matrix files that the plans of these tests name, as if they existed.
FileFacts lookup(const std::string& file, const std::string&) {
  if (file == "square.mtx") return {"/data/square.mtx", 12, 12, std::string(64, '1')};
  if (file == "moved.mtx") return {"/elsewhere/square.mtx", 12, 12, std::string(64, '1')};
  FileFacts triangle{"/data/upper.mtx", 3, 3, std::string(64, '3')};
  triangle.inspected = inspect(matrix_of(3, {1, 0, 0, 2, 1, 0, 2, 2, 1}), true);
  if (file == "upper.mtx") return triangle;
  if (file == "tall.mtx") return {"/data/tall.mtx", 8, 3, std::string(64, '2')};
  throw io::InputError(file + ": there is no such file");
}

Expansion expand_text(const std::string& text, Backend requested = Backend::emulated, int capability = 0) {
  return expand(io::parse_plan(text, "p.yaml", enum_names<Problem>()), registry(), requested, capability,
                lookup);
}

/// Returns a plan with one entry; its keys begin in column 5, those of `entry` in line 4.
std::string sweep(const std::string& problem, const std::string& methods, const std::string& entry) {
  return "sweep:\n  - problem: " + problem + "\n    method: " + methods + "\n    " + entry + "\n";
}

std::vector<Trial> trials(const std::string& problem, const std::string& methods, const std::string& entry) {
  return expand_text(sweep(problem, methods, entry)).trials;
}

/// Returns the error of expanding a plan, or "".
std::string failure(const std::string& text, Backend requested = Backend::emulated) {
  return message_of<io::InputError>([&] { expand_text(text, requested); });
}

template <class Get>
auto each(const std::vector<Trial>& list, Get get) {
  std::vector<decltype(get(list.front()))> values;
  for (const Trial& trial : list) values.push_back(get(trial));
  return values;
}
std::vector<std::int64_t> sizes(const std::vector<Trial>& list) {
  return each(list, [](const Trial& t) { return t.shape.n; });
}
std::vector<std::string> methods_of(const std::vector<Trial>& list) {
  return each(list, [](const Trial& t) { return t.method; });
}

TEST(Expand, MultipliesLists) {
  const std::vector<Trial> list =
      trials("gesv", "cyclic_a", "n: [4, 8, 12]\n    blocks: [1, 2]\n    order: [up, down]");
  EXPECT_THAT(list, SizeIs(12));
  std::set<std::string> distinct, keys;
  for (const Trial& trial : list) {
    distinct.insert(describe(trial));
    keys.insert(trial.key);
    EXPECT_THAT(trial.key, SizeIs(32));
    EXPECT_EQ(trial.parameters.real("omega"), 1.0) << "missing keys have defaults";
  }
  EXPECT_THAT(distinct, SizeIs(12));
  EXPECT_THAT(keys, SizeIs(12));
}

TEST(Expand, PairsZippedLists) {
  const std::vector<Trial> list =
      trials("gesv", "cyclic_a", "zip: {n: [4, 8], blocks: [1, 2]}\n    omega: [0.5, 1.5]");
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const Trial& t : list) pairs.insert({t.shape.n, t.parameters.integer("blocks")});
  EXPECT_THAT(list, SizeIs(4));
  EXPECT_THAT(pairs, ElementsAre(std::make_pair(4, 1), std::make_pair(8, 2)));
}

TEST(Expand, DropsRepeatedTrials) {
  EXPECT_THAT(sizes(trials("gesv", "[serial, ser*, all]",
                           "n: [4, 4, 1:4:3]\n    exclude: [{method: [cyclic*, tuned, single]}]")),
              ElementsAre(4, 1));
  EXPECT_THAT(trials("gesv", "serial", "n: [1k, 1024]"), SizeIs(1));
}

TEST(Expand, FindsMethodsByNameListGlobAndAll) {
  EXPECT_THAT(methods_of(trials("gesv", "serial", "n: 4")), ElementsAre("serial"));
  EXPECT_THAT(methods_of(trials("gesv", "[serial, cyclic_b]", "n: 4")), ElementsAre("serial", "cyclic_b"));
  EXPECT_THAT(methods_of(trials("gesv", "cyclic_*", "n: 4")), ElementsAre("cyclic_a", "cyclic_b"));
  EXPECT_THAT(methods_of(trials("gesv", "gesv/serial", "n: 4")), ElementsAre("serial"));
  EXPECT_THAT(methods_of(trials("gesv", "all", "n: 4")),
              ElementsAre("cyclic_a", "cyclic_b", "serial", "tuned", "single"));
  EXPECT_THAT(methods_of(trials("potrf", "all", "n: 4")), ElementsAre("plain"));
}

TEST(Expand, NotesOnceThatOtherMethodsIgnoreAParameter) {
  const Expansion result = expand_text(sweep("gesv", "[cyclic_a, serial]", "n: [4, 8]\n    blocks: 1:3"));
  EXPECT_THAT(result.trials, SizeIs(2 * 3 + 2));
  EXPECT_THAT(result.notes, ElementsAre(::testing::EndsWith(": blocks for gesv/serial")));
}

TEST(Expand, AFilesMatrixIsCheckedForWhatMethodsNeed) {
  const std::string matrix = "matrix: {file: upper.mtx}";
  const Expansion own = expand_text(sweep("trsv", "plain", matrix));
  EXPECT_EQ(own.trials.at(0).shape.uplo, Uplo::upper) << "the file's triangle";
  EXPECT_THAT(own.notes, IsEmpty());
  const Expansion other = expand_text(sweep("trsv", "plain", matrix + "\n    uplo: lower"));
  EXPECT_THAT(other.notes, ElementsAre(HasSubstr("upper.mtx is upper triangular, uplo is lower")));
  const Expansion cholesky = expand_text(sweep("potrf", "plain", matrix));
  EXPECT_THAT(cholesky.notes, ElementsAre(HasSubstr("upper.mtx is not symmetric")));
  EXPECT_THAT(expand_text(sweep("potrf", "plain", matrix + "\n    expect: {plain: failed}")).notes,
              IsEmpty());
  EXPECT_THAT(expand_text(sweep("gesv", "serial", matrix)).notes, IsEmpty());
}

TEST(Expand, AListOfProblemsNeedsAMethodOfEach) {
  const std::vector<Trial> both = trials("[gesv, trsv]", "[serial, plain]", "n: 4");
  EXPECT_THAT(methods_of(both), ElementsAre("serial", "plain"));
  EXPECT_THAT(failure(sweep("[gesv, trsv]", "serial", "n: 4")), HasSubstr("trsv has no method 'serial'"));
}

TEST(Expand, ABuildWithoutCudaSaysSo) {
  Method method = idle_method(Problem::named("gesv"), "portable", {Backend::emulated});
  method.backends = {Backend::cuda, Backend::emulated};
  const Expansion result =
      expand(io::parse_plan(sweep("gesv", "portable", "n: 4"), "p.yaml", enum_names<Problem>()),
             Registry({method}), Backend::cuda, 0, lookup);
  EXPECT_EQ(result.trials.at(0).skip_reason, "this build has no CUDA");
}

TEST(Expand, ChoosesTheBackendPerMethod) {
  const auto ran = [](Backend requested, int capability) {
    std::vector<std::string> words;
    for (const Trial& t :
         expand_text(sweep("gesv", "[cyclic_a, serial, tuned]", "n: 4"), requested, capability).trials) {
      words.push_back(t.skip_reason.empty() ? std::string(to_string(t.backend))
                                            : "skipped: " + t.skip_reason);
    }
    return words;
  };
  EXPECT_THAT(ran(Backend::cuda, 90), ElementsAre("cuda", "host", "cuda"));
  EXPECT_THAT(ran(Backend::cuda, 75),
              ElementsAre("cuda", "host", "skipped: needs compute capability 9.0, the GPU has 7.5"));
  EXPECT_THAT(ran(Backend::cuda, 0), ElementsAre("cuda", "host", "cuda")) << "an unknown GPU is tried";
  EXPECT_THAT(ran(Backend::emulated, 0),
              ElementsAre("emulated", "host", "skipped: gesv/tuned does not run on the backend emulated"));
  EXPECT_THAT(ran(Backend::host, 0),
              ElementsAre("skipped: gesv/cyclic_a does not run on the backend host", "host",
                          "skipped: gesv/tuned does not run on the backend host"));
}

TEST(Expand, SkipsUnsupportedTrialsWithTheReason) {
  const std::vector<Trial> right_sides = trials("gesv", "serial", "n: 4\n    nrhs: [2, 3]");
  EXPECT_THAT(right_sides[0].skip_reason, IsEmpty());
  EXPECT_EQ(right_sides[1].skip_reason, "gesv/serial takes at most 2 right-hand sides");
  const std::vector<Trial> single = trials("gesv", "single", "n: [4, 5]\n    precision: [float, double]");
  std::multiset<std::string> reasons;
  for (const Trial& t : single) reasons.insert(t.skip_reason);
  EXPECT_THAT(reasons, ElementsAre("", "gesv/single does not take this shape (n = 5)",
                                   "gesv/single has no double version", "gesv/single has no double version"));
}

TEST(Expand, TakesNPerBackend) {
  const std::string text = sweep("gesv", "[cyclic_a, serial]", "n: {cuda: [4096], emulated: [64, 32]}");
  EXPECT_THAT(sizes(expand_text(text, Backend::cuda).trials), ElementsAre(4096, 4096));
  EXPECT_THAT(sizes(expand_text(text, Backend::emulated).trials), ElementsAre(64, 32, 64, 32));
  EXPECT_THAT(failure(text, Backend::host), StartsWith("p.yaml:4:5: n has no values for the backend host"));
  const std::string own = sweep("gesv", "serial", "n: {cuda: [4096], host: [8]}");
  EXPECT_THAT(sizes(expand_text(own, Backend::cuda).trials), ElementsAre(8))
      << "a CPU method takes the CPU's sizes";
}

TEST(Expand, ExcludesByValueComparisonGlobAndList) {
  const auto remaining = [](const std::string& conditions) {
    std::vector<std::string> words;
    for (const Trial& t : trials("gesv", "cyclic_*", "n: [64, 1k, 4096]\n    exclude: " + conditions)) {
      words.push_back(t.method.substr(7) + std::to_string(t.shape.n));
    }
    return words;
  };
  EXPECT_THAT(remaining("[{n: 64}]"), ElementsAre("a1024", "a4096", "b1024", "b4096"));
  EXPECT_THAT(remaining("[{n: \">=1k\"}]"), ElementsAre("a64", "b64"));
  EXPECT_THAT(remaining("[{n: \"> 1024\"}]"), ElementsAre("a64", "a1024", "b64", "b1024"));
  EXPECT_THAT(remaining("[{n: \"<1024\"}]"), ElementsAre("a1024", "a4096", "b1024", "b4096"));
  EXPECT_THAT(remaining("[{n: \"<=1024\"}]"), ElementsAre("a4096", "b4096"));
  EXPECT_THAT(remaining("[{n: [64, 4096]}]"), ElementsAre("a1024", "b1024"));
  EXPECT_THAT(remaining("[{method: cyclic_a, n: \">64\"}]"), ElementsAre("a64", "b64", "b1024", "b4096"));
  EXPECT_THAT(remaining("[{method: cyclic_a}, {n: 64}]"), ElementsAre("b1024", "b4096"));
  EXPECT_THAT(remaining("[{method: \"*_b\"}]"), ElementsAre("a64", "a1024", "a4096"));
  EXPECT_THAT(remaining("[{method: tuned}]"), SizeIs(6))
      << "a method of the problem that is not selected here";
}

TEST(Expand, EntryOverridesTheNumbersOfThePlan) {
  const std::string head = "repeats: 7\nwarmup: 2\nstages: never\ntimeout: 30s\ntolerance: {gesv: 20}\n";
  const Trial plan = expand_text(head + sweep("gesv", "serial", "n: 4")).trials.at(0);
  EXPECT_EQ(plan.sampling.min_samples, 7);
  EXPECT_EQ(plan.sampling.warmup, 2);
  EXPECT_EQ(plan.inner_repeats, 1);
  EXPECT_EQ(std::tuple(plan.stages, plan.timeout_seconds, plan.tolerance), std::tuple(Stages::never, 30, 20));
  const Trial own = expand_text(head + sweep("gesv", "serial",
                                             "n: 4\n    repeats: 3\n    warmup: 0\n    inner_repeats: 10\n"
                                             "    timeout: 1min\n    tolerance: 2\n    stages: always"))
                        .trials.at(0);
  EXPECT_EQ(own.sampling.min_samples, 3);
  EXPECT_EQ(own.sampling.warmup, 0);
  EXPECT_EQ(own.inner_repeats, 10);
  EXPECT_EQ(own.stages, Stages::always);
  EXPECT_EQ(own.timeout_seconds, 60);
  EXPECT_EQ(own.tolerance, 2 * default_tolerance(Problem::named("gesv")))
      << "a bare number multiplies the default";
  EXPECT_EQ(trials("potrf", "plain", "n: 4").at(0).tolerance, default_tolerance(Problem::named("potrf")));
}

TEST(Expand, ExpectAppliesToItsMethods) {
  const std::vector<Trial> list =
      trials("gesv", "[cyclic_a, serial]", "n: 4\n    expect: {cyclic_*: [pass, failed], serial: suspect}");
  EXPECT_THAT(list[0].expect, ElementsAre("pass", "failed"));
  EXPECT_THAT(list[1].expect, ElementsAre("suspect"));
  EXPECT_THAT(trials("gesv", "serial", "n: 4")[0].expect, IsEmpty());
}

TEST(Expand, TakesTheMatrixOfTheEntryThePlanOrTheDefault) {
  const auto matrix = [](const std::string& text) { return expand_text(text).trials.at(0).matrix; };
  const std::string entry = sweep("gesv", "serial", "n: 4");
  EXPECT_EQ(matrix(entry).kind, "uniform");
  const MatrixRequest given = matrix("matrix: {kind: uniform, low: -2, high: 5, seed: 9}\n" + entry);
  EXPECT_EQ(std::tuple(given.spec.low, given.spec.high, given.spec.seed), std::tuple(-2, 5, 9u));
  EXPECT_EQ(given.spec.rows, 4);
  EXPECT_EQ(
      matrix("matrix: {kind: spd}\n" + sweep("gesv", "serial", "n: 4\n    matrix: {kind: cauchy}")).kind,
      "cauchy");
  EXPECT_THAT(each(trials("gesv", "serial", "n: 4\n    matrix: [{kind: spd}, {kind: [ones, cauchy]}]"),
                   [](const Trial& t) { return t.matrix.kind; }),
              ElementsAre("spd", "ones", "cauchy"));
  const MatrixRequest condition =
      matrix(sweep("gesv", "serial", "n: 4\n    matrix: {kind: condition, condition: 1e6, mode: 2}"));
  EXPECT_EQ(condition.spec.condition, 1e6);
  EXPECT_EQ(condition.spec.mode, 2);
  // A matrix that one precision cannot represent is skipped in that precision only.
  const auto both = trials("gesv", "serial",
                           "n: 4\n    precision: [float, double]\n"
                           "    matrix: {kind: condition, condition: 1e12}");
  EXPECT_THAT(both.at(0).skip_reason, HasSubstr("condition 1e+12 is beyond what a matrix in float can have"));
  EXPECT_THAT(both.at(1).skip_reason, IsEmpty());
}

TEST(Expand, StoreNeverAppliesToPlanAndMatrix) {
  const std::string never = "store: never\n";
  EXPECT_TRUE(trials("gesv", "serial", "n: 4")[0].matrix.store);
  EXPECT_FALSE(trials("gesv", "serial", "n: 4\n    matrix: {kind: spd, store: never}")[0].matrix.store);
  EXPECT_FALSE(expand_text(never + sweep("gesv", "serial", "n: 4")).trials[0].matrix.store);
  EXPECT_TRUE(expand_text(never + sweep("gesv", "serial", "n: 4\n    matrix: {kind: spd, store: always}"))
                  .trials[0]
                  .matrix.store)
      << "the matrix's key overrides the plan's";
  const Trial product = expand_text(never + sweep("gemm", "plain", "n: 4")).trials[0];
  EXPECT_FALSE(product.matrix.store);
  EXPECT_FALSE(product.matrix_b->store);
}

TEST(Expand, EveryRoundIsATrial) {
  const std::vector<Trial> list = trials("gesv", "serial", "n: [4, 5]\n    rounds: 3");
  ASSERT_EQ(list.size(), 6U);
  std::set<std::string> keys;
  for (const Trial& trial : list) {
    keys.insert(trial.key);
    const Trial same = nlohmann::json(trial).get<Trial>();
    EXPECT_EQ(same.round, trial.round);
  }
  EXPECT_EQ(keys.size(), 6U);
  EXPECT_EQ(list[0].key, trials("gesv", "serial", "n: 4").at(0).key) << "round 1 keeps the key of older runs";
  EXPECT_EQ(list[2].round, 3);
}

TEST(Expand, TakesSamplingFromThePlan) {
  const char* settings =
      "n: 4\n    repeats: {min: 3, noise: 0.5%, time: 2s, throttled: again}\n    warmup: 250ms\n"
      "    cache: cold\n    host_memory: pinned\n    energy: 1s\n    reference: never";
  const Trial sent = nlohmann::json(trials("gesv", "serial", settings).at(0)).get<Trial>();
  const Sampling& s = sent.sampling;
  EXPECT_EQ(std::pair(s.min_samples, s.max_samples), std::pair(std::int64_t{3}, std::int64_t{200}));
  EXPECT_EQ(std::pair(s.noise, s.seconds), std::pair(0.005, 2.0));
  EXPECT_TRUE(s.throttled_again && s.cold && sent.pinned);
  EXPECT_EQ(std::pair(s.warmup, s.warmup_seconds), std::pair(std::int64_t{1}, 0.25));
  EXPECT_EQ(sent.energy_seconds, 1);
  EXPECT_FALSE(sent.has_reference);
}

TEST(Expand, KeyHoldsExactlyWhatDecidesTheOutcome) {
  const auto key = [](const std::string& entry, const std::string& head = "") {
    return expand_text(head + sweep("gesv", "cyclic_a", "n: 4\n    " + entry)).trials.at(0).key;
  };
  const std::string plain = key("blocks: 1");
  EXPECT_EQ(key("blocks: 1"), plain);
  EXPECT_EQ(key("order: up"), plain) << "an explicit default changes nothing";
  EXPECT_EQ(key("blocks: 1", "name: other\n"), plain);
  EXPECT_EQ(key("timeout: 3s\n    stages: calls\n    reference: never\n    tolerance: 5\n    expect: "
                "{cyclic_a: failed}"),
            plain);
  EXPECT_EQ(key("matrix: {kind: uniform, seed: 1, store: never}"), plain);
  EXPECT_TRUE(key("host_memory: pageable") == plain && key("host_memory: pinned") != plain);
  std::set<std::string> keys = {plain};
  for (const char* other : {"blocks: 2", "order: down", "omega: 1.5", "precision: float", "nrhs: 2",
                            "seed: 2", "repeats: 6", "warmup: 2", "inner_repeats: 2", "matrix: {kind: spd}",
                            "repeats: {min: 5}", "repeats: {min: 5, noise: 2%}", "warmup: 1s", "cache: cold",
                            "repeats: {min: 5, throttled: again}", "repeats: {min: 5, time: 1s}",
                            "energy: 1s", "matrix: {kind: uniform, high: 2}", "matrix: {kind: cauchy}"}) {
    EXPECT_TRUE(keys.insert(key(other)).second) << other;
  }
  EXPECT_NE(expand_text(sweep("gesv", "cyclic_a", "n: 4"), Backend::cuda).trials[0].key, plain);
  EXPECT_NE(expand_text(sweep("gesv", "cyclic_b", "n: 4")).trials[0].key, plain);
}

TEST(Expand, ASeedChangesTheSystemEvenIfNotTheMatrix) {
  const std::vector<Trial> list =
      trials("gesv", "serial", "n: 4\n    matrix: {kind: cauchy}\n    seed: [1, 2, 3]");
  std::set<std::string> digests;
  for (const Trial& t : list) digests.insert(t.matrix.digest);
  EXPECT_THAT(list, SizeIs(3));
  EXPECT_THAT(digests, SizeIs(3)) << "b and x_true in the same file depend on the seed";
}

TEST(Expand, TakesTheSizeFromTheFile) {
  const Trial trial = trials("gesv", "serial", "matrix: {file: square.mtx, dataset: A}")[0];
  EXPECT_EQ(trial.shape.n, 12);
  EXPECT_EQ(trial.matrix.kind, "file");
  EXPECT_EQ(trial.matrix.file, "/data/square.mtx");
  EXPECT_EQ(trial.matrix.dataset, "A");
  EXPECT_THAT(trials("gesv", "serial", "n: 12\n    matrix: {kind: file, file: square.mtx}"), SizeIs(1));
  EXPECT_EQ(trials("gesv", "serial", "matrix: {file: square.mtx}")[0].key,
            trials("gesv", "serial", "matrix: {file: moved.mtx}")[0].key)
      << "the bytes decide, not the path";
  const Expansion twice =
      expand_text(sweep("gesv", "serial", "matrix: [{file: square.mtx}, {file: moved.mtx}]"));
  EXPECT_THAT(twice.trials, SizeIs(1));
  EXPECT_THAT(twice.notes, ElementsAre(HasSubstr("/elsewhere/square.mtx")));
  EXPECT_THAT(failure(sweep("gesv", "serial", "matrix: {file: absent.mtx}")),
              StartsWith("p.yaml:4:20: absent.mtx: there is no such file"));
  EXPECT_THAT(failure(sweep("gesv", "serial", "n: 13\n    matrix: {file: square.mtx}")),
              StartsWith("p.yaml:4:8: n = 13, but /data/square.mtx is 12 x 12"));
  EXPECT_THAT(failure(sweep("gesv", "serial", "matrix: {file: tall.mtx}")),
              HasSubstr("needs a square matrix"));
  EXPECT_THAT(failure(sweep("gesv", "serial", "matrix: {kind: spd, file: square.mtx}")),
              HasSubstr("either a kind or a file"));
}

TEST(Expand, GemmHasThreeSizesAndTwoMatrices) {
  const Trial square = trials("gemm", "plain", "n: 5")[0];
  EXPECT_EQ(square.shape.m, 5);
  EXPECT_EQ(square.shape.k, 5);
  EXPECT_NE(square.matrix.digest, square.matrix_b->digest) << "B is not A";
  const Trial flat =
      trials("gemm", "plain", "n: 5\n    m: 3\n    k: 4\n    matrix_b: {kind: ones, value: 0.1}")[0];
  EXPECT_EQ(flat.matrix.spec.rows, 3);
  EXPECT_EQ(flat.matrix.spec.cols, 4);
  EXPECT_EQ(flat.matrix_b->spec.rows, 4);
  EXPECT_EQ(flat.matrix_b->spec.cols, 5);
  EXPECT_EQ(flat.matrix_b->spec.value, 0.1);
}

TEST(Expand, TheLargestSeedIsFollowedByZero) {
  const std::string last = "n: 5\n    seed: 9223372036854775807";
  const Trial alone = trials("gemm", "plain", last)[0];
  EXPECT_EQ(alone.matrix.spec.seed, 9223372036854775807U);
  EXPECT_EQ(alone.matrix_b->spec.seed, 0U);
  EXPECT_EQ(trials("gemm", "plain", last + "\n    matrix_b: {kind: uniform}")[0].matrix_b->spec.seed, 0U);
}

TEST(ExpandErrors, NameThePlaceAndTheNearestWord) {
  const auto gesv = [](const std::string& entry) { return failure(sweep("gesv", "cyclic_a", entry)); };
  EXPECT_THAT(failure(sweep("gsev", "serial", "n: 4")),
              StartsWith("p.yaml:2:14: 'gsev' is no problem; nearest: gesv; allowed: gemm, "));
  EXPECT_THAT(failure(sweep("gesv", "[serial, cylic_a]", "n: 4")),
              StartsWith("p.yaml:3:22: gesv has no method 'cylic_a'; nearest: cyclic_a; it has: cyclic_a, "
                         "cyclic_b, serial"));
  EXPECT_THAT(failure(sweep("gesv", "x*", "n: 4")), StartsWith("p.yaml:3:13: gesv has no method 'x*'"));
  EXPECT_THAT(gesv("blocs: 3"), StartsWith("p.yaml:4:5: 'blocs' is neither"));
  EXPECT_THAT(gesv("blocs: 3"), HasSubstr("nearest: blocks;"));
  EXPECT_THAT(gesv("repeat: 3"), HasSubstr("nearest: repeats;")) << "fixed words are suggested too";
  EXPECT_THAT(gesv("n: 4\n    zip: {blocs: [1, 2]}"), StartsWith("p.yaml:5:11: 'blocs'"));
  EXPECT_THAT(gesv("n: 4\n    blocks: [1, 65]"),
              StartsWith("p.yaml:5:17: blocks: '65'; allowed: a whole number from 1 to 64"));
  EXPECT_THAT(gesv("n: 4\n    blocks: 1.5"), StartsWith("p.yaml:5:13: blocks: '1.5'"));
  EXPECT_THAT(gesv("n: 4\n    omega: 3"),
              StartsWith("p.yaml:5:12: omega: '3'; allowed: a number from 0.1 to 2"));
  EXPECT_THAT(gesv("n: 4\n    order: dwon"),
              StartsWith("p.yaml:5:12: 'dwon' is no value of order; nearest: down; allowed: up, down"));
  EXPECT_THAT(gesv("blocks: 1"), StartsWith("p.yaml:2:5: n is missing"));
  EXPECT_THAT(gesv("n: 4\n    m: 4"), StartsWith("p.yaml:5:5: m is an axis of gemm only"));
  EXPECT_THAT(gesv("n: 4\n    uplo: lower"),
              StartsWith("p.yaml:5:5: uplo is an axis of trsv, potrf, posv and trtri only"));
  EXPECT_THAT(failure(sweep("potrf", "plain", "n: 4\n    nrhs: 2")),
              StartsWith("p.yaml:5:5: nrhs is an axis of trsv, gesv and posv"));
  EXPECT_THAT(gesv("n: 4\n    expect: {cylic_a: failed}"),
              StartsWith("p.yaml:5:14: expect: gesv has no method 'cylic_a'"));
  EXPECT_THAT(gesv("n: 4\n    exclude: [{blocs: 3}]"), HasSubstr("nearest: blocks;"));
  EXPECT_THAT(gesv("n: 4\n    exclude: [{n: 4}]"), HasSubstr("everything is excluded"));
  EXPECT_THAT(gesv("n: 4\n    matrix: {kind: cauhcy}"),
              StartsWith("p.yaml:5:20: 'cauhcy' is no matrix kind; nearest: cauchy; allowed: uniform"));
  EXPECT_THAT(gesv("n: 4\n    matrix: {kind: spd, value: 3}"), StartsWith("p.yaml:5:32: "));
  EXPECT_THAT(gesv("n: 4\n    matrix: {seed: 3}"), StartsWith("p.yaml:5:13: a matrix needs a kind"));
  EXPECT_THAT(gesv("n: 4\n    matrix: {kind: uniform, low: 3, high: 2}"), HasSubstr("must be below high"));
  EXPECT_THAT(gesv("n: 4\n    matrix: {kind: condition, mode: 6}"), HasSubstr("from 1 to 5"));
  EXPECT_THAT(gesv("n: 4\n    matrix: {kind: condition, condition: 0.5}"), HasSubstr("from 1 to"));
}

TEST(Expand, KeepsTheOrderOfThePlan) {
  EXPECT_THAT(
      each(trials("gesv", "cyclic_a", "n: [8, 4]\n    blocks: [2, 1]\n    precision: [float, double]"),
           [](const Trial& t) {
             return std::to_string(t.shape.n) + "/" + std::to_string(t.parameters.integer("blocks"));
           }),
      testing::UnorderedElementsAre("8/2", "8/2", "8/1", "8/1", "4/2", "4/2", "4/1", "4/1"));
  EXPECT_THAT(sizes(trials("gesv", "serial", "n: [8, 4, 6]")), ElementsAre(8, 4, 6));
}

TEST(Expand, TrialsSurviveJson) {
  for (const std::string& text :
       {sweep("gesv", "cyclic_a", "n: 4\n    omega: 0.3\n    order: down\n    expect: {cyclic_a: failed}"),
        sweep("gemm", "plain", "n: 4\n    m: 2\n    matrix_b: {kind: ones, value: 0.1}"),
        sweep("gesv", "tuned", "matrix: {file: square.mtx, dataset: A}")}) {
    const nlohmann::json sent = expand_text(text).trials.at(0);
    EXPECT_EQ(nlohmann::json(nlohmann::json::parse(sent.dump()).get<Trial>()), sent);
  }
}

TEST(Expand, KnowsEveryProblemAndStatusOfThePlanReader) {
  for (const auto& [problem, name] : EnumNames<Problem>::table) {
    EXPECT_NO_THROW(io::parse_plan(
        "tolerance: {" + std::string(name) + ": 1}\n" + sweep(std::string(name), "all", "n: 4"), "p",
        enum_names<Problem>()));
  }
  for (const std::string& status : io::status_names()) {
    EXPECT_EQ(failure(sweep("gesv", "serial", "n: 4\n    expect: {serial: " + status + "}")), "");
  }
}

}  // namespace
}  // namespace gaussweep::driver
