// Tests that no two different trials share a row, a race or a name.
#include <fmt/format.h>

#include "driver/compare/compare.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/summary.hpp"
#include "driver/summary/trial_columns.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns records for two matrix files and two condition numbers, each with both triangles, 1 and 3
/// right-hand sides, three seeds and two methods. All have n = 64 and equal times.
std::vector<Record> similar_records() {
  struct Matrix {
    const char *name, *parameters, *kind;
  };
  const Matrix matrices[] = {{"a.mtx", R"({"sha256":"0a"})", "file"},
                             {"b.mtx", R"({"sha256":"0b"})", "file"},
                             {"condition", R"({"condition":10.0,"mode":3})", "condition"},
                             {"condition", R"({"condition":1000000000000.0,"mode":3})", "condition"}};
  std::vector<Record> records;
  for (const Matrix& matrix : matrices) {
    for (const std::string uplo : {"lower", "upper"}) {
      for (const std::int64_t nrhs : {1, 3}) {
        for (const std::int64_t seed : {1, 2, 3}) {
          for (const std::string method : {"cusolver", "mine"}) {
            Record r = example_record(method, 64, {1, 1, 1});
            r.problem = "trsv";
            r.uplo = uplo;
            r.nrhs = nrhs;
            r.matrix = matrix.name;
            r.matrix_parameters = matrix.parameters;
            r.matrix_kind = matrix.kind;
            r.matrix_seed = seed;
            const bool seeded =
                r.matrix_kind != "file";  // a file's digest does not depend on the seed of x_true
            r.matrix_digest =
                fmt::format("{}{:x} nrhs={} seed={}", seeded ? "" : "file",
                            std::hash<std::string>()(matrix.parameters), nrhs, seeded ? seed : 0);
            r.key = fmt::format("key-{}", records.size());
            records.push_back(std::move(r));
          }
        }
      }
    }
  }
  return records;
}
constexpr std::size_t tasks = 4 * 2 * 2 * 3, trials = 2 * tasks;

std::set<std::vector<Cell>> distinct_rows(const Table& table) {
  return {table.rows.begin(), table.rows.end()};
}

TEST(Identity, NoTwoTrialsShareARowOfTheSummary) {
  const std::vector<Record> records = similar_records();
  const std::vector<Group> groups = group_records(records);
  ASSERT_EQ(groups.size(), trials);
  for (const Group& group : groups) EXPECT_EQ(group.records.size(), 1U);
  const Table table = summary_table(groups, /*full=*/false);
  EXPECT_EQ(distinct_rows(table).size(), trials) << "two rows look the same:\n"
                                                 << render_text(table, any_width);
}

TEST(Identity, NoTwoTasksShareARace) {
  std::vector<Record> records = similar_records();
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].seconds_median = i % 2 == 0 ? 1 : 1 + static_cast<double>(i);  // each `mine` has its own time
  std::vector<Group> groups = group_records(records);
  const std::vector<Group> best = best_groups(groups);
  ASSERT_EQ(best.size(), tasks);
  for (const Group& group : best) EXPECT_EQ(group.first().method, "cusolver");
  set_speedups(groups, groups, "mine");
  for (std::size_t i = 0; i < groups.size(); i += 2)
    EXPECT_DOUBLE_EQ(groups[i].speedup, 2 + static_cast<double>(i))
        << "relative to its own task, in row " << i;
}

TEST(Identity, NoTwoTrialsShareAPairOrRowInCompare) {
  const Comparison comparison = compare(results_of(similar_records()), results_of(similar_records()), {});
  ASSERT_EQ(comparison.pairs.size(), trials);
  for (const Pair& pair : comparison.pairs) EXPECT_EQ(pair.now.run.samples, 3);
  const Table shown = pair_table(comparison, Reader::person);
  EXPECT_EQ(distinct_rows(shown).size(), trials) << render_text(shown, any_width);
  std::set<std::string> keys;
  for (const auto& row : render_json(pair_table(comparison, Reader::program))) keys.insert(row["key"]);
  EXPECT_EQ(keys.size(), trials);
}

TEST(Identity, NoTwoTrialsShareASeriesOverSizes) {
  std::vector<Record> on_other_gpu = similar_records();
  for (Record& record : on_other_gpu) record.gpu_name = "NVIDIA B200";
  const Comparison comparison = compare(results_of(similar_records()), results_of(on_other_gpu), {});
  std::set<std::string> series;
  for (const Crossover& crossover : comparison.crossovers) series.insert(crossover.series);
  EXPECT_EQ(series.size(), trials);
}

