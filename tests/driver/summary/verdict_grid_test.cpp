// Tests the table of the fastest method for each task and size.

#include "driver/summary/verdict_grid.hpp"

#include <fmt/format.h>

#include "driver/plan/roofline_fraction.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

io::DeviceRow h200() {
  io::DeviceRow row;
  row.gpu_name = "NVIDIA H200";
  row.capability = 90;
  row.host = "node1";
  row.copy_bytes_per_second = 4e12;
  row.gemm_flops_float = 50e12;
  row.gemm_flops_double = 60e12;
  return row;
}

io::HostRow machine(const std::string& host, const std::string& cpu) {
  io::HostRow row;
  row.host = host;
  row.cpu = cpu;
  return row;
}

/// Returns the record as one of a method on the CPU.
Record on_cpu(Record r, const std::string& host = "node1") {
  r.backend = "host";
  r.gpu_name.clear();
  r.capability = 0;
  r.host = host;
  return r;
}

Record with_seed(const std::string& method, std::int64_t seed, double seconds) {
  Record r = example_record(method, 64, {seconds});
  r.matrix_digest = std::to_string(seed);
  r.matrix_seed = seed;
  return r;
}

/// Returns the first cell of the only row of the only grid.
const VerdictCell& only_cell(const std::vector<VerdictGrid>& grids) {
  EXPECT_EQ(grids.size(), 1U);
  EXPECT_EQ(grids.at(0).rows.size(), 1U);
  return grids[0].rows.at(0).cells.begin()->second;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(VerdictGrid, FastestPassWinsAndTheNextMethodIsRunnerUp) {
  std::vector<Record> records = {example_record("slow", 64, {4}), example_record("good", 64, {2}),
                                 example_record("good", 64, {2.5}), example_record("wrong", 64, {1}),
                                 on_cpu(example_record("lapack", 64, {3}))};
  records[2].parameters = R"({"blocks":4})";  // another configuration of the winner cannot be the runner-up
  records[3].status = "suspect";
  const auto grids = verdict_grids(records, {h200()}, {machine("node1", "Xeon")});
  const VerdictCell& cell = only_cell(grids);
  EXPECT_EQ(cell.winner->first().method, "good");
  EXPECT_EQ(cell.winner->first().parameters, "{}");
  EXPECT_EQ(cell.runner_up->first().method, "lapack");
  EXPECT_DOUBLE_EQ(cell.lead, 1.5);
  EXPECT_FALSE(cell.tie);
  EXPECT_EQ(cell.methods, 4);
  EXPECT_EQ(grids[0].device, "NVIDIA H200");
  EXPECT_THAT(grids[0].cpus, ElementsAre("Xeon"));
}

TEST(VerdictGrid, ColdAndWarmCachesHaveRowsOfTheirOwn) {
  std::vector<Record> records = {example_record("a", 64, {4}), example_record("b", 64, {2}),
                                 example_record("a", 64, {1}), example_record("b", 64, {3})};
  records[0].cache = records[1].cache = "cold";
  records[2].cache = records[3].cache = "warm";
  const auto grids = verdict_grids(records, {h200()}, {});
  ASSERT_EQ(grids.at(0).rows.size(), 2U);
  std::map<std::string, std::string> winners;
  for (const VerdictRow& row : grids[0].rows)
    winners[row.details] = row.cells.begin()->second.winner->first().method;
  // Warm caches are the default, which is not named.
  EXPECT_EQ(winners, (std::map<std::string, std::string>{{"cache cold", "b"}, {"", "a"}}));
}

TEST(VerdictGrid, OverlappingQuartilesAreATie) {
  const std::vector<Record> records = {example_record("a", 64, {1, 2, 3}),
                                       example_record("b", 64, {1.1, 2.1, 3.1})};
  const auto grids = verdict_grids(records, {}, {});
  const VerdictCell& cell = only_cell(grids);
  EXPECT_TRUE(cell.tie);
  EXPECT_THAT(verdict_text(grids, {}), HasSubstr("2 s  tie\n"));
  EXPECT_THAT(verdict_text(grids, {}), Not(HasSubstr("uncontested")));
  EXPECT_TRUE(std::isnan(cell.limit_fraction)) << "the device is unknown";
  EXPECT_THAT(verdict_text(grids, {}), Not(HasSubstr("compute")));  // no limit is named (Bound::compute)
}

TEST(VerdictGrid, MarksSoleMethodUncontestedAndHasNoWinnerWhenNothingPasses) {
  std::vector<Record> records = {example_record("a", 64, {1}), example_record("b", 64, {1}),
                                 example_record("a", 128, {1}), example_record("c", 128, {1}),
                                 example_record("d", 256, {})};
  records[1].status = records[2].status = records[3].status = "failed";
  records[4].status = "skipped";
  const auto grids = verdict_grids(records, {h200()}, {});
  ASSERT_EQ(grids.at(0).rows.size(), 1U);
  EXPECT_EQ(grids[0].rows[0].cells.size(), 2U) << "a skipped trial is no race";
  const std::string text = verdict_text(grids, {});
  EXPECT_THAT(text, HasSubstr("1 s  uncontested"));
  EXPECT_THAT(text, HasSubstr("uncontested: no other method"));
  EXPECT_THAT(text, HasSubstr("none passed"));
  EXPECT_THAT(text, HasSubstr("of 2 methods"));
}

TEST(VerdictGrid, TrialsWithoutADeviceGetNoGridOfTheirOwn) {
  std::vector<Record> records = {example_record("a", 64, {1}), example_record("b", 64, {})};
  records[1].status = "skipped";
  records[1].gpu_name.clear();
  records[1].capability = 0;
  EXPECT_EQ(verdict_grids(records, {h200()}, {}).size(), 1U);
}

TEST(VerdictGrid, LimitFractionEqualsPeakShareOfPooledRecords) {
  std::vector<Record> records = {on_cpu(example_record("lapack", 64, {4e-4}), "node1"),
                                 on_cpu(example_record("lapack", 64, {1e-4}), "node1 (4 threads)")};
  records.push_back(records.back());  // the median of the times is now 1e-4 s, which memory bounds
  std::vector<io::DeviceRow> devices;
  for (Record& r : records) {
    io::DeviceRow& row = devices.emplace_back(h200());
    row.gpu_name = "Xeon";
    row.capability = 0;
    row.host = r.host;
    row.gemm_flops_double = devices.size() == 1 ? 1e9 : 4e9;
    row.copy_bytes_per_second = devices.size() == 1 ? 4e12 : 1e8;
    r.bytes = r.problem_bytes;
    r.peak_share =
        roofline_fraction(r, {row.copy_bytes_per_second, row.gemm_flops_float, row.gemm_flops_double});
  }
  const auto grids =
      verdict_grids(records, devices, {machine("node1", "Xeon"), machine("node1 (4 threads)", "Xeon")});
  const VerdictCell& cell = only_cell(grids);
  EXPECT_DOUBLE_EQ(cell.limit_fraction, cell.winner->peak_share);
  EXPECT_EQ(cell.limit.bound, Bound::memory) << "the bound of the median record";
}

TEST(VerdictGrid, LimitComesFromTheProblemNotTheMethod) {
  Record r = example_record("own", 1000, {1e-3});
  r.flops = 1e18;  // the method's own count of its work
  r.bytes = 1e18;
  r.problem_flops = 6e8;
  r.problem_bytes = 8e6;
  const Rates rates{50e12, 60e12, 4e12};
  const Limit gesv = limit_of(r, rates);
  EXPECT_DOUBLE_EQ(gesv.seconds, 6e8 / 60e12);
  EXPECT_EQ(gesv.bound, Bound::compute);
  r.problem = "of a later version";
  r.precision = "float";
  r.problem_flops = 1e6;
  r.problem_bytes = 2e6;
  const Limit later = limit_of(r, rates);
  EXPECT_DOUBLE_EQ(later.seconds, 2e6 / 4e12);
  EXPECT_EQ(later.bound, Bound::memory);
  EXPECT_TRUE(std::isnan(limit_of(r, {}).seconds));
  r.problem_flops = io::Record::unknown;
  EXPECT_TRUE(std::isnan(limit_of(r, rates).seconds));
}

TEST(VerdictGrid, EachGpuCompetesWithTheCpuOfItsMachine) {
  std::vector<Record> records = {example_record("cusolver", 64, {2}),
                                 example_record("cusolver", 64, {1}),
                                 on_cpu(example_record("lapack", 64, {3}), "node1"),
                                 on_cpu(example_record("lapack", 64, {0.5}), "node2"),
                                 on_cpu(example_record("lapack", 64, {0.1}), "node3"),
                                 on_cpu(example_record("mine", 64, {0.01}), "node1")};
  records[1].gpu_name = "Tesla K40c";
  records[1].capability = 35;
  records[1].host = "node2";
  records[5].backend = "emulated";
  const auto grids = verdict_grids(
      records, {h200()}, {machine("node1", "Xeon"), machine("node2", "Opteron"), machine("node3", "EPYC")});
  ASSERT_EQ(grids.size(), 3U);
  const auto winner_of = [&](std::size_t i) {
    const VerdictCell& cell = grids[i].rows.at(0).cells.at(64);
    return fmt::format("{}: {} by {:g}", grids[i].device, cell.winner->first().method, cell.lead);
  };
  EXPECT_EQ(winner_of(0), "NVIDIA H200: cusolver by 1.5") << "an emulated kernel does not compete with a GPU";
  EXPECT_EQ(winner_of(1), "Tesla K40c: lapack by 2");
  EXPECT_EQ(winner_of(2), "EPYC: lapack by nan");
  EXPECT_GT(grids[0].rows[0].cells.at(64).limit_fraction, 0);
  EXPECT_TRUE(std::isnan(grids[1].rows[0].cells.at(64).limit_fraction)) << "not measured";
  EXPECT_THAT(verdict_text(grids, {}), HasSubstr("lapack (CPU)"));
  EXPECT_THAT(verdict_text(grids, {}), HasSubstr("NVIDIA H200 (9.0), with methods on Xeon\n"));
}

TEST(VerdictGrid, GpuCompetesWithOtherMachinesCpusIfItsMachineHasNoCpuTrials) {
  const std::vector<Record> records = {example_record("cusolver", 64, {2}),
                                       on_cpu(example_record("lapack", 64, {1}), "node3")};
  const auto grids = verdict_grids(records, {}, {machine("node3", "EPYC")});
  EXPECT_EQ(only_cell(grids).winner->first().method, "lapack");
  EXPECT_THAT(grids[0].cpus, ElementsAre("EPYC"));
}

TEST(VerdictGrid, OneGpuAndSeveralCompete) {
  std::vector<Record> records = {example_record("recursive", 1000, {4}),
                                 example_record("multi_gpu", 1000, {2})};
  for (Record& r : records) r.problem_flops = 120e12, r.problem_bytes = 1;
  records[0].gpu_count = "1";
  records[1].gpu_count = "2";
  const auto grids = verdict_grids(records, {h200()}, {}, /*baseline=*/"recursive");
  const VerdictCell& cell = only_cell(grids);
  EXPECT_DOUBLE_EQ(cell.lead, 2);
  EXPECT_DOUBLE_EQ(cell.speedup, 2);
  EXPECT_DOUBLE_EQ(cell.limit_fraction, 0.5) << "the peak is that of both GPUs";
  EXPECT_THAT(verdict_text(grids, {}), HasSubstr("multi_gpu (2 GPUs)"));
}

TEST(VerdictGrid, NoTwoTasksShareARace) {
  std::vector<Record> records;
  for (const char* parameters : {R"({"condition":10.0})", R"({"condition":1000000000000.0})"}) {
    for (const std::int64_t nrhs : {1, 3}) {
      for (const std::string uplo : {"lower", "upper"}) {
        for (const std::int64_t seed : {1, 2}) {
          for (const std::string method : {"a", "b"}) {
            Record r = example_record(method, 64, {1});
            r.problem = "trsv";
            r.matrix = r.matrix_kind = "condition";
            r.matrix_parameters = parameters;
            r.matrix_digest = fmt::format("{}{}{}", parameters, nrhs, seed);
            r.nrhs = nrhs;
            r.uplo = uplo;
            r.matrix_seed = seed;
            records.push_back(r);
          }
        }
      }
    }
  }
  Record rebuilt = records[0];  // another matrix of the same name, from another build
  rebuilt.matrix_digest = "0123456789abcdef";
  records.push_back(rebuilt);
  const auto grids = verdict_grids(records, {}, {});
  ASSERT_EQ(grids.size(), 1U);
  EXPECT_EQ(grids[0].rows.size(), 17U);
  std::set<std::string> labels;
  for (const VerdictRow& row : grids[0].rows) {
    EXPECT_EQ(row.cells.size(), 1U);
    labels.insert(row.matrix + ": " + row.details);
  }
  EXPECT_EQ(labels.size(), 17U);
  EXPECT_EQ(labels.count("condition condition=10: nrhs 1, lower, seed 1, digest 01234567"), 1U);
  EXPECT_EQ(labels.count("condition condition=1e+12: nrhs 3, upper, seed 2"), 1U);
}

// As the report does: each seed counts once, with the median of its rounds.
TEST(VerdictGrid, PoolsRoundsBeforeSeeds) {
  std::vector<Record> records;
  const std::vector<std::vector<double>> rounds_of_seeds = {{1, 1, 9}, {2, 2, 9}, {3, 9, 9}};
  for (std::size_t seed = 0; seed < 3; ++seed) {
    for (std::size_t round = 0; round < 3; ++round) {
      for (const std::string method : {"a", "b"}) {
        Record r = with_seed(method, static_cast<std::int64_t>(seed),
                             method == "a" ? rounds_of_seeds[seed][round] : 2.5);
        r.round = static_cast<std::int64_t>(round + 1);
        records.push_back(r);
      }
    }
  }
  const auto grids = verdict_grids(records, {}, {});
  const VerdictCell& cell = grids.at(0).pooled_rows.at(0).cells.at(64);
  EXPECT_EQ(cell.winner->first().method, "a");
  EXPECT_EQ(cell.winner->median, 2) << "the median of all rounds is 3";
  EXPECT_DOUBLE_EQ(cell.winner->gflops, cell.winner->flops / 2 * 1e-9);
}

TEST(VerdictGrid, PrintsSeedsAsOneRowAndListsEachInTheTable) {
  std::vector<Record> records;
  for (const std::int64_t seed : {1, 2, 3, 4}) {
    for (const std::string method : {"a", "b"}) {
      records.push_back(with_seed(method, seed, method == "a" ? 1.0 + static_cast<double>(seed) : 4.5));
    }
  }
  const auto grids = verdict_grids(records, {}, {});
  EXPECT_EQ(verdict_table(grids).rows.size(), 4U);
  EXPECT_EQ(grids.at(0).rows.size(), 4U);
  const std::string text = verdict_text(grids, {});
  EXPECT_THAT(text, HasSubstr("a 3 of 4\n")) << "b wins with seed 4";
  EXPECT_THAT(text, HasSubstr("3.5 s  1.29x\n")) << "a takes 2, 3, 4 and 5 seconds, b always 4.5";
  EXPECT_THAT(text, Not(HasSubstr("seed 1")));
  EXPECT_THAT(verdict_markdown(grids), HasSubstr("a 3 of 4<br>3.5 s  1.29x"));
}

TEST(VerdictGrid, PooledWinnerPassedWithEverySeed) {
  std::vector<Record> records;
  for (const std::int64_t seed : {1, 2}) {
    for (const std::string method : {"lucky", "sound"}) {
      Record r = with_seed(method, seed, method == "lucky" ? 1.0 : 2.0 * static_cast<double>(seed));
      if (method == "lucky" && seed == 2) r.status = "failed";
      records.push_back(r);
    }
  }
  const auto grids = verdict_grids(records, {}, {});
  ASSERT_EQ(grids.at(0).pooled_rows.size(), 1U);
  const VerdictCell& cell = grids[0].pooled_rows[0].cells.at(64);
  EXPECT_EQ(cell.winner->first().method, "sound");
  EXPECT_DOUBLE_EQ(cell.winner->median, 3) << "the mean of the two middle times";
  EXPECT_EQ(cell.runner_up, nullptr);
  EXPECT_EQ(cell.races, 2);
  EXPECT_EQ(cell.wins, 1);
}

TEST(VerdictGrid, OnlySeedsWithTheSameMethodsArePooled) {
  std::vector<Record> records;
  const auto add = [&](const std::string& method, std::int64_t seed, double seconds) {
    records.push_back(with_seed(method, seed, seconds));
  };
  add("slow", 1, 50);  // seed 1 has another pair of methods than seeds 2 and 3
  add("steady", 1, 4);
  for (const std::int64_t seed : {2, 3}) {
    add("steady", seed, 3);
    add("quick", seed, 1);
  }
  const auto grids = verdict_grids(records, {}, {});
  const VerdictCell& cell = grids.at(0).pooled_rows.at(0).cells.at(64);
  EXPECT_EQ(cell.winner->first().method, "quick");
  EXPECT_DOUBLE_EQ(cell.lead, 3) << "over seeds 2 and 3";
  EXPECT_EQ(std::pair(cell.wins, cell.races), std::pair(std::int64_t{2}, std::int64_t{2}));
}

/// Two seeds ran with two methods each. The names of the methods do not decide which seed counts.
TEST(VerdictGrid, TheSeedWithTheVendorsMethodCounts) {
  std::vector<Record> records;
  const auto add = [&](const std::string& method, std::int64_t seed, double seconds) {
    records.push_back(with_seed(method, seed, seconds));
    records.back().reference_method = "vendors";
  };
  add("an", 1, 1);
  add("other", 1, 2);
  add("other", 2, 3);
  add("vendors", 2, 2);
  const auto grids = verdict_grids(records, {}, {});
  EXPECT_EQ(grids.at(0).pooled_rows.at(0).cells.at(64).winner->first().method, "vendors");
}

TEST(VerdictGrid, EmulatedKernelsDoNotWinIfOthersRanWithAnotherSeed) {
  std::vector<Record> records;
  for (const std::int64_t seed : {1, 2}) {
    Record r = with_seed("a_kernel", seed, 1);
    r.backend = "emulated";
    records.push_back(r);
  }
  records.push_back(records.front());
  records.back().method = "lapack";
  records.back().backend = "host";
  const auto grids = verdict_grids(records, {}, {});
  const VerdictCell& cell = grids.at(0).pooled_rows.at(0).cells.at(64);
  EXPECT_EQ(cell.winner->first().method, "lapack");
  EXPECT_FALSE(cell.lacks_seeds);
  EXPECT_THAT(verdict_text(grids, {}), HasSubstr("uncontested"));
}

TEST(VerdictGrid, LacksSeedsOnlyIfNoOtherMethodSharesThem) {
  std::vector<Record> records;
  const auto add = [&](const std::string& method, const std::string& backend, std::int64_t seed,
                       double seconds) {
    Record r = with_seed(method, seed, seconds);
    r.backend = backend;
    records.push_back(r);
  };
  const auto cell = [&] {
    const auto grids = verdict_grids(records, {}, {});
    const VerdictCell& found = grids.at(0).pooled_rows.at(0).cells.at(64);
    return std::pair(found.runner_up != nullptr, found.lacks_seeds);
  };
  for (const std::int64_t seed : {1, 2, 3, 4, 5}) add("a_kernel", "emulated", seed, 1);
  for (const std::int64_t seed : {1, 2}) add("lapack", "host", seed, 2);
  EXPECT_EQ(cell(), std::pair(false, false)) << "emulated kernels do not compete";
  add("jordan", "host", 9, 9);
  EXPECT_EQ(cell(), std::pair(false, true));
  for (const std::int64_t seed : {2, 3}) add("serial", "host", seed, 3);
  EXPECT_EQ(cell(), std::pair(true, false)) << "lapack and serial share seed 2";
}

TEST(VerdictGrid, BatchesShareARowIfEachSizeHasOneBatchSize) {
  const auto batch = [](std::int64_t n, std::int64_t systems) {
    Record r = example_record("batched", n, {1});
    r.batch = systems;
    r.matrix_digest = fmt::format("{}x{}", n, systems);
    return r;
  };
  std::vector<Record> records = {batch(8, 1000), batch(16, 500), example_record("batched", 32, {1})};
  auto grids = verdict_grids(records, {}, {});
  ASSERT_EQ(grids.at(0).rows.size(), 2U);
  EXPECT_EQ(grids[0].rows[1].details, "batches");
  EXPECT_THAT(verdict_text(grids, {}), HasSubstr("batch 1000         batch 500"));
  EXPECT_THAT(verdict_sentences(grids), HasSubstr("batches, batch 500 on"));

  records = {batch(8, 1000), batch(16, 1000), batch(8, 20), batch(16, 20)};
  grids = verdict_grids(records, {}, {});
  ASSERT_EQ(grids.at(0).rows.size(), 2U);
  EXPECT_EQ(grids[0].rows[0].details, "batch 20");
  EXPECT_EQ(grids[0].rows[1].details, "batch 1000");
  EXPECT_EQ(grids[0].rows[1].cells.size(), 2U);
}

TEST(VerdictGrid, PoolsTheSeedsOfEachBatchSizeInAnyOrderOfRecords) {
  const auto batch = [](std::int64_t n, std::int64_t systems, std::int64_t seed) {
    Record r = example_record("batched", n, {1});
    r.batch = systems;
    r.matrix_seed = seed;
    r.matrix_digest = fmt::format("{}x{} {}", n, systems, seed);
    return r;
  };
  std::vector<Record> records;
  for (const std::int64_t n : {8, 16}) {
    for (const std::int64_t systems : {20, 50}) {
      for (const std::int64_t seed : {1, 100}) records.push_back(batch(n, systems, seed));
    }
  }
  for (std::size_t first = 0; first < records.size(); ++first) {
    std::rotate(records.begin(), records.begin() + 3, records.end());
    const auto grids = verdict_grids(records, {}, {});
    ASSERT_EQ(grids.at(0).pooled_rows.size(), 2U);
    EXPECT_EQ(grids[0].pooled_rows[0].details, "batch 20");
    EXPECT_EQ(grids[0].pooled_rows[1].details, "batch 50");
    for (const VerdictRow& row : grids[0].pooled_rows) {
      ASSERT_EQ(row.cells.size(), 2U);
      for (const auto& [n, cell] : row.cells) {
        EXPECT_EQ(cell.races, 2);
        EXPECT_EQ(fmt::format("batch {}", cell.any_group->first().batch), row.details);
      }
    }
    const std::string sentences = verdict_sentences(grids);
    EXPECT_EQ(std::count(sentences.begin(), sentences.end(), '\n'), 4) << "one per case, not per seed";
  }
  records = {batch(8, 1000, 1), batch(16, 500, 1), batch(8, 1000, 2)};  // one batch size per n
  const auto grids = verdict_grids(records, {}, {});
  ASSERT_EQ(grids.at(0).pooled_rows.size(), 1U);
  EXPECT_EQ(grids[0].pooled_rows[0].details, "batches");
  EXPECT_EQ(grids[0].pooled_rows[0].cells.at(8).races, 2);
}

TEST(VerdictGrid, WrapsSizesIntoFurtherBlocksAndCutsNothing) {
  std::vector<Record> records;
  for (std::int64_t n = 64; n <= 16384; n *= 2) {
    records.push_back(example_record("gauss_cyclic_decrement", n, {1.234e-3, 1.235e-3}));
    records.push_back(example_record("cusolver", n, {2e-3}));
  }
  const auto grids = verdict_grids(records, {h200()}, {});
  std::size_t lines = 0;
  for (const std::size_t width : {200, 120, 80}) {
    const std::string text = verdict_text(grids, {width, false});
    EXPECT_LE(widest_line(text), width) << text;
    for (std::int64_t n = 64; n <= 16384; n *= 2)
      EXPECT_THAT(text, HasSubstr(fmt::format(" {}", n))) << "at " << width;
    std::size_t wins = 0;
    for (std::size_t at = 0; (at = text.find("gauss_cyclic_decrement", at)) != std::string::npos; ++at)
      ++wins;
    EXPECT_EQ(wins, 9U);
    const auto now = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_GT(now, lines) << "a narrower page has more blocks";
    lines = now;
  }
  EXPECT_EQ(verdict_text(grids, {10, false}), verdict_text(grids, {1, false}))
      << "at least one column per block";
}

TEST(VerdictGrid, ColoursDistinguishMethodsIfEnabled) {
  const std::vector<Record> records = {example_record("a", 64, {1}), example_record("b", 64, {2}),
                                       example_record("a", 128, {2}), example_record("b", 128, {1}),
                                       example_record("a", 256, {1})};
  const auto grids = verdict_grids(records, {h200()}, {});
  EXPECT_THAT(verdict_text(grids, {120, false}), Not(HasSubstr("\033")));
  const std::string text = verdict_text(grids, {120, true});
  EXPECT_THAT(text, HasSubstr("\033[1;32ma\033[0m")) << "wins most";
  EXPECT_THAT(text, HasSubstr("\033[1;36mb\033[0m"));
}

TEST(VerdictGrid, ReplacesControlCharactersInNames) {
  Record r = example_record("a\033[2J", 64, {1});
  r.matrix = "b\n.mtx";
  r.gpu_name = "c\033c";
  const std::string text = verdict_text(verdict_grids({r}, {}, {}), {120, false});
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, Not(HasSubstr("b\n")));
}

