// Tests when compare reports SAME or UNCLEAR, and which remedy it suggests.

#include "driver/compare/compare.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(CompareJudge, IsUnclearWhenTheIntervalExceedsTheThreshold) {
  const auto judged = [](const std::vector<double>& samples, std::int64_t rounds) {
    io::Results base, now;
    for (std::int64_t round = 1; round <= rounds; ++round) {
      for (io::Results* set : {&base, &now}) {
        Record r = example_record("m", 64, samples);
        r.round = round;
        set->records.push_back(r);
      }
    }
    return compare(base, now, {});
  };
  const Comparison tight = judged({1, 1.0001, 1.0002}, 1);
  EXPECT_EQ(tight.pairs.at(0).change.verdict, Verdict::same);
  EXPECT_TRUE(unclear_sentences(tight).empty());
  const Comparison wide = judged({0.9, 1, 1.12}, 1);
  const Change& change = wide.pairs.at(0).change;
  EXPECT_EQ(change.ratio, 1);
  EXPECT_GT(change.high, 1.02);
  EXPECT_EQ(change.verdict, Verdict::unclear);
  EXPECT_TRUE(wide.regressions.empty());
  EXPECT_GE(change.detectable, change.high - 1) << "the rule for all trials together needs more";
  ASSERT_EQ(wide.unclear.size(), 1U);
  const Unclear& unclear = wide.unclear.front();
  EXPECT_EQ(unclear.trials, 1);
  EXPECT_EQ(unclear.detectable, change.detectable);
  EXPECT_LT(unclear.with_duet, unclear.with_rounds);
  EXPECT_LT(unclear.with_rounds, unclear.detectable);
  EXPECT_LT(unclear.with_samples, 0.7 * unclear.detectable) << "most of the scatter is within the samples";
  ASSERT_EQ(unclear_sentences(wide).size(), 2U);
  EXPECT_THAT(unclear_sentences(wide).front(),
              ::testing::HasSubstr("1 UNCLEAR trial on cuda: these runs find"));
  EXPECT_THAT(unclear_sentences(wide).back(),
              ::testing::AllOf(::testing::HasSubstr("rounds: 3"), ::testing::HasSubstr("duet"),
                               ::testing::HasSubstr("samples"), ::testing::HasSubstr("%")));
  EXPECT_NEAR(judged({0.9, 1, 1.12}, 3).pairs.at(0).change.detectable, unclear.with_rounds,
              0.3 * unclear.with_rounds);
}

TEST(CompareJudge, AdviceHasOneUnitAndIsNotAboutEmulatedTrials) {
  Comparison comparison;
  comparison.unclear = {{"emulated", 4}, {"host", 9}};
  for (Unclear& unclear : comparison.unclear) {
    unclear.detectable = 14.7;
    unclear.with_rounds = 4.1;
    unclear.with_duet = 0.88;
  }
  EXPECT_THAT(unclear_sentences(comparison),
              ::testing::ElementsAre(::testing::StartsWith("9 UNCLEAR trials on host"),
                                     ::testing::HasSubstr("a factor of 1.9")));
}

TEST(CompareJudge, AdviceFitsTheCause) {
  const auto judged = [](double seconds, std::int64_t base_rounds, std::int64_t new_rounds) {
    const auto rounds_of = [&](std::int64_t rounds) {
      std::vector<Record> records;
      for (std::int64_t round = 1; round <= rounds; ++round) {
        records.push_back(example_record("m", 64, {0.9 * seconds, seconds, 1.1 * seconds}));
        records.back().backend = "host";
        records.back().round = round;
      }
      io::Results results = results_of(std::move(records));
      results.attributes["plan"] = "rounds: 3";
      results.attributes["shard"] = "1/1";
      return results;
    };
    return compare(rounds_of(base_rounds), rounds_of(new_rounds), {});
  };
  EXPECT_TRUE(judged(1e-6, 3, 3).unclear.at(0).is_too_short);
  EXPECT_FALSE(judged(1, 3, 3).unclear.at(0).is_too_short);
  EXPECT_FALSE(judged(1, 3, 3).unclear.at(0).lacks_rounds);
  const Comparison interrupted = judged(1, 3, 1);
  EXPECT_TRUE(interrupted.unclear.at(0).lacks_rounds);
  EXPECT_THAT(unclear_sentences(interrupted).back(), ::testing::HasSubstr("--resume"));
}

