// Tests results.h5: round trips, Python's view of it, other versions, damage, and full disks.
#include "io/records/results.hpp"

#include <nlohmann/json.hpp>

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "tests/io/records/record_samples.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// Returns results in which every table has rows, and every field of a record is set.
Results full_results(int records) {
  Results results;
  for (int i = 1; i <= records; ++i) results.records.push_back(full_record(i));
  DeviceRow device;
  device.gpu_uuid = "GPU-1";
  device.gpu_name = "A GPU";
  device.host = "knoten-ä";
  device.capability = 90;
  device.multiprocessors = 132;
  device.total_bytes = std::int64_t{150} << 30;
  device.ecc = 1;
  device.driver_version = 13000;
  device.runtime_version = 12080;
  device.copy_bytes_per_second = 4.1e12;
  device.gemm_flops_float = 5e13;
  device.gemm_flops_double = Record::unknown;
  results.devices = {device};
  HostRow host;
  host.host = "knoten-ä";
  host.cpu = "a CPU";
  host.os = "Linux";
  host.cores = 96;
  host.blas_threads = 12;
  host.memory_bytes = std::int64_t{1} << 40;
  results.hosts = {host};
  results.attributes = {{"plan", "name: übung\nsweep:\n"}, {"commit", "abc"}, {"empty", ""}};
  return results;
}

/// Returns devices, hosts and attributes as JSON; NaN becomes null.
std::string rest_of(const Results& results) {
  return nlohmann::json{results.devices, results.hosts, results.attributes}.dump();
}

void expect_same(const Results& a, const Results& b) {
  ASSERT_EQ(a.records.size(), b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) io::expect_same(a.records[i], b.records[i]);
  EXPECT_EQ(rest_of(a), rest_of(b));
}

/// Returns true if both would give the same results.h5, bit by bit.
bool same(const Results& a, const Results& b) {
  const auto records = [](const Results& results) {
    std::string text;
    for (const Record& record : results.records) text += to_json(record).dump() + "\n";
    return text;
  };
  return records(a) == records(b) && rest_of(a) == rest_of(b);
}

/// Returns the error of reading a results.h5, or "".
std::string read_error(const std::filesystem::path& path) {
  return message_of<InputError>([&] { read_results(path); });
}

/// Returns the error of tests/io/records/results_check.py, or "".
std::string check_results(const std::vector<std::string>& arguments) {
  return run_python("tests/io/records/results_check.py", arguments);
}

