// Tests the status of running, ended and killed sweeps.

#include <sys/file.h>
#include <nlohmann/json.hpp>

#include "driver/summary/sweep_status.hpp"
#include "driver/system/clock.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

io::Note note(const char* text) {
  return io::read_note(nlohmann::json::parse(text));
}

TEST(SweepStatus, KilledSweepSaysHowToGoOn) {
  const auto status_text_of = [](const char* more) {
    io::JournalContents journal;
    journal.notes = {note(
        (R"({"note":"run","total":10,"started":"2026-03-01T00:00:00Z","command_line":"build/gaussweep run p.yaml -o d")" +
         std::string(more) + "}")
            .c_str())};
    return status_text(status_of(journal, /*running=*/false, {}, 10), 200);
  };
  EXPECT_THAT(status_text_of(""),
              testing::HasSubstr("go on with build/gaussweep run p.yaml -o d --resume\n"));
  EXPECT_THAT(status_text_of(R"(,"ranks":4)"),
              testing::HasSubstr("go on with mpirun -n 4 build/gaussweep run p.yaml"));
  EXPECT_THAT(status_text_of(R"(,"ranks":4,"job_id":"12")"),
              testing::HasSubstr("its job's command and --resume, unless squeue still lists job 12\n"));
  EXPECT_THAT(status_text_of(R"(,"duet":"d")"), testing::Not(testing::HasSubstr("--resume")));
}

io::JournalContents example_journal() {
  io::JournalContents journal;
  journal.notes = {
      note(R"({"note":"run","run_id":"r","total":10,"plan_name":"night","started":"2026-03-01T00:00:00Z"})")};
  for (int i = 0; i < 4; ++i) {
    journal.records.push_back(example_record("m", i + 1, {1}));
    journal.records.back().start_time = "2026-03-01T00:00:1" + std::to_string(i) + "Z";
    journal.notes_before.push_back(1);
  }
  journal.records[1].status = "crashed";
  journal.records[1].message = "signal 11";
  return journal;
}

TEST(SweepStatus, StepsOfARefinedRunAreOneStart) {
  io::JournalContents journal = example_journal();
  const char* step = R"({"note":"run","total":10,"began":"b","started":"2026-03-01T00:00:00Z"})";
  journal.notes = {note(step), note(step)};
  journal.notes_before = {1, 1, 2, 2};
  const SweepStatus status = status_of(journal, /*running=*/false, {}, 10);
  EXPECT_EQ(std::tuple(status.starts, status.since_start), std::tuple(1, 4));
}

constexpr double midnight = 1772323200;  // 2026-03-01T00:00:00Z

/// Returns the moment `seconds` after midnight, on the adjustable system clock.
Timestamp after_midnight(double seconds) {
  Timestamp moment;
  moment.seconds = midnight + seconds;
  return moment;
}

