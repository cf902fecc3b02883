// Tests the comparison of device models: detection, ratios, predictions, and methods that win on one model
// only.

#include "driver/compare/models.hpp"
#include "driver/base/errors.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* older = "NVIDIA Older 100 80GB";
constexpr const char* newer = "NVIDIA Newer 200";
constexpr double copy_ratio = 1.5, product_ratio = 1.2;

/// Returns a run with the rates of its model; the newer one has higher rates by the constants above.
io::Results run_on(const std::string& gpu, const std::string& id, std::vector<Record> records) {
  io::Results results;
  for (Record& r : records) {
    r.run_id = id;
    r.gpu_name = gpu;
    r.gpu_uuid = "GPU-" + id;
    r.capability = 90;
    r.host = "node-" + id;
    r.start_time = r.end_time = "2026-03-01T00:00:00Z";
    results.records.push_back(r);
  }
  io::DeviceRow device;
  device.gpu_name = gpu;
  device.capability = 90;
  const bool is_new = gpu == newer;
  device.copy_bytes_per_second = is_new ? copy_ratio * 1e12 : 1e12;
  device.gemm_flops_double = is_new ? product_ratio * 1e13 : 1e13;
  results.devices = {device};
  io::HostRow host;
  host.host = "node-" + id;
  host.cpu = "CPU";
  results.hosts = {host};
  return results;
}

Record trial(const std::string& method, std::int64_t n, double seconds) {
  return example_record(method, n, {seconds, 1.001 * seconds, 1.002 * seconds});
}

io::Results on_cpu(io::Results results, const std::string& cpu, const std::string& backend = "host") {
  for (Record& r : results.records) {
    r.backend = backend;
    r.gpu_name = r.gpu_uuid = "";
    r.capability = 0;
  }
  results.devices.clear();
  results.hosts.front().cpu = cpu;
  return results;
}

io::Results merged(io::Results a, const io::Results& b) {
  a.records.insert(a.records.end(), b.records.begin(), b.records.end());
  a.devices.insert(a.devices.end(), b.devices.begin(), b.devices.end());
  a.hosts.insert(a.hosts.end(), b.hosts.begin(), b.hosts.end());
  return a;
}

/// The comparison of two models. Owns the records and grids to which the comparison refers.
struct Compared {
  io::Results all;
  std::vector<VerdictGrid> grids;
  ModelComparison comparison;

  explicit Compared(std::vector<io::Results> sets) {
    const std::set<std::string> bases = base_models(sets, /*is_requested=*/false);
    grids = model_grids(std::move(sets), all);
    EXPECT_EQ(grids.size(), 2U);
    EXPECT_EQ(bases.size(), 1U);
    const bool is_first = bases.count(grids.at(0).device) > 0;
    comparison = compare_models(grids.at(is_first ? 0 : 1), grids.at(is_first ? 1 : 0));
  }
  const ModelCell& fastest(std::int64_t n) const { return comparison.tasks.at(0).fastest.cells.at(n); }
};

std::string text_in(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].name == column) return to_text(table.rows.at(row).at(c), table.columns[c].style);
  }
  return "no such column";
}

TEST(BaseModels, AreThoseOfTheFirstRunsIfNoModelIsInCommon) {
  const io::Results a = run_on(older, "a", {trial("m", 64, 1)}), b = run_on(newer, "b", {trial("m", 64, 1)});
  EXPECT_THAT(base_models({a, b}, /*is_requested=*/false), ElementsAre(older));
  EXPECT_THAT(base_models({b, a}, /*is_requested=*/false), ElementsAre(newer));
  EXPECT_THAT(base_models({a, run_on(older, "c", {trial("m", 64, 1)})}, /*is_requested=*/false), IsEmpty())
      << "one model";
  EXPECT_THAT(base_models({a, merged(a, b)}, /*is_requested=*/false), IsEmpty()) << "a model in common";
  EXPECT_THAT(base_models({on_cpu(a, "CPU"), b}, /*is_requested=*/false), IsEmpty()) << "a CPU and a GPU";
  EXPECT_THAT(base_models({on_cpu(a, "CPU 1"), on_cpu(b, "CPU 2")}, /*is_requested=*/false),
              ElementsAre("CPU 1"));
  EXPECT_THAT(base_models({on_cpu(a, "CPU 1"), on_cpu(b, "CPU 1")}, /*is_requested=*/false), IsEmpty());
}