std::size_t entries_of(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

class ResultsFile : public testing::Test {
 protected:
  const MemoryFolder scratch;
};

TEST_F(ResultsFile, RoundTripKeepsEverything) {
  const Results results = full_results(700);  // several chunks
  write_results(scratch / "r.h5", results);
  expect_same(read_results(scratch / "r.h5"), results);
  EXPECT_EQ(entries_of(scratch.folder()), 1u) << "a temporary was left behind";
}

TEST_F(ResultsFile, RoundTripKeepsEmptyTables) {
  write_results(scratch / "r.h5", {});
  expect_same(read_results(scratch / "r.h5"), Results{});
  Results one;
  one.records.emplace_back();  // all defaults: every string but one is empty
  write_results(scratch / "r.h5", one);
  expect_same(read_results(scratch / "r.h5"), one);
}

TEST_F(ResultsFile, DetailsCanBeSkipped) {
  write_results(scratch / "r.h5", full_results(3));
  Results expected = full_results(3);
  for (Record& record : expected.records) {
    record.sample_list.clear();
    record.stages.clear();
    record.history.clear();
  }
  expect_same(read_results(scratch / "r.h5", false), expected);
}

TEST_F(ResultsFile, AttributesMayBeLong) {
  Results results;
  results.attributes["plan"] = std::string(300000, 'p') + "ü";
  for (int i = 0; i < 40; ++i) results.attributes["fact_" + std::to_string(i)] = std::string(1000, 'f');
  write_results(scratch / "r.h5", results);
  EXPECT_EQ(read_results(scratch / "r.h5").attributes, results.attributes);
}

TEST_F(ResultsFile, TextIsCutToItsWidthAsValidUtf8) {
  Results results = full_results(3);
  results.records[0].message = "at \xff!";
  results.records[1].message = std::string(4094, 'x') + "ééé";
  results.records[2].message = std::string(4096, 'y');
  write_results(scratch / "r.h5", results);
  const Results read = read_results(scratch / "r.h5");
  EXPECT_EQ(read.records[0].message, "at \uFFFD!");
  EXPECT_EQ(read.records[1].message, std::string(4093, 'x') + "…");
  EXPECT_EQ(read.records[2].message, results.records[2].message);
}

TEST_F(ResultsFile, PythonReadsTheSame) {
  const Results results = full_results(5);
  write_results(scratch / "r.h5", results);
  nlohmann::json expected = nlohmann::json::array();
  for (const Record& record : results.records) expected.push_back(to_json(record));
  set_file_text(scratch / "expected.json", expected.dump());
  write_results(scratch / "empty.h5", {});
  EXPECT_EQ(check_results({"check", (scratch / "r.h5").string(), (scratch / "expected.json").string(),
                           (scratch / "empty.h5").string()}),
            "");
}

TEST_F(ResultsFile, DocumentMatchesTheFile) {
  write_results(scratch / "r.h5", full_results(2));
  EXPECT_EQ(
      check_results({"document", (scratch / "r.h5").string(), (source_folder() / "io/SCHEMA.md").string()}),
      "");
}

TEST_F(ResultsFile, ReadsOlderAndNewerFilesByColumnName) {
  ASSERT_EQ(check_results({"make", scratch.folder().string()}), "");
  // Two rows with another order and other widths, no details, and an unknown column and table.
  const Results old = read_results(scratch / "old.h5");
  ASSERT_EQ(old.records.size(), 2u);
  EXPECT_EQ(old.records[1].key, "k2");
  EXPECT_EQ(old.records[1].status, "failed");
  EXPECT_EQ(old.records[1].method, "lapack");
  EXPECT_EQ(old.records[1].n, 64);              // int32 in the file
  EXPECT_EQ(old.records[1].seconds_min, 0.25);  // float32 in the file
  EXPECT_EQ(old.records[1].flops, 7.0);         // int64 in the file
  EXPECT_EQ(old.records[1].parameters, "{}");
  EXPECT_TRUE(std::isnan(old.records[1].gflops));
  EXPECT_TRUE(old.records[1].sample_list.empty());
  EXPECT_TRUE(old.devices.empty());
  EXPECT_EQ(old.attributes.at("plan"), "name: alt");
  EXPECT_EQ(old.attributes.count("schema_version"), 0u);
}

TEST_F(ResultsFile, RefusesANewerSchemaAndReadsAnOlderOne) {
  ASSERT_EQ(check_results({"make", scratch.folder().string()}), "");
  EXPECT_EQ(read_results(scratch / "version_0.h5").records.at(0).method, "lapack");
  EXPECT_THAT(
      read_error(scratch / "version_2.h5"),
      AllOf(HasSubstr("version_2.h5"), HasSubstr("newer gaussweep (schema version 2"), HasSubstr("up to 1")));
  EXPECT_THAT(read_error(scratch / "version_text.h5"), HasSubstr("not a whole number"));
}

TEST_F(ResultsFile, RefusesForeignFilesAndNamesTheExpectedOnes) {
  const auto expected = HasSubstr("expected a results.h5 of gaussweep");
  EXPECT_THAT(read_error(scratch / "none.h5"), AllOf(HasSubstr("No such file"), expected));
  EXPECT_THAT(read_error(scratch.folder()), AllOf(HasSubstr("not a regular file"), expected));
  set_file_text(scratch / "text.h5", "key,status\n");
  EXPECT_THAT(read_error(scratch / "text.h5"), AllOf(HasSubstr((scratch / "text.h5").string()), expected));
  ASSERT_EQ(check_results({"make", scratch.folder().string()}), "");
  EXPECT_THAT(read_error(scratch / "foreign.h5"), AllOf(HasSubstr("schema_version"), expected));
  EXPECT_THAT(read_error(scratch / "keyless.h5"), AllOf(HasSubstr("lacks the column 'key'"), expected));
  EXPECT_THAT(read_error(scratch / "mistyped.h5"), AllOf(HasSubstr("'n' must be an integer"), expected));
  EXPECT_THAT(read_error(scratch / "variable.h5"),
              AllOf(HasSubstr("'key' must be a string of fixed"), expected));
  EXPECT_THAT(read_error(scratch / "array.h5"), AllOf(HasSubstr("compound"), expected));
  EXPECT_THAT(read_error(scratch / "boundless.h5"), AllOf(HasSubstr("claims 1000000000000 rows"), expected));
  EXPECT_THAT(read_error(scratch / "stray.h5"), AllOf(HasSubstr("refers to trial 7"), expected));
}

TEST_F(ResultsFile, TruncatedFileIsAnErrorNotACrash) {
  write_results(scratch / "r.h5", full_results(20));
  const std::string whole = file_text(scratch / "r.h5");
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 50) {
    set_file_text(scratch / "cut.h5", whole.substr(0, size));
    EXPECT_THAT(read_error(scratch / "cut.h5"), HasSubstr("expected a results.h5")) << size;
  }
}