TEST(SweepStatus, DescribesARunningSweep) {
  const SweepStatus status = status_of(example_journal(), /*running=*/true, after_midnight(20), 10);
  EXPECT_EQ(std::tuple(status.plan_name, status.total, status.done), std::tuple("night", 10, 4));
  EXPECT_EQ(status.counts.at("pass"), 3);
  EXPECT_EQ(status.counts.at("crashed"), 1);
  EXPECT_DOUBLE_EQ(status.trials_per_second, 0.2);
  EXPECT_FALSE(status.seconds_left) << "not reported";
  ASSERT_EQ(status.failures.size(), 1U);
  EXPECT_EQ(status.failures[0].message, "signal 11");
  const std::string text = status_text(status, any_width);
  for (const char* word : {"running", "4 of 10 (40.0%)", "3 pass, 1 crashed", "signal 11"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in:\n" << text;
  }
  EXPECT_EQ(status_json(status)["state"], "running");
}

TEST(SweepStatus, TimeLeftIsTheReportedOneMinusTheTimeSince) {
  io::JournalContents journal = example_journal();
  journal.notes.push_back(
      note(R"({"note":"left","low":60.0,"likely":70.0,"high":200,"time":"2026-03-01T00:00:10.500Z"})"));
  const SweepStatus status = status_of(journal, /*running=*/true, after_midnight(20.5), 10);
  ASSERT_TRUE(status.seconds_left);
  EXPECT_DOUBLE_EQ(status.seconds_left->low, 50);
  EXPECT_DOUBLE_EQ(status.seconds_left->likely, 60);
  EXPECT_DOUBLE_EQ(status.seconds_left->high, 190);
  EXPECT_NE(status_text(status, any_width).find("Left:    50 s to 3 min 10 s\n"), std::string::npos);
  EXPECT_EQ(status_json(status)["seconds_left"], 60);
  EXPECT_DOUBLE_EQ(status_of(journal, /*running=*/true, after_midnight(100), 10).seconds_left->low, 0);
  EXPECT_FALSE(status_of(journal, /*running=*/true, after_midnight(300), 10).seconds_left)
      << "later than estimated";
  EXPECT_FALSE(status_of(journal, /*running=*/false, after_midnight(20.5), 10).seconds_left) << "killed";
  journal.notes.push_back(note(R"({"note":"left","low":null,"likely":null,"high":null})"));
  EXPECT_FALSE(status_of(journal, /*running=*/true, after_midnight(20.5), 10).seconds_left)
      << "the run has no estimate";
  EXPECT_NE(status_text(status_of(journal, /*running=*/true, after_midnight(20.5), 10), any_width)
                .find("Left:    unknown yet\n"),
            std::string::npos);
}

TEST(SweepStatus, CountsTrialsSkippedForNow) {
  io::JournalContents journal = example_journal();
  journal.records[1].is_temporary_failure = true;
  EXPECT_EQ(status_json(status_of(journal, /*running=*/false, after_midnight(20), 10))["for_now"], 1);
}

TEST(SweepStatus, DescribesEndedAndKilledSweeps) {
  io::JournalContents journal = example_journal();
  EXPECT_EQ(status_json(status_of(journal, /*running=*/false, after_midnight(0), 10))["state"], "killed");
  journal.notes.push_back(note(R"({"note":"end","exit_code":5,"reason":"time limit"})"));
  const SweepStatus status = status_of(journal, /*running=*/false, after_midnight(1e6), 10);
  EXPECT_TRUE(status.ended);
  EXPECT_EQ(status.exit_code, 5);
  EXPECT_FALSE(status.seconds_left);
  EXPECT_DOUBLE_EQ(status.trials_per_second, 4.0 / 13) << "the time since does not lower the rate";
  EXPECT_THAT(status_text(status, any_width),
              testing::HasSubstr("ended with exit code 5 (time limit); go on with gaussweep run"));
}

TEST(SweepStatus, ResumeCountsFromItsStart) {
  io::JournalContents journal = example_journal();
  journal.notes.push_back(
      note(R"({"note":"left","low":60,"likely":70,"high":200,"time":"2026-03-01T00:00:10Z"})"));
  journal.notes.push_back(note(R"({"note":"end","exit_code":5,"reason":"signal"})"));
  journal.notes.push_back(note(R"({"note":"vanished","keys":["key-m-1"]})"));
  journal.notes.push_back(
      note(R"({"note":"run","run_id":"r","total":9,"plan_name":"night","started":"2026-03-01T00:00:12Z"})"));
  journal.notes_before[2] = journal.notes_before[3] = 5;  // these records were made after the resume
  const SweepStatus status = status_of(journal, /*running=*/true, after_midnight(16), 10);
  EXPECT_EQ(status.starts, 2);
  EXPECT_FALSE(status.ended);
  EXPECT_EQ(std::tuple(status.vanished, status.done, status.since_start), std::tuple(1, 3, 2));
  EXPECT_DOUBLE_EQ(status.trials_per_second, 0.5);
  EXPECT_FALSE(status.seconds_left) << "reported by the earlier start";
}

TEST(SweepStatus, DeviceTableSaysThatItBeginsAtTheLastStart) {
  SweepStatus status;
  DeviceUse use;
  use.device = "GPU";
  use.span = 10;
  use.seconds.assign(phases().size(), 1);
  status.devices = {use};
  const auto has_remark = [&] {
    return status_text(status, any_width).find("since the last start") != std::string::npos;
  };
  status.starts = 1;
  EXPECT_FALSE(has_remark());
  status.starts = 2;
  EXPECT_TRUE(has_remark());
}

TEST(SweepStatus, ShardCountsItsTrialsOnly) {
  io::JournalContents journal = example_journal();
  journal.notes[0] =
      note(R"({"note":"run","total":3,"plan_name":"night","started":"2026-03-01T00:00:00Z","shard":"2/2"})");
  const char* keys[] = {"0a2", "0a3", "0a5", "0a7"};  // the even key belongs to the other shard
  for (std::size_t i = 0; i < 4; ++i) journal.records[i].key = keys[i];
  const SweepStatus status = status_of(journal, /*running=*/true, after_midnight(20), 10);
  EXPECT_EQ(status.done, 3);
  EXPECT_EQ(status.of_other_shards, 1);
  EXPECT_EQ(status.counts.at("pass"), 3) << "the status of all records";
  EXPECT_NE(status_text(status, any_width).find("3 of 3 (100.0%), and 1 of other shards"), std::string::npos);
  EXPECT_FALSE(status.seconds_left) << "this shard is complete";
  journal.records[0].round = 2;
  EXPECT_EQ(status_of(journal, /*running=*/true, after_midnight(20), 10).of_other_shards, 0)
      << "the shard of a later round is that of the start that recorded it, not that of its key";
}

TEST(SweepStatus, RateUsesTheMorePreciseStart) {
  const auto rate = [](const char* began) {
    io::JournalContents journal = example_journal();
    const std::string start = R"({"note":"run","total":10,"started":"2026-03-01T00:00:12Z","began":")";
    journal.notes[0] = note((start + began + "\"}").c_str());
    journal.notes.push_back(note(R"({"note":"end","exit_code":0,"reason":""})"));
    for (io::Record& record : journal.records) record.start_time = "2026-03-01T00:00:14Z";
    return status_of(journal, /*running=*/false, after_midnight(1e6), 10).trials_per_second;
  };
  EXPECT_DOUBLE_EQ(rate("2026-03-01T00:00:12.500000Z"), 4 / 1.5);
  EXPECT_DOUBLE_EQ(rate("2026-03-01T00:00:11.400000Z"), 4 / 2.0) << "MPI started in between";
  EXPECT_DOUBLE_EQ(rate(""), 4 / 2.0) << "an older version";
}

