// Tests `merge`, and the loading of run directories, journals and results files.

#include "driver/results/merge.hpp"

#include <nlohmann/json.hpp>
#include <regex>

#include "io/files/errors.hpp"
#include "io/records/journal.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/io/records/record_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

Loaded input(const std::string& path, std::vector<Record> records, const std::string& plan_name = "p") {
  Loaded loaded;
  loaded.path = path;
  loaded.results.records = std::move(records);
  loaded.results.attributes = {{"plan_name", plan_name}, {"run_id", "id of " + path}, {"total", "3"}};
  return loaded;
}

TEST(Merge, JoinsDifferentTrialsInOrder) {
  const Merged merged =
      merge({input("a", {example_record("m", 1, {1})}), input("b", {example_record("m", 2, {1, 2})})},
            /*force=*/false);
  ASSERT_EQ(merged.results.records.size(), 2U);
  EXPECT_EQ(merged.results.records[0].n, 1);
  EXPECT_EQ(merged.results.records[1].sample_list.size(), 2U);
  EXPECT_EQ(merged.inputs[0].expected, 3);
  EXPECT_EQ(merged.results.attributes.at("record_count"), "2");
  EXPECT_EQ(merged.results.attributes.at("run_id"), "id of a, id of b");
  EXPECT_EQ(merged.results.attributes.at("plan_name"), "p");
  EXPECT_EQ(nlohmann::json::parse(merged.results.attributes.at("merged_from")).size(), 2U);
}

TEST(Merge, KeepsOneOfTwoIdenticalRecords) {
  const Record r = example_record("m", 1, {1});
  const Merged merged = merge({input("a", {r}), input("b", {r})}, /*force=*/false);
  EXPECT_EQ(merged.results.records.size(), 1U);
  EXPECT_EQ(merged.inputs[0].dropped, 0);
  EXPECT_EQ(merged.inputs[1].dropped, 1);
}

TEST(Merge, KeepsTheLaterOfTwoRunsOfATrial) {
  Record first = example_record("m", 1, {1}), retried = first;
  first.status = "crashed";
  retried.start_time = "2026-03-01T00:05:00Z";
  for (const bool swapped : {false, true}) {
    const Merged merged = swapped ? merge({input("a", {retried}), input("b", {first})}, /*force=*/false)
                                  : merge({input("a", {first}), input("b", {retried})}, /*force=*/false);
    ASSERT_EQ(merged.results.records.size(), 1U);
    EXPECT_EQ(merged.results.records[0].status, "pass");
    EXPECT_EQ(merged.inputs[swapped ? 1 : 0].dropped, 1);
  }
}

TEST(Merge, KeepsTheLaterJudgementAndNamesIt) {
  Record first = example_record("m", 1, {1});
  first.judged_time = first.end_time = "2026-03-01T00:00:01.000001Z";
  Record again = first;
  again.status = "failed";
  again.tolerance = 1;
  again.judged_time = "2026-03-02T00:00:00.000000Z";
  for (const bool swapped : {false, true}) {
    const Merged merged = swapped ? merge({input("a", {again}), input("b", {first})}, /*force=*/false)
                                  : merge({input("a", {first}), input("b", {again})}, /*force=*/false);
    ASSERT_EQ(merged.results.records.size(), 1U);
    EXPECT_EQ(merged.results.records[0].status, "failed");
    ASSERT_EQ(merged.remarks.size(), 1U);
    for (const char* word : {"n=1", "pass", "failed", "by 1 in", "in a", "in b"})
      EXPECT_NE(merged.remarks[0].find(word), std::string::npos) << merged.remarks[0];
  }
}

TEST(Merge, KeepsTheLaterOfTwoRunsWithinOneSecond) {
  Record first = example_record("m", 1, {1}), retried = first;
  first.end_time = "2026-03-01T00:00:01.200000Z";
  retried.end_time = "2026-03-01T00:00:01.700000Z";
  first.status = "crashed";
  const Merged merged = merge({input("a", {first}), input("b", {retried})}, /*force=*/false);
  EXPECT_EQ(merged.results.records[0].status, "pass");
  EXPECT_TRUE(merged.remarks.empty());
}

TEST(Merge, KeepsTheOrderBehindDroppedRecords) {
  const auto record = [](int n) { return example_record("m", n, {1.0 * n}); };
  Record later = record(1);
  later.start_time = "2026-03-01T00:05:00Z";
  later.status = "failed";
  const Merged merged = merge({input("a", {record(1), record(2)}), input("b", {record(2), record(3)}),
                               input("c", {later, record(4), record(4), record(5)})},
                              /*force=*/false);
  ASSERT_EQ(merged.results.records.size(), 5U);
  for (int n = 1; n <= 5; ++n) {
    EXPECT_EQ(merged.results.records[n - 1].n, n);
    ASSERT_EQ(merged.results.records[n - 1].sample_list.size(), 1U);
    EXPECT_EQ(merged.results.records[n - 1].sample_list[0].seconds, n);
  }
  EXPECT_EQ(merged.results.records[0].status, "failed");
  const auto dropped = [&](int i) { return merged.inputs[i].dropped; };
  EXPECT_EQ((std::vector<std::int64_t>{dropped(0), dropped(1), dropped(2)}),
            (std::vector<std::int64_t>{1, 1, 1}));
}

