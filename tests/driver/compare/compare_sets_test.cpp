// Tests which records are compared: several runs in one file or in several, and runs on other models.

#include "driver/compare/compare_sets.hpp"

#include <algorithm>

#include "driver/base/errors.hpp"
#include "driver/compare/compare.hpp"
#include "driver/compare/trend.hpp"
#include "driver/results/merge.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* h100 = "NVIDIA H100";
constexpr const char* h200 = "NVIDIA H200";

/// A run of a GPU method at three sizes on day `day`; with `with_cpu_trials` also of a CPU method.
struct RunOf {
  std::string id;
  int day = 1;
  double factor = 1;
  std::string gpu = h200;
  bool with_cpu_trials = false;
  std::string cpu = "CPU";
};

io::Results run_of(const RunOf& run) {
  io::Results results;
  const auto add = [&](Record r) {
    r.run_id = run.id;
    r.start_time = "2026-03-0" + std::to_string(run.day) + "T00:00:00Z";
    r.end_time = "2026-03-0" + std::to_string(run.day) + "T00:00:01Z";
    results.records.push_back(std::move(r));
  };
  for (const std::int64_t n : {64, 128, 256}) {
    Record r = example_record("m", n, {run.factor, 1.001 * run.factor, 1.002 * run.factor});
    r.gpu_name = run.gpu;
    add(r);
    if (!run.with_cpu_trials) continue;
    r.method = "on_cpu";
    r.backend = "host";
    r.gpu_name = "";
    add(r);
  }
  io::HostRow host;
  host.host = results.records.front().host;
  host.cpu = run.cpu;
  results.hosts = {host};
  return results;
}

/// Returns the records of several runs as one file, as `merge` writes it.
io::Results merged(const std::vector<io::Results>& runs) {
  io::Results all = runs.front();
  for (std::size_t i = 1; i < runs.size(); ++i)
    all.records.insert(all.records.end(), runs[i].records.begin(), runs[i].records.end());
  return all;
}

std::vector<std::size_t> sizes_of(const std::vector<io::Results>& sets) {
  std::vector<std::size_t> sizes;
  for (const io::Results& set : sets) sizes.push_back(set.records.size());
  return sizes;
}

std::size_t regressions(std::vector<io::Results> sets) {
  const Sides sides = sides_of(std::move(sets), /*same_models=*/false);
  return compare(sides.base, sides.now, {}).regressions.size();
}

TEST(RunsApart, SplitsAFileInWhichRunsRepeatTrials) {
  const auto first = run_of({"a", 1}), second = run_of({"b", 2});
  EXPECT_THAT(sizes_of(split_runs(first)), ElementsAre(3));
  const std::vector<io::Results> sets = split_runs(merged({second, first}));
  ASSERT_THAT(sizes_of(sets), ElementsAre(3, 3));
  EXPECT_EQ(sets[0].records[0].run_id, "a") << "in order of time";
}

TEST(RunsApart, KeepsShardsAndArchitecturesTogether) {
  io::Results one = run_of({"a", 1}), two = run_of({"b", 1}), next = run_of({"c", 2});
  one.records.resize(1);
  two.records.erase(two.records.begin());
  EXPECT_THAT(sizes_of(split_runs(merged({one, two}))), ElementsAre(3)) << "shards";
  EXPECT_THAT(sizes_of(split_runs(merged({one, two, next}))), ElementsAre(3, 3));
  io::Results later_rounds = one;
  for (Record& r : later_rounds.records) std::tie(r.run_id, r.round) = std::tuple("e", 2);
  EXPECT_THAT(sizes_of(split_runs(merged({one, two, later_rounds}))), ElementsAre(4))
      << "older versions divided the rounds of a trial among the shards";
  const auto old_gpu = run_of({"d", 1, 1, h100, true}), new_gpu = run_of({"e", 2, 1, h200, true});
  EXPECT_THAT(sizes_of(split_runs(merged({old_gpu, new_gpu}))), ElementsAre(12)) << "CPU trials too";
}

TEST(RunsApart, ReportsNoMissingTrialsForAFileWithSeveralPlans) {
  std::vector<Loaded> inputs(2);
  inputs[0].results = run_of({"a", 1});
  inputs[1].results = run_of({"b", 2});
  inputs[1].results.records.pop_back();
  for (const char* second : {"same", "other"}) {
    inputs[0].results.attributes = {{"plan", "same"}, {"shard", "1/1"}};
    inputs[1].results.attributes = {{"plan", second}, {"shard", "1/1"}};
    EXPECT_EQ(regressions({merge(inputs, /*force=*/false).results}), second == std::string("same") ? 1U : 0U)
        << second;
  }
}

TEST(Sides, ComparesTheLastRunOfAFileWithTheEarlierOnes) {
  const auto fast = run_of({"a", 1}), slow = run_of({"b", 2, 3.5});
  const io::Results both = merged({fast, slow});
  EXPECT_GT(regressions({both}), 0U);
  EXPECT_GT(regressions({both, both}), 0U) << "not compared with itself";
  EXPECT_GT(regressions({fast, both}), 0U) << "runs on both sides do not hide it";
  EXPECT_GT(regressions({run_of({"z", 1}), both}), 0U) << "the earlier run does not dilute it";
  EXPECT_EQ(regressions({merged({run_of({"a", 1, 3.5}), run_of({"b", 2})})}), 0U) << "faster";
  EXPECT_THROW(sides_of({fast}, /*same_models=*/false), UsageError);
}