TEST(VerdictGrid, BaselineIsTheVendorUnlessChosen) {
  std::vector<Record> records = {example_record("fast", 64, {1}), example_record("next", 64, {2}),
                                 example_record("vendor", 64, {3}),
                                 on_cpu(example_record("lapack", 64, {4}))};
  for (Record& r : records) r.reference_method = r.backend == "host" ? "lapack" : "vendor";
  records[0].forward_error = 3e-14;
  const auto grids = verdict_grids(records, {}, {});
  EXPECT_EQ(only_cell(grids).lead, 2);
  EXPECT_EQ(only_cell(grids).speedup, 3);
  EXPECT_THAT(verdict_text(grids, {120, false}), HasSubstr("3.00x vendor"));
  EXPECT_THAT(verdict_sentences(grids),
              HasSubstr("/fast, 1 s, 3 times as fast as vendor, about 13 correct digits.\n"));
  records[0].forward_error = 3e-2;
  EXPECT_THAT(verdict_sentences(verdict_grids(records, {}, {})), HasSubstr("about 1 correct digit.\n"));
  const auto others = verdict_grids(records, {}, {}, "lapack");
  EXPECT_EQ(only_cell(others).speedup, 4);
  EXPECT_EQ(render_json(verdict_table(others))[0]["baseline"], "lapack");
  // If the vendor wins, its lead over the next method is shown, and no comparison with itself.
  records.erase(records.begin(), records.begin() + 2);
  EXPECT_THAT(verdict_sentences(verdict_grids(records, {}, {})),
              HasSubstr("1.3 times as fast as the next, lapack."));
}