/// Returns the outcome of reading a file, or its error.
std::string outcome_of(const std::filesystem::path& path, const Results& expected, int& unchecked) {
  try {
    const Results read = read_results_in_child(path, true, 20);
    unchecked += !read.checked;
    return same(read, expected) ? "the same" : "other figures, silently";
  } catch (const InputError& error) {
    return error.what();
  }
}

// One flipped bit can change a name, type or number, and HDF5 detects few such changes. The long version, by
// hand: GAUSSWEEP_FLIPS=3200 build/tests/io_tests --gtest_filter=ResultsFile.FlippedBit*
TEST_F(ResultsFile, FlippedBitNeverChangesFigures) {
  const Results expected = full_results(3);
  write_results(scratch / "r.h5", expected);
  const std::string whole = file_text(scratch / "r.h5");
  const char* variable = std::getenv("GAUSSWEEP_FLIPS");
  const int flips = variable != nullptr ? std::atoi(variable) : 150;
  std::mt19937_64 random(20);
  std::map<std::string, int> outcomes;
  int unchecked = 0;
  for (int i = 0; i < flips; ++i) {
    const std::size_t bit = random() % (8 * whole.size());
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    set_file_text(scratch / "flipped.h5", flipped);
    const std::string outcome = outcome_of(scratch / "flipped.h5", expected, unchecked);
    ASSERT_NE(outcome, "other figures, silently") << "bit " << bit;
    for (const char* kind : {"the same", "crashed with", "timed out after", "the checksum of", "Cannot read",
                             "newer gaussweep", "not one of gaussweep's"}) {
      if (outcome.find(kind) == std::string::npos) continue;
      ++outcomes[kind];
      if (kind[0] == 'c' || kind[0] == 'd') std::printf("bit %zu: %s\n", bit, outcome.c_str());
      break;
    }
  }
  int all = 0;
  for (const auto& [kind, count] : outcomes) {
    std::printf("%d of %d flips: %s\n", count, flips, kind.c_str());
    all += count;
  }
  std::printf("%d of them without checksums\n", unchecked);
  EXPECT_EQ(all, flips) << "an unexpected outcome";
  EXPECT_GT(outcomes["the checksum of"], 0) << "no flip was detected";
}

TEST_F(ResultsFile, ChecksumNamesTheDamagedPart) {
  Results results = full_results(1);
  results.records[0].message = "a text that stands once in the file";
  results.attributes["plan"] = "the plan's own text";
  write_results(scratch / "r.h5", results);
  const std::string whole = file_text(scratch / "r.h5");
  // The plan is stored as it is; tables are compressed.
  const std::size_t index = whole.find("the plan's own text");
  ASSERT_NE(index, std::string::npos);
  std::string damaged = whole;
  damaged[index] ^= 1;
  set_file_text(scratch / "d.h5", damaged);
  EXPECT_THAT(read_error(scratch / "d.h5"),
              AllOf(HasSubstr("d.h5"), HasSubstr("it is damaged: the checksum of the attribute 'plan'")));
  // Damages the name of a column; without its checksum the column would only seem to be absent.
  const std::size_t name = whole.find(std::string("seconds_median\0", 15));  // not the one in the checksums
  ASSERT_NE(name, std::string::npos);
  damaged = whole;
  damaged[name] ^= 2;
  set_file_text(scratch / "d.h5", damaged);
  EXPECT_THAT(read_error(scratch / "d.h5"),
              HasSubstr("the checksum of the column 'seconds_median' of /records"));
}