TEST(Merge, SeparatesRunGpuCapabilityAndCommit) {
  const Record r = example_record("m", 1, {1});
  std::vector<Record> others(4, r);
  others[0].run_id = "run-2";
  others[1].gpu_name = "Tesla K40c";
  others[2].capability = 35;
  others[3].commit = "def";
  const Merged merged = merge({input("a", {r}), input("b", others)}, /*force=*/false);
  EXPECT_EQ(merged.results.records.size(), 5U) << "two architectures are kept apart";
  EXPECT_EQ(merged.inputs[1].dropped, 0);
}

TEST(Merge, RefusesDifferentPlansUnlessForced) {
  const auto both = [] {
    return std::vector<Loaded>{input("a.h5", {example_record("m", 1, {1})}, "night"),
                               input("b.h5", {example_record("m", 2, {1})}, "day")};
  };
  const std::string message = message_of<io::InputError>([&] { merge(both(), /*force=*/false); });
  for (const char* word : {"a.h5", "b.h5", "night", "day", "--force"}) {
    EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
  }
  const Merged merged = merge(both(), /*force=*/true);
  EXPECT_EQ(merged.results.records.size(), 2U);
  const auto parts = nlohmann::json::parse(merged.results.attributes.at("merged_from"));
  EXPECT_EQ(parts.at(0).at("plan_name"), "night");
  EXPECT_EQ(parts.at(1).at("plan_name"), "day");
}

/// Returns a shard of a plan with 16 trials. @param shard "1/4", or several as in merged results
Loaded shard_input(const std::string& shard, std::int64_t total, std::vector<Record> records) {
  Loaded loaded = input("runs/" + shard, std::move(records));
  loaded.results.attributes["shard"] = shard;
  loaded.results.attributes["total"] = std::to_string(total);
  loaded.results.attributes["plan_trials"] = "16";
  return loaded;
}

TEST(Merge, CountsThePlannedTrialsAndNamesShardsWithoutRecords) {
  const auto record = [](std::int64_t n) { return std::vector{example_record("m", n, {1})}; };
  const auto merged_attributes = [](std::vector<Loaded> inputs, const std::vector<fs::path>& absent = {}) {
    const auto attributes = merge(std::move(inputs), /*force=*/false, absent).results.attributes;
    const auto get = [&](const char* name) { return attributes.count(name) > 0 ? attributes.at(name) : ""; };
    return std::pair(get("total"), get("without_records"));
  };
  using Pair = std::pair<std::string, std::string>;
  const Loaded first = shard_input("1/4", 5, record(1)), second = shard_input("2/4", 7, {}),
               fourth = shard_input("4/4", 4, record(2)), empty = shard_input("2/4", 0, {});
  EXPECT_EQ(merged_attributes({first, fourth, second}), Pair("16", R"(["shard 2 of 4"])"))
      << "the third shard has no trial";
  EXPECT_EQ(merged_attributes({first, fourth}, {"runs/shard-2-of-4"}),
            Pair("16", R"(["shard 2 of 4","shard 3 of 4"])"));
  EXPECT_EQ(merged_attributes({first, fourth, empty}), Pair("16", R"(["shard 3 of 4"])"));
  Loaded partial = input("night/results.h5", {record(1)[0], record(2)[0]});
  partial.results.attributes.insert({{"shard", "1/4, 4/4"}, {"plan_trials", "16"}});
  partial.results.attributes["total"] = "16";
  partial.results.attributes["without_records"] = R"(["shard 2 of 4","shard 3 of 4"])";
  const Loaded third = shard_input("3/4", 3, record(3));
  EXPECT_EQ(merged_attributes({partial, third}), Pair("16", R"(["shard 2 of 4"])"));
  EXPECT_EQ(merged_attributes({first, first}).first, "") << "the same run twice";
  EXPECT_EQ(merged_attributes({input("hopper", record(1))}, {"runs/ampere"}), Pair("3", R"(["ampere"])"));
  EXPECT_EQ(merged_attributes({input("hopper", record(1)), input("runs/ampere/results.h5", {})}),
            Pair("6", R"(["ampere"])"));
  EXPECT_EQ(merged_attributes({first}), Pair("5", "")) << "one run";
}

TEST(Merge, ListsDevicesAndHostsOnce) {
  Loaded a = input("a", {}), b = input("b", {});
  io::DeviceRow device;
  device.host = "node1";
  device.gpu_uuid = "GPU-1";
  a.results.devices = b.results.devices = {device};
  device.gpu_uuid = "GPU-2";
  b.results.devices.push_back(device);
  io::HostRow host;
  host.host = "node1";
  a.results.hosts = b.results.hosts = {host};
  const Merged merged = merge({a, b}, /*force=*/false);
  EXPECT_EQ(merged.results.devices.size(), 2U);
  EXPECT_EQ(merged.results.hosts.size(), 1U);
}