TEST(VerdictGrid, ADoubtfulWinnerIsCalledSo) {
  std::vector<Record> records = {example_record("fast", 64, {1}), example_record("next", 64, {2})};
  EXPECT_THAT(verdict_sentences(verdict_grids(records, {}, {})), Not(HasSubstr("doubtful")));
  records[0].timing = "suspect";
  EXPECT_THAT(verdict_sentences(verdict_grids(records, {}, {})), HasSubstr("doubtful"));
}

TEST(VerdictGrid, SentencesHaveNoExponentsAndNoLeadOverEmulation) {
  std::vector<Record> records = {on_cpu(example_record("serial", 64, {1e-3})),
                                 on_cpu(example_record("lapack", 64, {0.234}))};
  for (Record& r : records) r.reference_method = "lapack";
  EXPECT_THAT(verdict_sentences(verdict_grids(records, {}, {})), HasSubstr(", 234 times as fast as lapack"));
  records[1].backend = "emulated";
  for (Record& r : records) r.reference_method.clear();
  const std::string sentences = verdict_sentences(verdict_grids(records, {}, {}));
  EXPECT_THAT(sentences, HasSubstr("/serial, 1 ms"));
  EXPECT_THAT(sentences, Not(HasSubstr("times as fast")));
}

TEST(VerdictGrid, EmulatedKernelsRaceWithOneAnotherOnly) {
  std::vector<Record> records = {on_cpu(example_record("quick", 64, {1e-3})),
                                 on_cpu(example_record("lapack", 64, {2e-3})),
                                 on_cpu(example_record("serial", 64, {3e-3}))};
  records[0].backend = "emulated";
  const std::vector<VerdictGrid> grids = verdict_grids(records, {}, {}, "quick");
  EXPECT_EQ(only_cell(grids).winner->first().method, "lapack");
  EXPECT_EQ(only_cell(grids).runner_up->first().method, "serial");
  EXPECT_EQ(only_cell(grids).baseline, nullptr);
  EXPECT_EQ(only_cell(grids).methods, 2);
  records[1].status = records[2].status = "failed";
  EXPECT_EQ(only_cell(verdict_grids(records, {}, {})).winner, nullptr);
  for (Record& r : records) r.status = "pass";
  for (Record& r : records) r.backend = "emulated";
  EXPECT_EQ(only_cell(verdict_grids(records, {}, {})).winner->first().method, "quick");
  const std::string text = verdict_text(verdict_grids(records, {}, {}), {120, false});
  EXPECT_THAT(text, Not(HasSubstr("2.00x"))) << "an emulated kernel has no lead";
}

