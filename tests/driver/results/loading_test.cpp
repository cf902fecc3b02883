// Tests which run directories an argument stands for, and that missing shards are reported.

#include "driver/results/loading.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using Paths = std::vector<std::filesystem::path>;

TEST(RunsUnder, FindsTheRunDirectoriesBelowADirectory) {
  const TestFolder scratch;
  const std::filesystem::path night = scratch / "night";
  for (const char* name : {"shard-10-of-12", "shard-9-of-12", "shard-1-of-12"}) {
    std::filesystem::create_directories(night / name / "logs");
    std::ofstream(night / name / "journal.jsonl");
  }
  std::filesystem::create_directories(night / "empty");
  std::filesystem::create_directories(night / "h200" / "monday" / "matrices");
  std::ofstream(night / "h200" / "monday" / "results.h5");
  const Paths shards{night / "shard-1-of-12", night / "shard-9-of-12", night / "shard-10-of-12"};
  EXPECT_EQ(runs_under(night), (Paths{night / "h200" / "monday", shards[0], shards[1], shards[2]}));
  EXPECT_EQ(runs_under(shards[0]), Paths{shards[0]});
  EXPECT_EQ(runs_under(night / "empty"), Paths{night / "empty"}) << "its reader reports the error";
  EXPECT_EQ(runs_under(night / "none"), Paths{night / "none"});
  const std::filesystem::path file = night / "h200" / "monday" / "results.h5";
  EXPECT_EQ(runs_under(file), Paths{file});
  EXPECT_TRUE(unread_results({night, night / "h200", shards[0], file}).empty());
  const Paths all = runs_under(night);
  std::ofstream(night / "results.h5");  // merged; a shard may have run since
  EXPECT_EQ(runs_under(night), all);
  EXPECT_EQ(runs_under(night, true), shards);
  EXPECT_EQ(unread_results({night, shards[0]}).size(), 1U);
}

TEST(RunsUnder, AShardBelongsToItsFolder) {
  EXPECT_EQ(sweep_of("night/shard-10-of-12"), "night");
  EXPECT_EQ(sweep_of("night/shard-1-of-2.old"), "night/shard-1-of-2.old");
  EXPECT_EQ(sweep_of("night/sweep"), "night/sweep");
}

TEST(RunsUnder, NamesMissingShards) {
  EXPECT_EQ(
      missing_shards({"a/shard-1-of-3", "a/shard-3-of-3", "b/shard-1-of-1", "a/monday", "a/shard-2-of-3.old"},
                     {"a", "b"}),
      std::vector<std::string>{"a/shard-2-of-3 is not there"});
  EXPECT_TRUE(missing_shards({"monday", "tuesday"}, {"."}).empty());
  EXPECT_TRUE(missing_shards({"a/shard-3-of-4"}, {"a/shard-3-of-4"}).empty()) << "the only requested one";
  EXPECT_EQ(missing_shards({"shard-1-of-3/", "shard-3-of-3"}, {"shard-1-of-3/", "shard-3-of-3"}),
            std::vector<std::string>{"shard-2-of-3 is not there"});
  const TestFolder scratch;
  std::filesystem::create_directories(scratch / "shard-2-of-3");
  const std::string first = scratch / "shard-1-of-3", third = scratch / "shard-3-of-3";
  EXPECT_EQ(missing_shards({first, third}, {first, third}).size(), 1U) << "the second one has not started";
  std::ofstream(scratch / "shard-2-of-3" / "journal.jsonl");
  EXPECT_TRUE(missing_shards({first, third}, {first, third}).empty()) << "the second one was left out";
}