TEST(SweepStatus, RateUsesTheMonotonicClock) {
  io::JournalContents journal = example_journal();
  journal.notes[0] = note(
      R"({"note":"run","total":10,"started":"2026-03-01T00:00:00Z","clock":{"boot":"b","uptime":1000.0}})");
  Timestamp now = after_midnight(-3600);  // the system clock was set back by an hour, 40 s after the start
  now.boot = "b";
  now.uptime = 1040;
  EXPECT_DOUBLE_EQ(status_of(journal, /*running=*/true, now, 10).trials_per_second, 0.1);
  now.boot = "another machine, or another start of it";
  const SweepStatus unknown = status_of(journal, /*running=*/true, now, 10);
  EXPECT_TRUE(std::isnan(unknown.trials_per_second));
  EXPECT_NE(status_text(unknown, any_width).find("the clock was set back"), std::string::npos);
}

TEST(SweepStatus, RecordsOfAnEarlierStartAreNeverFresh) {
  io::JournalContents journal = example_journal();  // its records begin at 00:00:10
  journal.notes.push_back(note(R"({"note":"run","total":10,"started":"2026-03-01T00:00:00Z"})"));
  const SweepStatus status = status_of(journal, /*running=*/true, after_midnight(20), 10);
  EXPECT_EQ(status.since_start, 0);
  EXPECT_TRUE(std::isnan(status.trials_per_second));
}

TEST(SweepStatus, RemarksRecordsOfTwoBuilds) {
  io::JournalContents journal = example_journal();
  EXPECT_TRUE(status_of(journal, /*running=*/false, after_midnight(20), 10).remarks.empty());
  journal.records[3].commit = "def";
  EXPECT_THAT(status_of(journal, /*running=*/false, after_midnight(20), 10).remarks,
              testing::ElementsAre("the records are from 2 builds: commit abc (3), commit def (1)"));
}