TEST(VerdictGrid, MarkdownHasOneRowPerTask) {
  std::vector<Record> records = {example_record("fast_one", 64, {1e-3}), example_record("slow", 64, {2e-3})};
  EXPECT_EQ(verdict_markdown(verdict_grids(records, {}, {})),
            "### NVIDIA H200 (9.0)\n\n| n | 64 |\n|---|---|\n| **gesv double**<br>cauchy | fast\\_one<br>1 "
            "ms  2.00x |\n");
}

TEST(VerdictGrid, LatexHasOneRowPerTask) {
  std::vector<Record> records = {example_record("fast_one", 64, {1e-3}), example_record("slow", 64, {2e-3})};
  EXPECT_EQ(verdict_latex(verdict_grids(records, {}, {})),
            "% NVIDIA H200 (9.0)\n\\begin{tabular}{ll}\n\\toprule\nn & 64 \\\\\n\\midrule\n"
            "\\begin{tabular}[t]{@{}l@{}}gesv double\\\\cauchy\\end{tabular} & "
            "\\begin{tabular}[t]{@{}l@{}}fast\\_one\\\\1 ms  2.00x\\end{tabular} \\\\\n"
            "\\bottomrule\n\\end{tabular}\n");
}

TEST(VerdictGrid, SentencesNameSizeAndMatrixIfTheyDiffer) {
  std::vector<Record> records = {example_record("fast", 64, {1}), example_record("fast", 100, {2})};
  const std::string sizes = verdict_sentences(verdict_grids(records, {}, {}));
  EXPECT_THAT(sizes, HasSubstr(", n = 64 on "));
  EXPECT_THAT(sizes, HasSubstr(", n = 100 on "));
  records[1] = example_record("fast", 64, {2});
  records[1].matrix = records[1].matrix_kind = records[1].matrix_digest = "hilbert";
  const std::string matrices = verdict_sentences(verdict_grids(records, {}, {}));
  EXPECT_THAT(matrices, HasSubstr(", hilbert on "));
  EXPECT_THAT(matrices, Not(HasSubstr("n = ")));
}