TEST(Identity, AnotherBMakesAnotherTask) {
  std::vector<Record> records(3, example_record("cublas", 64, {1}));
  for (Record& r : records) r.problem = "gemm";
  records[1].matrix_parameters = R"({"b":"ones","b_value":1.0})";
  records[2].matrix_parameters = R"({"b":"ones","b_value":2.0})";
  for (Record& r : records) r.matrix = "uniform";
  EXPECT_EQ(group_records(records).size(), 3U);
  records[0].m = 32;
  records[1] = records[2] = records[0];
  records[1].k = 128;
  EXPECT_EQ(distinct_rows(summary_table(group_records(records), /*full=*/false)).size(), 2U);
}

TEST(Identity, MatrixNamesContainOnlyWhatVaries) {
  const std::vector<Record> records = similar_records();
  std::vector<const Record*> all;
  for (const Record& record : records) all.push_back(&record);
  const MatrixNames names(all);
  EXPECT_EQ(names.of(records.front()), "a.mtx") << "no other file has this name";
  EXPECT_EQ(names.of(records.back()), "condition condition=1e+12") << "mode is the same in all";
  const MatrixNames alone({&records.back()});
  EXPECT_EQ(alone.of(records.back()), "condition condition=1e+12") << "named even if all matrices have it";

  Record same_name = records.front();
  same_name.matrix_parameters = R"({"sha256":"0c"})";
  const MatrixNames files({&records.front(), &same_name});
  EXPECT_EQ(files.of(same_name), "a.mtx sha256=0c");
}

TEST(Identity, PinnedTrialsDifferFromPageableOnes) {
  Record older = example_record("cusolver", 64, {1, 1, 1}), pageable = older, pinned = older;
  pageable.host_memory = "pageable";
  pinned.host_memory = "pinned";
  EXPECT_EQ(task_identity(older), task_identity(pageable)) << "older files are pageable";
  EXPECT_NE(task_identity(pinned), task_identity(pageable));
  EXPECT_NE(trial_identity(pinned), trial_identity(pageable));
  EXPECT_TRUE(NeededColumns({&older, &pageable}).conditions.empty());
  EXPECT_EQ(NeededColumns({&older, &pinned}).conditions, std::set<std::string>{"host_memory"});
}

TEST(Identity, OmitsColumnsThatDoNotVary) {
  const std::vector<Record> one = {example_record("gauss", 64, {1}), example_record("lapack", 64, {1})};
  const std::string text = render_text(summary_table(group_records(one), /*full=*/false), any_width);
  for (const char* column : {"NRHS", "UPLO", "SEED", "M x K"}) EXPECT_THAT(text, Not(HasSubstr(column)));
  const std::vector<Record> many = similar_records();
  const std::string whole = render_text(summary_table(group_records(many), /*full=*/false), any_width);
  for (const char* column : {"NRHS", "UPLO", "SEED", "condition=10 "}) EXPECT_THAT(whole, HasSubstr(column));
}

TEST(Identity, FiltersFindFilesByName) {
  Filter filter;
  filter.matrices = {"b.mtx"};
  EXPECT_EQ(filter_records(similar_records(), filter).size(), trials / 4);
  filter.matrices = {"file"};
  EXPECT_EQ(filter_records(similar_records(), filter).size(), trials / 2);
}

TEST(Identity, CommonParametersAreStatedOnce) {
  const ParameterNames names(std::vector<std::string>{
      R"({"blocks":1,"threads":0})", R"({"blocks":4,"threads":0})", R"({"order":"rows"})", "{}"});
  EXPECT_EQ(names.common(), "threads=0 order=rows");
  EXPECT_EQ(names.of(R"({"blocks":4,"threads":0})"), "blocks=4");
  EXPECT_EQ(names.of("{}"), "");
  EXPECT_EQ(names.of(R"({"blocks":9})"), "blocks=9") << "an unknown trial";
  io::Record record;
  record.parameters = "{}";
  EXPECT_EQ(names.common({&record}), "") << "a table of methods without parameters";
  record.parameters = R"({"blocks":4,"threads":0})";
  EXPECT_EQ(names.common({&record}), "threads=0");
  const ParameterNames one(std::vector<std::string>{R"({"blocks":1})"});
  EXPECT_EQ(one.common() + one.of(R"({"blocks":1})"), "blocks=1") << "one trial has its own";
}

}  // namespace
}  // namespace gaussweep::driver