TEST(BaseModels, OfAFileWithSeveralModelsAreTheOldest) {
  io::Results a = run_on(newer, "a", {trial("m", 64, 1)}), again = run_on(newer, "c", {trial("m", 64, 1)});
  const io::Results b = run_on(older, "b", {trial("m", 64, 1)});
  a.records[0].capability = again.records[0].capability = 100;
  EXPECT_THAT(base_models({merged(a, b)}, /*is_requested=*/false), ElementsAre(older));
  EXPECT_THAT(base_models({merged(merged(a, b), again)}, /*is_requested=*/false), IsEmpty())
      << "a trial was repeated";
  EXPECT_THAT(base_models({merged(merged(a, b), again)}, /*is_requested=*/true), ElementsAre(older))
      << "requested";
  EXPECT_THAT(base_models({a, b}, /*is_requested=*/true), ElementsAre(older)) << "in whatever order";
  EXPECT_THROW(base_models({a, again}, /*is_requested=*/true), UsageError) << "one model";
}

TEST(CompareModels, MeasuresTheRatioOfTheFastestMethods) {
  const Compared two({run_on(older, "a", {trial("m", 64, 4), trial("slow", 64, 6)}),
                      run_on(newer, "b", {trial("m", 64, 3), trial("slow", 64, 2)})});
  EXPECT_NEAR(two.fastest(64).speedup.ratio(), 2, 0.01) << "m on the older one, slow on the newer one";
  EXPECT_EQ(two.fastest(64).sign(), 1);
  ASSERT_EQ(two.comparison.tasks.at(0).methods.size(), 2U);
  EXPECT_NEAR(two.comparison.tasks[0].methods[0].cells.at(64).speedup.ratio(), 4.0 / 3, 0.01);
  EXPECT_NEAR(two.comparison.tasks[0].methods[1].cells.at(64).speedup.ratio(), 3, 0.01);
  EXPECT_EQ(two.comparison.base.short_name, "Older");
  EXPECT_EQ(two.comparison.now.short_name, "Newer");
}

TEST(CompareModels, IsUnclearWithinTheDifferenceOfTwoDevices) {
  const Compared two({run_on(older, "a", {trial("m", 64, 1.02)}), run_on(newer, "b", {trial("m", 64, 1)})});
  EXPECT_EQ(two.fastest(64).sign(), 0);
}

TEST(CompareModels, HasANarrowerIntervalWithSeveralDevices) {
  const auto width = [](std::size_t count) {
    std::vector<io::Results> sets;
    for (const char* gpu : {older, newer}) {
      io::Results all;
      for (std::size_t i = 0; i < count; ++i)
        all = merged(all, run_on(gpu, gpu + std::to_string(i), {trial("m", 64, gpu == newer ? 1 : 2)}));
      sets.push_back(all);
    }
    const Compared two(std::move(sets));
    EXPECT_EQ(two.comparison.base.devices, static_cast<std::int64_t>(count));
    return two.fastest(64).speedup.high() / two.fastest(64).speedup.low();
  };
  EXPECT_LT(width(4), 1 + 0.7 * (width(1) - 1));
}

TEST(CompareModels, PredictsTheRatioFromTheMeasuredLimits) {
  const auto records = [](double launch) {
    Record launches = trial("m", 64, 1e-3), memory = trial("m", 128, 1e-3), products = trial("m", 4096, 1);
    memory.problem_bytes = 1e9;
    for (Record* r : {&launches, &memory, &products}) {
      r->kernels = 100;
      r->waits = 0;
      r->queue_seconds = 100 * launch;
      r->launch_bound = r == &launches ? 1 : 0;
    }
    return std::vector<Record>{launches, memory, products};
  };
  const Compared two({run_on(older, "a", records(4e-6)), run_on(newer, "b", records(2e-6))});
  EXPECT_NEAR(two.fastest(64).predicted, 2, 1e-9);
  EXPECT_EQ(two.fastest(64).bounding_limit, BoundingLimit::launches);
  EXPECT_NEAR(two.fastest(128).predicted, copy_ratio, 1e-9);
  EXPECT_EQ(two.fastest(128).bounding_limit, BoundingLimit::memory);
  EXPECT_NEAR(two.fastest(4096).predicted, product_ratio, 1e-9);
  EXPECT_EQ(two.fastest(4096).bounding_limit, BoundingLimit::products);
  EXPECT_EQ(text_in(task_table(two.comparison), 0, "limit"),
            "launches below 128, then memory below 4096, then products");
}

TEST(CompareModels, ComparesLaunchesIfOneModelWaitsForThem) {
  const auto run = [](const char* gpu, double launch, int launch_bound) {
    Record r = trial("m", 64, 1e-3);
    r.kernels = 100;
    r.waits = 0;
    r.queue_seconds = 100 * launch;
    r.launch_bound = launch_bound;
    return run_on(gpu, gpu, {r});
  };
  EXPECT_NEAR(Compared({run(older, 4e-6, 0), run(newer, 2e-6, 1)}).fastest(64).predicted, 2, 1e-9);
  EXPECT_NEAR(Compared({run(older, 4e-6, 0), run(newer, 2e-6, 0)}).fastest(64).predicted, copy_ratio, 1e-9);
}