/// Returns a set with two noisy and two steady trials on a CPU with this number of threads.
io::Results four_trials(std::int64_t threads, double factor) {
  io::HostRow host;
  host.host = "node1";
  host.cpu = "Xeon";
  host.blas_threads = threads;
  io::Results set;
  set.hosts = {host};
  for (const std::int64_t n : {64, 128, 256, 512}) {
    const double scatter = n < 200 ? 0.9 : 1e-6;
    Record r = example_record("m", n, {factor * (1 - scatter), factor, factor * (1 + scatter)});
    r.round = 1;
    if (threads > 0) {
      r.backend = "host";
      r.gpu_name = {};
      r.capability = 0;
    }
    set.records.push_back(r);
  }
  return set;
}

TEST(CompareJudge, LastSentenceCountsWhatWasNotDecided) {
  const Comparison same = compare(four_trials(0, 1), four_trials(0, 1), {});
  EXPECT_EQ(
      regression_text(same),
      "No regression among 2 decided trials. Undecided: 2 UNCLEAR trials. Decided as a whole: gesv/m SAME.");
  io::Results run = four_trials(0, 1);
  for (Record& r : run.records) r.end_time = "2026-03-01T00:00:01.000000Z";
  EXPECT_EQ(regression_text(compare(run, run, {})), "Nothing was compared: base and new are the same run.");
  const Comparison threads = compare(four_trials(2, 1), four_trials(1, 1000), {});
  ASSERT_TRUE(threads.has_other_places);
  EXPECT_TRUE(threads.regressions.empty());
  EXPECT_EQ(render_json(method_table(threads, Reader::person)).at(0).at("verdict"), "not counted");
  EXPECT_THAT(count_sentence(threads),
              ::testing::AllOf(::testing::HasSubstr(" not counted (other devices or threads)"),
                               ::testing::Not(::testing::HasSubstr("SLOWER"))));
  EXPECT_THAT(regression_text(threads), ::testing::AllOf(::testing::StartsWith("No trial was decided."),
                                                         ::testing::HasSubstr(" SLOWER, because")));
  io::Results busy = four_trials(2, 1000);
  for (Record& r : busy.records) r.cpu_demand = r.n == 64 ? 1 : 1.5;
  EXPECT_THAT(regression_text(compare(four_trials(2, 1), busy, {})),
              ::testing::HasSubstr(" during 3 of these trials: measure again."));
}

TEST(CompareJudge, BoundsWithoutMeaningAreTexts) {
  Comparison comparison = compare(four_trials(0, 1), four_trials(0, 1), {});
  comparison.pairs.resize(1);
  Change& change = comparison.pairs[0].change;
  change.low = 1e-30;
  change.high = 1e30;
  change.detectable = 1e30;
  const auto shown = render_json(pair_table(comparison, Reader::person)).at(0);
  EXPECT_EQ(shown.at("speedup_low"), "< 0.001x");
  EXPECT_EQ(shown.at("speedup_high"), "> 1000x");
  EXPECT_EQ(shown.at("finds"), "over 100x");
  change.detectable = 31.2;
  EXPECT_EQ(render_json(pair_table(comparison, Reader::person)).at(0).at("finds"), "32.2x");
  change.detectable = 1e30;
  const auto exact = render_json(pair_table(comparison, Reader::program)).at(0);
  EXPECT_DOUBLE_EQ(exact.at("speedup_high").get<double>(), 1e30);
}

}  // namespace
}  // namespace gaussweep::driver