class Loading : public ::testing::Test {
 protected:
  void append(const Record& record) {
    io::JournalWriter writer(folder_ / "journal.jsonl");
    writer.append(record);
    writer.sync();
  }
  TestFolder scratch_;
  const fs::path& folder_ = scratch_.folder();
};

TEST_F(Loading, RebuildsTheResultsFromAJournalAlone) {
  append(example_record("m", 1, {1, 2, 3}));
  append(example_record("m", 2, {4}));
  const Merged merged = merge({load(folder_, /*with_details=*/true)}, /*force=*/false);
  io::write_results(folder_ / "results.h5", merged.results);
  const io::Results back = io::read_results(folder_ / "results.h5");
  ASSERT_EQ(back.records.size(), 2U);
  EXPECT_EQ(back.records[0].sample_list.size(), 3U);
  EXPECT_EQ(back.records[1].key, "key-m-2");
}

TEST_F(Loading, ReadsTheJournalOfARunDirectory) {
  append(example_record("m", 1, {1}));
  io::write_results(folder_ / "results.h5", load(folder_ / "journal.jsonl", /*with_details=*/true).results);
  append(example_record("m", 2, {1}));
  EXPECT_EQ(load(folder_, /*with_details=*/false).results.records.size(), 2U);
  EXPECT_TRUE(load(folder_, /*with_details=*/false).remarks.empty());
  fs::remove(folder_ / "journal.jsonl");
  EXPECT_EQ(load(folder_, /*with_details=*/false).results.records.size(), 1U);
}

TEST_F(Loading, ReplacesDamagedLinesFromAnAgreeingResultsFile) {
  const fs::path journal = folder_ / "journal.jsonl", results = folder_ / "results.h5";
  append(example_record("m", 1, {1}));
  append(example_record("m", 2, {1}));
  const io::Results whole = load(journal, /*with_details=*/true).results;
  set_file_text(journal,
                std::regex_replace(file_text(journal), std::regex("\"key\":\"key-m-1"), "\"key\":\"kex-m-1"));
  const auto loaded_with = [&](const char* words) {
    const Loaded loaded = load(folder_, /*with_details=*/true);
    EXPECT_NE(loaded.remarks.at(0).find("1 damaged line was left out (line 1"), std::string::npos);
    EXPECT_NE(loaded.remarks.back().find(words), std::string::npos) << loaded.remarks.back();
    return loaded.results.records.size();
  };
  EXPECT_EQ(loaded_with("damaged"), 1U);
  io::write_results(results, whole);
  EXPECT_EQ(loaded_with("results.h5 has the records of the damaged lines"), 2U);
  Record retried = example_record("m", 2, {1});
  for (const auto change : {+[](Record& r) { r.status = "failed"; }, +[](Record& r) { r.expected = 1; }}) {
    change(retried);
    append(retried);
    EXPECT_EQ(loaded_with("results.h5 differs from the journal"), 1U);
    io::Results rewritten = whole;
    rewritten.records[1] = retried;
    io::write_results(results, rewritten);
    EXPECT_EQ(loaded_with("results.h5 has the records"), 2U);
  }
  set_file_text(results, "not HDF5 at all");
  EXPECT_EQ(loaded_with("results.h5 cannot be read"), 1U);
}

TEST_F(Loading, RefusesAResultsFileWithAChangedFigure) {
  append(example_record("m", 1, {1}));
  const fs::path results = folder_ / "results.h5";
  io::write_results(results, load(folder_, /*with_details=*/true).results);
  std::string whole = file_text(results);
  // Damages the name of a column in the table's type; HDF5 then sees an absent column.
  const std::size_t place = whole.find(std::string("residual_ratio\0", 15));
  ASSERT_NE(place, std::string::npos);
  whole[place] = 'R';
  set_file_text(results, whole);
  const std::string message = message_of<io::InputError>([&] { load(results, /*with_details=*/true); });
  for (const char* word : {"it is damaged", "'residual_ratio' of /records"})
    EXPECT_NE(message.find(word), std::string::npos) << message;
}

TEST_F(Loading, DropsATornLineAndReportsIt) {
  append(example_record("m", 1, {1}));
  const fs::path journal = folder_ / "journal.jsonl";
  set_file_text(journal, file_text(journal) + "{\"allocate_seconds\":null,\"key\":\"half");
  const Loaded loaded = load(folder_, /*with_details=*/true);
  EXPECT_EQ(loaded.results.records.size(), 1U);
  ASSERT_EQ(loaded.remarks.size(), 1U);
  EXPECT_NE(loaded.remarks[0].find("incomplete"), std::string::npos);
}

TEST_F(Loading, RefusesForeignFiles) {
  EXPECT_THROW(load(folder_ / "absent", /*with_details=*/false), io::InputError);
  EXPECT_THROW(load(folder_, /*with_details=*/false), io::InputError) << "an empty folder";
  set_file_text(folder_ / "notes.txt", "hello\nworld\n");
  EXPECT_THROW(load(folder_ / "notes.txt", /*with_details=*/false), io::InputError);
}

}  // namespace
}  // namespace gaussweep::driver