TEST(IncompleteSweeps, TheJournalKnowsTheShard) {
  const auto missing = [](const std::vector<PlanPart>& parts, const std::vector<std::string>& requested) {
    std::vector<std::string> messages;
    for (const IncompleteSweep& sweep : incomplete_sweeps(parts, requested))
      messages.insert(messages.end(), sweep.missing.begin(), sweep.missing.end());
    return messages;
  };
  const PlanPart first{"runs/part-1", {1, 3}, "p"}, third{"runs/part-3", {3, 3}, "p"};
  const std::vector<std::string> second{"shard 2 of 3 of the plan p is not there"};
  EXPECT_EQ(missing({first, third}, {"runs"}), second);
  EXPECT_EQ(missing({first, third}, {"runs/part-1", "runs/part-3"}), second);
  EXPECT_TRUE(missing({first}, {"runs/part-1"}).empty()) << "the only requested one";
  EXPECT_EQ(missing({first}, {"runs"}).size(), 2U);
  EXPECT_TRUE(missing({first, third, {"elsewhere/b", {2, 3}, "p"}}, {"runs", "elsewhere"}).empty());
  EXPECT_EQ(missing({first, third, {"runs/b", {2, 3}, "another"}}, {"runs"}).size(), 3U);
  EXPECT_TRUE(missing({{"runs/whole", {}, "p"}}, {"runs"}).empty());
  EXPECT_EQ(missing({{"mon/a", {1, 2}, "p"}, {"mon/b", {2, 2}, "p"}, {"tue/a", {1, 2}, "p"}}, {"."}),
            std::vector<std::string>{"shard 2 of 2 of the plan p is not there"})
      << "two nights";
}

/// Returns the notes on `trials` trials, of which the first `busy` ran while other programs used the CPUs.
std::string notes_on(const char* backend, int trials, int busy, int throttled = 0) {
  std::vector<io::Record> records(static_cast<std::size_t>(trials));
  for (int i = 0; i < trials; ++i) {
    io::Record& record = records[static_cast<std::size_t>(i)];
    record.backend = backend;
    record.samples = 5;
    record.cpu_demand = i < busy ? 2 + i : 0.5;
    record.throttled = i < throttled ? 1 : 0;
    record.throttle_reason = i < throttled ? "hw_slowdown" : "";
  }
  testing::internal::CaptureStderr();
  note_conditions(records, "base: ");
  return testing::internal::GetCapturedStderr();
}

TEST(NoteConditions, NamesBusyCpusAndThrottling) {
  EXPECT_EQ(
      notes_on("host", 10, 2),
      "note: base: other programs used the CPUs during 2 of 10 trials on the CPU (2.0 to 3.0 threads per "
      "CPU wanted to run): their times may be too long\n");
  EXPECT_EQ(notes_on("host", 10, 1), "") << "one reading of one trial is chance";
  EXPECT_EQ(notes_on("cuda", 10, 10), "");
  EXPECT_EQ(notes_on("cuda", 3, 0, 2),
            "note: base: 2 of 3 trials on a GPU had samples under throttling: hw_slowdown\n");
}

TEST(NoteConditions, NamesThreadsOfPooledTimes) {
  io::Results results;
  results.hosts.resize(2);
  results.records.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    results.hosts[i].host = results.records[i].host = std::to_string(i);
    results.hosts[i].blas_threads = static_cast<std::int64_t>(i) + 1;
    results.records[i].backend = "host";
  }
  testing::internal::CaptureStderr();
  note_conditions(results);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "note: CPU methods ran with 1 and 2 threads per rank; their times are pooled\n");
}

TEST(NoteConditions, NamesVersionsOfALibrary) {
  std::vector<io::Record> records(2);
  records[0].library = records[1].library = "mine.so";
  records[0].library_digest = "aaaa";
  records[1].library_digest = "bbbb";
  testing::internal::CaptureStderr();
  note_libraries(records);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "note: library mine.so has 2 versions: aaaa (1), bbbb (1); their times are pooled\n");
  testing::internal::CaptureStderr();
  note_conditions(records);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the caller may not pool the times, as trend";
}

}  // namespace
}  // namespace gaussweep::driver