TEST_F(ResultsFile, ReadsFilesWithoutChecksumsAndMarksThem) {
  ASSERT_EQ(check_results({"make", scratch.folder().string()}), "");
  EXPECT_FALSE(read_results(scratch / "old.h5").checked);
  write_results(scratch / "r.h5", full_results(2));
  EXPECT_TRUE(read_results(scratch / "r.h5").checked);
  ASSERT_EQ(check_results({"annotate", (scratch / "r.h5").string()}), "");
  EXPECT_TRUE(read_results(scratch / "r.h5").checked) << "additions are no damage";
  ASSERT_EQ(check_results({"falsify", (scratch / "r.h5").string()}), "");
  EXPECT_THAT(read_error(scratch / "r.h5"), HasSubstr("the checksum of the column 'n' of /records"));
}

TEST_F(ResultsFile, ChildReadsTheSame) {
  const Results results = full_results(700);
  write_results(scratch / "r.h5", results);
  expect_same(read_results_in_child(scratch / "r.h5"), results);
  EXPECT_TRUE(read_results_in_child(scratch / "r.h5").checked);
  expect_same(read_results_in_child(scratch / "r.h5", false), read_results(scratch / "r.h5", false));
  set_file_text(scratch / "text.h5", "no");
  EXPECT_THROW(read_results_in_child(scratch / "none.h5"), InputError);
  EXPECT_EQ(message_of<InputError>([&] { read_results_in_child(scratch / "text.h5"); }),
            read_error(scratch / "text.h5"));
}

TEST_F(ResultsFile, FailedWriteKeepsTheOldFileAndLeavesNoTemporary) {
  const Results old = full_results(2);
  write_results(scratch / "r.h5", old);
  for (const rlim_t free_bytes : {0u, 100u, 10000u}) {
    const std::string message = message_of<StorageError>([&] {
      const SizeLimit limit(free_bytes);
      write_results(scratch / "r.h5", full_results(50));
    });
    EXPECT_THAT(message, AllOf(HasSubstr((scratch / "r.h5").string()), HasSubstr("File too large")))
        << free_bytes;
    EXPECT_EQ(entries_of(scratch.folder()), 1u);
    expect_same(read_results(scratch / "r.h5"), old);
  }
}

TEST_F(ResultsFile, ReportsUnwritablePaths) {
  EXPECT_THROW(write_results(scratch / "no/such/r.h5", {}), StorageError);
  // A folder has the name: the rename fails at the very end.
  std::filesystem::create_directories(scratch / "r.h5" / "x");
  EXPECT_THROW(write_results(scratch / "r.h5", {}), StorageError);
  EXPECT_EQ(entries_of(scratch.folder()), 1u);
}

TEST_F(ResultsFile, OldTemporariesOfKilledWritersAreRemoved) {
  const auto old = scratch / ".r.h5.4711-0.tmp", young = scratch / ".r.h5.4712-0.tmp",
             other = scratch / ".s.h5.1-0.tmp";
  for (const auto& path : {old, young, other}) set_file_text(path, "half");
  const auto past = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  std::filesystem::last_write_time(old, past);
  std::filesystem::last_write_time(other, past);
  write_results(scratch / "r.h5", {});
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(young));
  EXPECT_TRUE(std::filesystem::exists(other));
}

TEST_F(ResultsFile, TemporariesOfKilledProcessesOfThisHostAreRemovedAtOnce) {
  const auto target = scratch / "r.h5";
  const pid_t killed = fork();
  if (killed == 0) _exit(0);
  waitpid(killed, nullptr, 0);
  const auto dead = scratch / temporary_name(target, killed, 0),
             alive = scratch / temporary_name(target, getppid(), 0);
  for (const auto& path : {dead, alive}) set_file_text(path, "half");
  write_results(target, {});
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(alive));
}

TEST_F(ResultsFile, Hdf5PrintsNothing) {
  set_file_text(scratch / "text.h5", "no");
  ::testing::internal::CaptureStderr();
  read_error(scratch / "text.h5");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace gaussweep::io