TEST(Sides, ComparesTheLastRunOfEachModel) {
  const io::Results all = merged(
      {run_of({"a", 1, 1, h100}), run_of({"b", 2, 3.5, h100}), run_of({"c", 3}), run_of({"d", 4, 3.5})});
  const Sides sides = sides_of({all}, /*same_models=*/true);
  for (const Record& r : sides.now.records) EXPECT_TRUE(r.run_id == "b" || r.run_id == "d") << r.run_id;
  EXPECT_EQ(sides.now.records.size(), 6U);
  EXPECT_EQ(sides.base.records.size(), 6U);
}

TEST(Sides, KeepsAllRunsOnOtherModels) {
  const io::Results two_runs = merged({run_of({"a", 2}), run_of({"b", 3})});
  EXPECT_EQ(sides_of({run_of({"z", 1, 1, h100}), two_runs}, /*same_models=*/false).now.records.size(), 6U);
}

TEST(Sides, RemarksThatARunIsComparedWithItself) {
  io::Results run = run_of({"a", 1, 1, h200, true});
  const Sides sides = sides_of({run, run}, /*same_models=*/false);
  EXPECT_EQ(sides.remarks.size(), 1U);
  for (const Pair& pair : compare(sides.base, sides.now, {}).pairs)
    EXPECT_EQ(pair.change.verdict, Verdict::same) << pair.identity.method;
}

TEST(Sides, OverTimeComparesEqualGpuAndCpuModelsOnly) {
  const auto on_h200 = run_of({"b", 2, 9, h200, true});
  EXPECT_THROW(sides_of({run_of({"a", 1, 1, h100, true}), on_h200}, /*same_models=*/true), UsageError)
      << "CPU trials too";
  EXPECT_THROW(sides_of({run_of({"a", 1, 1, h200, true, "another"}), on_h200}, /*same_models=*/true),
               UsageError);
  EXPECT_EQ(sides_of({run_of({"a", 1, 1, h200, true}), on_h200}, /*same_models=*/true).base.records.size(),
            6U);
  const Sides sides =
      sides_of({merged({run_of({"a", 1, 1, h100, true}), run_of({"c", 1, 1, h200, true})}), on_h200},
               /*same_models=*/true);
  EXPECT_EQ(sides.base.records.size(), 6U);
  EXPECT_EQ(sides.base.records.front().run_id, "c");
}

TEST(Models, KeepsOnlyRecordsOfTheSameModels) {
  io::Results before = merged({run_of({"a", 1, 1, h100, true}), run_of({"b", 1, 1, h200, true})});
  keep_models_of(run_of({"c", 2, 1, h200, true}), before);
  EXPECT_EQ(before.records.size(), 6U);
  EXPECT_EQ(before.records.front().run_id, "b");
}

TEST(Sides, ComparesACrashWhoseDeviceIsUnknown) {
  io::Results now = run_of({"b", 2});
  for (Record& r : now.records) {
    r.status = "crashed";
    r.gpu_name.clear();
  }
  EXPECT_EQ(sides_of({run_of({"a", 1}), now}, /*same_models=*/true).base.records.size(), 3U);
}

TEST(Trend, TreatsRunsInOneFileAsSeveralNights) {
  std::vector<io::Results> runs;
  for (int day = 1; day <= 8; ++day)
    runs.push_back(run_of({std::to_string(day), day, day < 5 ? 1 : 1.5, h200, true}));
  const Trend trend = trend_of({{"all.h5", merged(runs)}}, {});
  EXPECT_EQ(trend.nights.size(), 8U);
  ASSERT_EQ(trend.series.size(), 6U);
  EXPECT_EQ(trend.series.front().change.steps.size(), 1U);
}

TEST(Trend, StartsANewSeriesForAnotherModel) {
  std::vector<std::pair<std::string, io::Results>> sets;
  for (int day = 1; day <= 8; ++day)
    sets.emplace_back("x",
                      run_of({std::to_string(day), day, day < 5 ? 1 : 1.5, day < 5 ? h100 : h200, true}));
  EXPECT_EQ(trend_of(sets, {}).series.size(), 12U)
      << "the same CPU model with another GPU is another machine";
  EXPECT_TRUE(trend_sentences(trend_of(sets, {})).empty());
  for (auto& [path, set] : sets) {
    for (Record& r : set.records)
      if (r.backend == "cuda") r.gpu_name = h200;
    set.hosts.front().cpu = set.records.front().start_time < "2026-03-05" ? "one" : "two";
  }
  EXPECT_TRUE(trend_sentences(trend_of(sets, {})).empty()) << "a GPU on another CPU";
}

TEST(CompareSets, MergedRunsWithOtherThreadsGiveTheAnswerOfTheRuns) {
  std::vector<io::Results> runs;
  for (int day = 1; day <= 3; ++day) {
    RunOf run{"run-" + std::to_string(day), day, day == 3 ? 9.0 : 1.0};
    run.with_cpu_trials = true;
    runs.push_back(run_of(run));
    const auto is_gpu = [](const Record& r) { return r.backend == "cuda"; };
    auto& records = runs.back().records;
    records.erase(std::remove_if(records.begin(), records.end(), is_gpu), records.end());
    runs.back().hosts[0].blas_threads = day == 3 ? 2 : 1;
  }
  std::vector<Loaded> loaded(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) loaded[i].results = runs[i];
  const auto words = [&](std::vector<io::Results> sets) {
    const Sides sides = sides_of(std::move(sets), /*same_models=*/true);
    return regression_text(compare(sides.base, sides.now, {}));
  };
  const std::string separate = words(runs);
  EXPECT_THAT(separate, ::testing::HasSubstr("Not counted: 3 SLOWER"));
  EXPECT_EQ(words({merge(std::move(loaded), /*force=*/true).results}), separate);
}

}  // namespace
}  // namespace gaussweep::driver