TEST(VerdictGrid, ExceedingTheLimitHasAFootnote) {
  Record r = example_record("mixed", 64, {1e-12});
  EXPECT_THAT(verdict_text(verdict_grids({r}, {h200()}, {}), {120, false}), HasSubstr("* memory: "));
  r = example_record("mixed", 8192, {1e-12});
  EXPECT_THAT(verdict_text(verdict_grids({r}, {h200()}, {}), {120, false}), HasSubstr("* compute: "));
  r = example_record("mixed", 64, {1});
  EXPECT_THAT(verdict_text(verdict_grids({r}, {h200()}, {}), {120, false}), Not(HasSubstr("*")));
}

TEST(VerdictGrid, TableForProgramsHasOneRowPerRaceWithExactNumbers) {
  std::vector<Record> records = {example_record("a", 64, {1e-3}), example_record("b", 64, {3e-3}),
                                 example_record("c", 128, {1})};
  records[2].status = "failed";
  const auto json = render_json(verdict_table(verdict_grids(records, {h200()}, {})));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["device"], "NVIDIA H200");
  EXPECT_EQ(json[0]["winner"], "a");
  EXPECT_EQ(json[0]["runner_up"], "b");
  EXPECT_EQ(json[0]["lead"], 3e-3 / 1e-3);
  EXPECT_EQ(json[0]["tie"], 0);
  EXPECT_EQ(json[0]["median"], 1e-3);
  EXPECT_EQ(json[0]["bound"], "memory");
  EXPECT_EQ(json[0]["share"].get<double>(), json[0]["limit"].get<double>() / 1e-3);
  EXPECT_EQ(json[1]["winner"], nullptr);
  EXPECT_EQ(json[1]["methods"], 1);
}

}  // namespace
}  // namespace gaussweep::driver