TEST(SweepStatus, ShowsNoControlCharacters) {
  io::JournalContents journal = example_journal();
  journal.notes[0] =
      note(R"({"note":"run","total":4,"plan_name":"\u001b[31m\u009bnight\u202e","started":"\u001b"})");
  journal.notes.push_back(note(R"({"note":"end","exit_code":5,"reason":"\u001b[2J"})"));
  journal.notes.push_back(note(R"({"note":"retired","rank":1,"reason":"\u001b[2J"})"));
  journal.records[1].message = "\x1b[2J\nline";
  const std::string text =
      status_text(status_of(journal, /*running=*/false, after_midnight(20), 10), any_width);
  for (const char* hidden : {"\x1b", "\xC2\x9B", "\u202e"})
    EXPECT_EQ(text.find(hidden), std::string::npos) << text;
  EXPECT_NE(text.find("\uFFFD[31m\uFFFDnight\uFFFD"), std::string::npos) << text;
}

/// Returns a journal with failed trials of the orders 0 to count - 1.
io::JournalContents failures(int count) {
  io::JournalContents journal;
  for (int i = 0; i < count; ++i) {
    journal.records.push_back(example_record("m", i, {}));
    journal.records.back().status = "failed";
    journal.notes_before.push_back(0);
  }
  return journal;
}

TEST(SweepStatus, KeepsTheNewestFailures) {
  const io::JournalContents journal = failures(1000);
  const SweepStatus status = status_of(journal, /*running=*/false, after_midnight(0), 3);
  ASSERT_EQ(status.failures.size(), 3U);
  EXPECT_EQ(status.failures[0].n, 997);
  EXPECT_EQ(status.failures[2].n, 999);
  EXPECT_EQ(status.counts.at("failed"), 1000);
  EXPECT_THAT(status_text(status, any_width), testing::HasSubstr("Not as expected (1000, the last 3):"));
  EXPECT_TRUE(status_of(journal, /*running=*/false, after_midnight(0), 0).failures.empty());
}

TEST(SweepStatus, SeveralRunsSayHowManyFailuresAreListed) {
  const io::JournalContents journal = failures(26);
  const auto text = [&](std::size_t max_failures) {
    const SweepStatus one = status_of(journal, /*running=*/false, after_midnight(0), max_failures);
    return statuses_text(Statuses{{{"a", one}, {"b", one}}}, any_width);
  };
  EXPECT_THAT(text(8), testing::HasSubstr("(52, 16 of them listed):"));
  EXPECT_THAT(text(26), testing::HasSubstr("(52):"));
}

TEST(SweepStatus, ExpectedFailuresAreFindings) {
  io::JournalContents journal = example_journal();
  for (Record& record : journal.records) record.expected = 1;
  journal.records[2].status = "failed";
  journal.records[3].expected = 0;  // an unexpected pass
  const SweepStatus status = status_of(journal, /*running=*/false, after_midnight(20), 10);
  EXPECT_EQ(status.unexpected, 1);
  ASSERT_EQ(status.failures.size(), 1U);
  EXPECT_EQ(status.failures[0].n, 4);
  EXPECT_EQ(status.findings.at("failed"), 1);
  EXPECT_EQ(status.findings.at("crashed"), 1);
  const std::string text = status_text(status, any_width);
  EXPECT_THAT(text, testing::HasSubstr("Expected failures: 1 failed, 1 crashed"));
  EXPECT_THAT(text, testing::HasSubstr("Not as expected (1):"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("signal 11")));
  EXPECT_EQ(status_json(status)["findings"]["failed"], 1);

  for (Record& record : journal.records) record.matrix = "condition";
  journal.records[0].matrix_parameters = R"({"condition":10.0})";
  for (const std::size_t other : {1, 2, 3})
    journal.records[other].matrix_parameters = R"({"condition":1e12})";
  EXPECT_THAT(status_text(status_of(journal, /*running=*/false, after_midnight(20), 10), any_width),
              testing::HasSubstr("condition=1e+12"))
      << "not the one that passed as expected";
}

TEST(SweepStatus, RateOfAnEndedRunStopsAtItsLastRecordedTime) {
  io::JournalContents journal = example_journal();
  journal.notes.push_back(note(R"({"note":"end","exit_code":0})"));
  journal.records[3].end_time = "2026-03-01T00:00:16.500000Z";
  EXPECT_DOUBLE_EQ(status_of(journal, /*running=*/false, after_midnight(1e6), 10).trials_per_second,
                   4.0 / 16.5);
  journal.notes.pop_back();
  for (const auto& [seconds, text] :
       {std::pair(20, R"({"note":"left","time":"2026-03-01T00:00:20Z"})"),
        std::pair(30, R"({"note":"end","exit_code":5,"time":"2026-03-01T00:00:30Z"})")}) {
    journal.notes.push_back(note(text));
    EXPECT_DOUBLE_EQ(status_of(journal, /*running=*/false, after_midnight(1e6), 10).trials_per_second,
                     4.0 / seconds);
  }
}

TEST(SweepStatus, DescribesAnEmptyJournal) {
  const SweepStatus status = status_of({}, /*running=*/false, after_midnight(0), 10);
  EXPECT_EQ(status.done, 0);
  EXPECT_EQ(status_json(status)["state"], "start not recorded");
  EXPECT_THAT(status_text(status, any_width), testing::HasSubstr("--resume"));
  EXPECT_TRUE(status_json(status)["total"].is_null());
}

TEST(SweepStatus, SeesALockWithoutTakingIt) {
  const TestFolder scratch;
  const std::filesystem::path path = scratch / "lock";
  EXPECT_FALSE(is_locked(path)) << "absent";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(is_locked(path));
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0) << "the query must not keep the lock";
  EXPECT_TRUE(is_locked(path));
  close(fd);
  EXPECT_FALSE(is_locked(path)) << "ends with its holder";
}

TEST(Status, ShowsOneRowPerShardAndTheirSum) {
  io::JournalContents other = example_journal();
  other.records[1].status = "pass";
  other.records[1].message.clear();
  io::JournalContents first = example_journal();
  first.notes.push_back(
      note(R"({"note":"left","low":30,"likely":30,"high":30,"time":"2026-03-01T00:00:20Z"})"));
  const Statuses both{{{"night/shard-1-of-3", status_of(first, /*running=*/true, after_midnight(20), 10)},
                       {"night/shard-3-of-3", status_of(other, /*running=*/false, after_midnight(20), 10)}},
                      {IncompleteSweep{{0, 1}, {"night/shard-2-of-3 is not there"}}}};
  EXPECT_TRUE(both.any_running());
  const std::string text = statuses_text(both, any_width);
  for (const char* words :
       {"All rows: PLAN night, DONE 4 of 10 (40.0%)", "night/shard-1-of-3  running  about 30 s",
        "night/shard-3-of-3  killed ",
        "All:     8 of at least 20, 1 of 2 running, 1 shard missing, 1 not as expected\n",
        "Status:  7 pass, 1 crashed", "Note:    night/shard-2-of-3 is not there", "signal 11"})
    EXPECT_THAT(text, testing::HasSubstr(words));
  const auto json = statuses_json(both);
  EXPECT_TRUE(json["total"].is_null()) << "the missing shard's trials are unknown";
  EXPECT_EQ(json["done"], 8);
  EXPECT_EQ(json["directories"][1]["directory"], "night/shard-3-of-3");
  EXPECT_EQ(json["directories"][1]["state"], "killed");
  EXPECT_EQ(json["missing"].size(), 1U);
  Statuses known = both;
  for (std::size_t i = 0; i < 2; ++i) {
    known.all[i].status.plan_trials = 33;
    known.all[i].status.shard = {static_cast<std::int64_t>(2 * i + 1), 3};
  }
  EXPECT_EQ(known.total(), 33);
  EXPECT_THAT(statuses_line(known), testing::StartsWith("8 of 33 (24.2%)"));
  known.all[1].status.shard.number = 1;
  EXPECT_EQ(known.total(), -1) << "a shard that ran twice";
  Statuses unknown{both.all, {}};
  EXPECT_THAT(statuses_line(unknown), testing::EndsWith(", about 30 s left"));
  unknown.all[1].status.running = true;
  EXPECT_THAT(statuses_line(unknown), testing::EndsWith(", at least 30 s left")) << "one has no estimate yet";
  unknown.all[0].status.seconds_left.reset();
  EXPECT_THAT(statuses_line(unknown), testing::EndsWith(", time left unknown yet"));
  const Statuses one{{both.all[1]}, {}};
  EXPECT_EQ(statuses_line(one), "4 of 10 (40.0%), killed");
  EXPECT_FALSE(one.any_running());
}

}  // namespace
}  // namespace gaussweep::driver