TEST(CompareModels, DoesNotCompareTheNumbersOfLaunchesOfDifferentMethods) {
  const auto run = [](const char* gpu, double many_seconds, std::int64_t few_kernels, double launch) {
    Record many = trial("many", 64, many_seconds), few = trial("few", 64, 2e-3);
    many.kernels = 100;
    few.kernels = few_kernels;
    for (Record* r : {&many, &few}) {
      r->waits = 0;
      r->queue_seconds = static_cast<double>(r->kernels) * launch;
      r->launch_bound = r->kernels > 0 ? 1 : 0;
    }
    return run_on(gpu, gpu, {many, few});
  };
  const Compared launches({run(older, 1e-3, 10, 4e-6), run(newer, 3e-3, 10, 2e-6)});
  EXPECT_NE(launches.fastest(64).base->first().method, launches.fastest(64).now->first().method);
  EXPECT_NEAR(launches.fastest(64).predicted, 2, 1e-9) << "the ratio of a launch";
  const Compared mixed({run(older, 1e-3, 0, 4e-6), run(newer, 3e-3, 0, 2e-6)});
  EXPECT_NEAR(mixed.fastest(64).predicted, copy_ratio, 1e-9) << "the problem's limit";
}

TEST(CompareModels, FindsTheSizeAtWhichTheModelsChangePlaces) {
  const Compared two({run_on(older, "a", {trial("m", 64, 1), trial("m", 256, 2)}),
                      run_on(newer, "b", {trial("m", 64, 2), trial("m", 256, 1)})});
  EXPECT_EQ(two.fastest(64).sign(), -1);
  EXPECT_EQ(two.fastest(256).sign(), 1);
  EXPECT_EQ(text_in(task_table(two.comparison), 0, "faster"), "Older, Newer from about 128");
}

TEST(CompareModels, ListsMethodsThatWinOnOneModelOnly) {
  const auto run = [](const char* gpu, double a, double b) {
    return run_on(gpu, gpu == newer ? "b" : "a",
                  {trial("a", 64, a), trial("b", 64, b), trial("a", 128, a), trial("b", 128, b)});
  };
  const Table winners = winner_table(Compared({run(older, 1, 1.5), run(newer, 2, 1)}).comparison);
  ASSERT_EQ(winners.rows.size(), 1U) << "two sizes in one row";
  EXPECT_EQ(text_in(winners, 0, "n"), "64 to 128");
  EXPECT_EQ(text_in(winners, 0, "base_method"), "a");
  EXPECT_EQ(text_in(winners, 0, "new_method"), "b");
  EXPECT_EQ(text_in(winners, 0, "base_cost"), "1.50x");
  EXPECT_EQ(text_in(winners, 0, "new_cost"), "2.00x");
  EXPECT_THAT(winner_table(Compared({run(older, 1, 1.0005), run(newer, 2, 1)}).comparison).rows, IsEmpty())
      << "a tie";
}

TEST(CompareModels, LeavesOutCpuMethodsOfMachinesWithGpus) {
  io::Results a = run_on(older, "a", {trial("m", 64, 2), trial("lapack", 64, 1)}),
              b = run_on(newer, "b", {trial("m", 64, 1)});
  a.records[1].backend = "host";
  a.records[1].gpu_name = "";
  const Compared two({a, b});
  EXPECT_NEAR(two.fastest(64).speedup.ratio(), 2, 0.01);
  EXPECT_EQ(two.comparison.base.devices, 1);
}

TEST(CompareModels, ComparesCpuModels) {
  for (const char* backend : {"host", "emulated"}) {
    const Compared two({on_cpu(run_on("", "a", {trial("m", 64, 8)}), "Maker CPU 1", backend),
                        on_cpu(run_on("", "b", {trial("m", 64, 1)}), "Maker CPU 2", backend)});
    EXPECT_NEAR(two.fastest(64).speedup.ratio(), 8, 0.1) << backend;
    EXPECT_EQ(two.comparison.now.short_name, "2");
  }
}

TEST(CompareModels, CountsARunOnceThatIsGivenTwice) {
  const io::Results a = run_on(older, "a", {trial("m", 64, 2)}), b = run_on(newer, "b", {trial("m", 64, 1)});
  const Compared two({a, a, b});
  EXPECT_EQ(two.fastest(64).base->records.size(), 1U);
}

}  // namespace
}  // namespace gaussweep::driver
