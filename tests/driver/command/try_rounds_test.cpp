// Tests the rounds of `try`, and the sentences of its answer.

#include "driver/command/try_rounds.hpp"

#include "driver/command/try_answer.hpp"
#include "driver/plan/plan_names.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// A plan of two CPU methods and an emulated one. The plan's text lists the number of rounds of each method.
class RoundsOfTry : public testing::Test {
 protected:
  RoundsOfTry() {
    for (const Method& method : methods_) plan_.methods.push_back(&method);
    plan_.in_rounds = [this](const RoundsOf& rounds) {
      std::string text;
      for (const Method& method : methods_) text += std::to_string(rounds(method)) + " ";
      return text;
    };
  }
  void record(const std::string& method, std::int64_t round, double seconds) {
    io::Record r = example_record(method, 64, {seconds, seconds, seconds});
    r.backend = "host";
    r.gpu_name.clear();
    r.round = round;
    records_.push_back(r);
  }

  std::vector<Method> methods_{idle_method(Problem::named("gesv"), "one"),
                               idle_method(Problem::named("gesv"), "two"),
                               idle_method(Problem::named("gesv"), "kernel", {Backend::emulated})};
  TryPlan plan_;
  std::vector<io::Record> records_;
};

TEST_F(RoundsOfTry, GoOnUntilTheLeadIsClear) {
  TryRounds rounds(plan_, Backend::emulated, true, 0, 100);
  EXPECT_EQ(rounds.first(), "1 1 0 ");
  record("one", 1, 1e-3);
  record("two", 1, 2e-3);
  EXPECT_EQ(rounds.next(records_, 1), "2 2 0 ");
  record("one", 2, 1e-3);
  record("two", 2, 2e-3);
  EXPECT_EQ(rounds.next(records_, 1), "3 3 0 ");
  record("one", 3, 1e-3);
  record("two", 3, 2e-3);
  EXPECT_EQ(rounds.next(records_, 1), "3 3 1 ") << "the lead is clear; the emulated one comes last";
  EXPECT_EQ(rounds.next(records_, 1), "");
}

TEST_F(RoundsOfTry, EndInTime) {
  TryRounds rounds(plan_, Backend::emulated, true, 0, 100);
  record("one", 1, 1e-3);
  record("two", 1, 1.1e-3);
  EXPECT_EQ(rounds.next(records_, 85), "1 1 1 ") << "a part of the time is for the emulated one";
  TryRounds late(plan_, Backend::emulated, true, 0, 100);
  EXPECT_EQ(late.next(records_, 101), "");
  TryRounds slow(plan_, Backend::emulated, true, 0, 100);
  records_[0].seconds_median = 20;
  records_[1].seconds_median = 21;
  EXPECT_EQ(slow.next(records_, 1), "1 1 1 ") << "no round of four minutes fits";
}

TEST_F(RoundsOfTry, EmulatedKernelsRunUnrequestedOnlyIfNothingElsePassed) {
  record("one", 1, 1e-3);
  EXPECT_EQ(TryRounds(plan_, Backend::emulated, false, 0, 100).next(records_, 1), "");
  records_[0].status = "failed";
  EXPECT_EQ(TryRounds(plan_, Backend::emulated, false, 0, 100).next(records_, 1), "1 1 1 ");
  records_[0].status = "pass";
  methods_[2].problem = Problem::named("getrf");
  EXPECT_EQ(TryRounds(plan_, Backend::emulated, false, 0, 100).next(records_, 1), "1 1 1 ")
      << "nothing factored";
}

TEST_F(RoundsOfTry, EmulatedKernelsWaitForTheMethodsOfOtherProblems) {
  methods_[2].problem = Problem::named("getrf");
  EXPECT_EQ(TryRounds(plan_, Backend::emulated, true, 0, 100).first(), "1 1 0 ");
  plan_.methods = {&methods_[2]};
  EXPECT_EQ(TryRounds(plan_, Backend::emulated, true, 0, 100).next({}, 1), "")
      << "alone it is in the first round";
}

TEST(TryAnswer, RecommendsDoubleThoughFloatIsFaster) {
  std::vector<io::Record> records{example_record("lapack", 64, {2, 2, 2}),
                                  example_record("lapack", 64, {1, 1, 1})};
  records[1].precision = "float";
  const std::vector<Group> groups = group_records(records);
  const std::string commands = solve_commands(tried_tasks(groups), {}, "gaussweep", "a.npy");
  EXPECT_EQ(commands, "To solve:  gaussweep solve a.npy --rhs b.npy --method gesv/lapack -o x.npy\n");
}

TEST(TryAnswer, SaysHowFewRoundsAnUnclearLeadHas) {
  const std::vector<io::Record> records{example_record("one", 64, {2, 2, 2}),
                                        example_record("two", 64, {1, 1, 1})};
  const std::vector<Group> groups = group_records(records);
  const std::string words = race_sentences(tried_tasks(groups), {}).front();
  EXPECT_EQ(words.substr(0, 17), "gesv: no clear wi") << words;
  EXPECT_NE(words.find("in only 1 round."), std::string::npos) << words;
}

TEST(TryAnswer, WarnsIfOtherProgramsUsedTheCpus) {
  io::Results results;
  results.hosts.emplace_back().blas_threads = 4;
  for (const double demand : {0.9, 3.0}) {
    results.records.assign(3, example_record("lapack", 64, {1, 1, 1}));
    for (io::Record& record : results.records) {
      record.backend = "host";
      record.cpu_demand = demand;
    }
    const std::vector<Group> groups = group_records(results.records);
    const std::string words = noise_sentence(tried_tasks(groups), results);
    EXPECT_EQ(words.empty(), demand < 1) << words;
    EXPECT_EQ(words.find("OPENBLAS_NUM_THREADS=1") != std::string::npos, demand > 1) << words;
  }
}

TEST(TryAnswer, WarnsOfANumericallySingularMatrix) {
  const auto is_warned = [](std::optional<double> condition, auto change) {
    std::vector<io::Record> records{example_record("lapack", 64, {1, 1, 1})};
    records[0].forward_error = 1e-3;
    records[0].reference_method = "lapack";
    change(records[0]);
    InspectedMatrix matrix;
    if (condition) matrix.conditioning = Conditioning{false, *condition, 0};
    const std::vector<Group> groups = group_records(records);
    return !singular_text(matrix, tried_tasks(groups)).empty();
  };
  const auto unchanged = [](io::Record&) {};
  EXPECT_TRUE(is_warned(5e15, unchanged));
  EXPECT_FALSE(is_warned(1e15, unchanged));
  EXPECT_TRUE(is_warned(1e15, [](io::Record& r) { r.precision = "float"; }));
  EXPECT_FALSE(is_warned(std::nullopt, unchanged));
  EXPECT_TRUE(is_warned(std::nullopt, [](io::Record& r) { r.forward_error = 0.3; }));
  EXPECT_TRUE(is_warned(std::nullopt, [](io::Record& r) { r.info = 3; }));
  EXPECT_FALSE(is_warned(std::nullopt, [](io::Record& r) {
    r.info = 3;
    r.problem = "posv";
  })) << "the matrix is only not positive definite";
}

}  // namespace
}  // namespace gaussweep::driver
