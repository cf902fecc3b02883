// Tests the journal of a run: torn and damaged lines, notes, syncs, full disks and special files.
#include "io/records/journal.hpp"

#include <zlib.h>

#include "io/files/errors.hpp"
#include "tests/io/records/record_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// Appends the records with the seeds `first` to `last` to a journal.
void write_records(const std::filesystem::path& path, int first, int last) {
  JournalWriter journal(path);
  for (int i = first; i <= last; ++i) journal.append(full_record(i));
  journal.sync();
}

std::vector<std::string> keys_of(const JournalContents& contents) {
  std::vector<std::string> keys;
  for (const Record& record : contents.records) keys.push_back(record.key);
  return keys;
}

/// Adds a record or a note to a journal.
template <class Entry>
void append(const std::filesystem::path& path, const Entry& entry) {
  JournalWriter journal(path);
  if constexpr (std::is_same_v<Entry, Record>) {
    journal.append(entry);
  } else {
    journal.append_note(entry);
  }
  journal.sync();
}

class Journal : public testing::Test {
 protected:
  const MemoryFolder scratch;
};

TEST_F(Journal, KeepsRecordsAndNotesInOrder) {
  const auto path = scratch / "journal.jsonl";
  {
    JournalWriter journal(path);
    journal.append(full_record(1));
    journal.append_note(note::Vanished{{"key-9"}});
    journal.append(full_record(2));
    journal.sync();
    // durable before the writer ends
    EXPECT_EQ(read_journal(path).records.size(), 2u);
  }
  write_records(path, 3, 3);  // opened again, it appends
  const JournalContents contents = read_journal(path);
  ASSERT_EQ(contents.records.size(), 3u);
  for (int i = 0; i < 3; ++i) expect_same(contents.records[i], full_record(i + 1));
  ASSERT_EQ(contents.notes.size(), 1u);
  EXPECT_THAT(std::get<note::Vanished>(contents.notes[0]).keys, ElementsAre("key-9"));
  EXPECT_FALSE(contents.torn);
  EXPECT_EQ(contents.damaged, 0);
}

TEST_F(Journal, HasTheModeThatTheUmaskGives) {
  const mode_t old = umask(027);
  { JournalWriter journal(scratch / "j"); }
  umask(old);
  struct stat facts {};
  ASSERT_EQ(stat((scratch / "j").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

TEST_F(Journal, AbsentFileIsAnEmptyJournal) {
  const JournalContents contents = read_journal(scratch / "none");
  EXPECT_TRUE(contents.records.empty());
  EXPECT_FALSE(contents.torn);
  set_file_text(scratch / "empty", "");
  EXPECT_TRUE(read_journal(scratch / "empty").records.empty());
}

TEST_F(Journal, FirstStartIsFoundAfterOtherNotes) {
  const auto path = scratch / "journal.jsonl";
  EXPECT_FALSE(read_first_start(path)) << "absent";
  append(path, Note(note::Host{}));
  EXPECT_FALSE(read_first_start(path));
  for (const char* shard : {"2/3", "1/1"}) {
    note::Run start;
    start.shard = shard;
    append(path, Note(start));
    append(path, full_record(1));
  }
  ASSERT_TRUE(read_first_start(path));
  EXPECT_EQ(read_first_start(path)->shard, "2/3");
}

TEST_F(Journal, TheLastRecordOfAKeyReplacesTheFirst) {
  write_records(scratch / "j", 1, 3);
  Record retried = full_record(2);
  retried.status = "pass";
  append(scratch / "j", retried);
  const JournalContents contents = read_journal(scratch / "j");
  EXPECT_THAT(keys_of(contents), ElementsAre("key-1", "key-2", "key-3"));
  expect_same(contents.records[1], retried);
}

TEST_F(Journal, SurvivesACutAtEveryByteOfTheLastLine) {
  const auto path = scratch / "j";
  write_records(path, 1, 2);
  const std::string two = file_text(path);
  write_records(path, 3, 3);
  const std::string three = file_text(path);
  for (std::size_t size = two.size(); size <= three.size(); ++size) {
    const bool is_whole = size == three.size();
    const bool is_torn = size > two.size() && !is_whole;
    set_file_text(path, three.substr(0, size));
    const JournalContents contents = read_journal(path);
    ASSERT_EQ(contents.records.size(), is_whole ? 3u : 2u) << size;
    ASSERT_EQ(contents.torn, is_torn) << size;
    ASSERT_EQ(contents.damaged, 0) << size;
    { const JournalWriter journal(path); }
    ASSERT_EQ(file_text(path), is_whole ? three : two) << size;
  }
  write_records(path, 4, 4);
  EXPECT_THAT(keys_of(read_journal(path)), ElementsAre("key-1", "key-2", "key-3", "key-4"));
}

TEST_F(Journal, CutsOffATornTailLongerThanABlock) {
  write_records(scratch / "j", 1, 1);
  const std::string one = file_text(scratch / "j");
  set_file_text(scratch / "j", one + std::string(5 << 20, '\0'));  // as a power failure may leave it
  EXPECT_TRUE(read_journal(scratch / "j").torn);
  { const JournalWriter journal(scratch / "j"); }
  EXPECT_EQ(file_text(scratch / "j"), one);
  set_file_text(scratch / "j", std::string(5 << 20, 'x'));
  { const JournalWriter journal(scratch / "j"); }
  EXPECT_EQ(file_text(scratch / "j"), "");
}

TEST_F(Journal, SkipsADamagedLineAndKeepsItsNeighbours) {
  write_records(scratch / "j", 1, 3);
  const std::string good = file_text(scratch / "j");
  const std::size_t begin = good.find('\n') + 1;
  const std::size_t end = good.find('\n', begin);
  // Changes one byte at a time, every seventh. None becomes a line end, which would split the line.
  for (std::size_t at = begin; at < end; at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x02);
    ASSERT_NE(bad[at], '\n');
    set_file_text(scratch / "j", bad);
    const JournalContents contents = read_journal(scratch / "j");
    ASSERT_THAT(keys_of(contents), ElementsAre("key-1", "key-3")) << at;
    ASSERT_EQ(contents.damaged, 1);
    ASSERT_EQ(contents.damaged_lines.size(), 1u);
    ASSERT_EQ(contents.damaged_lines[0].number, 2);
    ASSERT_THAT(first_damage(contents),
                ::testing::AnyOf("line 2: its checksum is absent or wrong", "line 2: it is no JSON object"));
  }
}

TEST_F(Journal, RejectsLinesWithoutAChecksum) {
  write_records(scratch / "j", 1, 1);
  set_file_text(scratch / "j",
                file_text(scratch / "j") + to_json(full_record(2)).dump() + "\n\nnonsense\n{}\n");
  const JournalContents contents = read_journal(scratch / "j");
  EXPECT_THAT(keys_of(contents), ElementsAre("key-1"));
  EXPECT_EQ(contents.damaged, 4);
}

/// Returns the reported damage of a journal whose only line has a valid checksum.
std::string damage_of(const std::string& object) {
  const MemoryFolder scratch;
  std::string body = object;
  body.pop_back();
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%08lx", crc);
  set_file_text(scratch / "j", body + ",\"crc\":\"" + digits.data() + "\"}\n");
  const JournalContents contents = read_journal(scratch / "j");
  EXPECT_EQ(contents.damaged, static_cast<std::int64_t>(contents.damaged_lines.size()));
  EXPECT_EQ(contents.records.size() + contents.notes.size() + contents.damaged_lines.size(), 1u);
  return first_damage(contents);
}

TEST_F(Journal, SkipsNotesOfWrongTypesAndNamesLineAndReason) {
  for (const char* good : {R"({"note":"run","run_id":"a","total":3,"unheard_of":[1]})", R"({"note":"run"})",
                           R"({"note":"of_a_later_version","keys":7})", R"({"note":"vanished","keys":[]})",
                           R"({"note":"end","exit_code":0,"reason":"","time":"t"})"}) {
    EXPECT_EQ(damage_of(good), "") << good;
  }
  EXPECT_EQ(damage_of(R"({"note":7})"), "line 1: the note has 'note': 7; allowed: a text");
  EXPECT_EQ(damage_of(R"({"note":"run","run_id":[1]})"),
            "line 1: the note 'run' has 'run_id': [1]; allowed: a text");
  EXPECT_THAT(damage_of(R"({"note":"run","total":"many"})"),
              HasSubstr("'total': \"many\"; allowed: a whole number"));
  EXPECT_THAT(damage_of(R"({"note":"run","plan_name":null})"),
              HasSubstr("'plan_name': null; allowed: a text"));
  EXPECT_THAT(damage_of(R"({"note":"vanished"})"), HasSubstr("the note 'vanished' lacks 'keys'"));
  EXPECT_THAT(damage_of(R"({"note":"vanished","keys":["a",2]})"), HasSubstr("allowed: an array of texts"));
  EXPECT_THAT(damage_of(R"({"note":"device","row":[]})"), HasSubstr("'row': []; allowed: an object"));
  EXPECT_THAT(damage_of(R"({"note":"device","row":{"gpu_uuid":1}})"),
              HasSubstr("a row with the text gpu_uuid"));
  EXPECT_THAT(damage_of(R"({"note":"host","row":{"host":"h","cpu":"","os":"","cores":"x"}})"),
              HasSubstr("a row with the whole number cores"));
  EXPECT_THAT(damage_of(R"({"note":"retired","rank":{}})"), HasSubstr("allowed: a whole number"));
  EXPECT_THAT(damage_of(R"({"note":"end","exit_code":false})"), HasSubstr("allowed: a whole number"));
  EXPECT_THAT(damage_of(R"({"key":"k","problem":"gesv","method":7,"status":"pass"})"), HasSubstr("'method'"));
}

TEST_F(Journal, SkipsLinesWithDeepNesting) {
  for (const int depth : {40, 200'000}) {
    const std::string open(depth, '['), close(depth, ']');
    for (const char* begin : {R"({"note":"run","run_id":)", R"({"note":"x","y":)", R"({"key":)"})
      EXPECT_EQ(damage_of(begin + open + close + "}"), "line 1: it is nested deeper than 32 levels");
  }
  EXPECT_EQ(damage_of(R"({"note":"run","plan":"\\\")" + std::string(100, '[') + "\"}"), "")
      << "brackets in a text";
}

TEST_F(Journal, RefusesSpecialFilesWithoutWaitingOrEndlessReading) {
  ASSERT_EQ(mkfifo((scratch / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", scratch / "endless");
  for (const auto& [name, kind] : {std::pair("fifo", "a FIFO"), std::pair("endless", "a device")}) {
    EXPECT_THAT(message_of<InputError>([&] { read_journal(scratch / name); }), HasSubstr(kind));
    EXPECT_THROW(JournalWriter(scratch / name), StorageError);
  }
  // A file without a newline may be as large as its disk.
  set_file_text(scratch / "zeros", "");
  std::filesystem::resize_file(scratch / "zeros", std::uintmax_t{300} << 20);
  EXPECT_THAT(message_of<InputError>([&] { read_journal(scratch / "zeros"); }),
              HasSubstr("a line does not end within 256 MiB"));
}

TEST_F(Journal, ChecksumIsTheCrc32OfTheBytesBeforeIt) {
  append(scratch / "j", note::Other{{{"note", "hello"}}});
  // Python: format(zlib.crc32(b'{"note":"hello"'), "08x")
  EXPECT_EQ(file_text(scratch / "j"), "{\"note\":\"hello\",\"crc\":\"a6f2fc4e\"}\n");
}

TEST_F(Journal, InvalidUtf8DoesNotStopTheSweep) {
  Record record = full_record(1);
  record.message = "segfault at \xff\xfe";
  append(scratch / "j", record);
  ASSERT_EQ(read_journal(scratch / "j").records.size(), 1u);
  EXPECT_EQ(read_journal(scratch / "j").records[0].message, "segfault at \uFFFD\uFFFD");
}

TEST_F(Journal, ManyRecordsCrossBlockBorders) {
  write_records(scratch / "j", 1, 1500);  // some megabytes
  ASSERT_GT(std::filesystem::file_size(scratch / "j"), 3u << 20);
  const JournalContents contents = read_journal(scratch / "j");
  ASSERT_EQ(contents.records.size(), 1500u);
  EXPECT_EQ(contents.damaged, 0);
  expect_same(contents.records[1499], full_record(1500));
}

TEST_F(Journal, FullDiskKeepsSyncedRecordsAndNoPartialLine) {
  const auto path = scratch / "j";
  JournalWriter journal(path);
  journal.append(full_record(1));
  journal.sync();
  const std::string safe = file_text(path);
  journal.append(full_record(2));
  journal.append(full_record(3));
  for (const std::size_t free_bytes : {0u, 1u, 100u, 3000u}) {  // 3000: the first of the two lines would fit
    const SizeLimit limit(safe.size() + free_bytes);
    EXPECT_THAT(message_of<StorageError>([&] { journal.sync(); }),
                AllOf(HasSubstr(path.string()), HasSubstr("File too large"), HasSubstr("are safe")));
    ASSERT_EQ(file_text(path), safe) << free_bytes;
  }
  journal.sync();  // there is room again
  EXPECT_THAT(keys_of(read_journal(path)), ElementsAre("key-1", "key-2", "key-3"));
}

TEST_F(Journal, SyncFailsIfTheFileIsGone) {
  for (const bool replaced : {false, true}) {
    write_records(scratch / "j", 1, 2);
    JournalWriter journal(scratch / "j");
    journal.append(full_record(3));
    journal.sync();
    std::filesystem::rename(scratch / "j", scratch / "moved");
    if (replaced) set_file_text(scratch / "j", "");
    journal.append(full_record(4));
    EXPECT_THAT(message_of<StorageError>([&] { journal.sync(); }),
                HasSubstr("removed, replaced or unmounted"));
    EXPECT_THROW(journal.sync(), StorageError) << "the error persists";
    EXPECT_THAT(keys_of(read_journal(scratch / "moved")).size(), ::testing::Ge(3u));
    std::filesystem::remove(scratch / "j");
  }
}

TEST_F(Journal, BeginSyncWritesEarlierRecords) {
  JournalWriter journal(scratch / "j");
  EXPECT_TRUE(journal.sync_finished());
  for (int i = 1; i <= 50; ++i) {
    journal.append(full_record(i));
    if (journal.sync_finished()) journal.begin_sync();
    EXPECT_GE(file_text(scratch / "j").size(), 1u) << "lines are written when the sync begins";
  }
  while (!journal.sync_finished()) std::this_thread::yield();
  journal.begin_sync();
  journal.append(full_record(51));
  journal.sync();  // includes the records whose sync has begun
  EXPECT_TRUE(journal.sync_finished());
  EXPECT_EQ(read_journal(scratch / "j").records.size(), 51u);
}

TEST_F(Journal, BeginSyncReportsAFullDiskAtOnce) {
  JournalWriter journal(scratch / "j");
  journal.append(full_record(1));
  {
    const SizeLimit limit(100);
    EXPECT_THROW(journal.begin_sync(), StorageError);
    EXPECT_TRUE(journal.sync_finished());
  }
  journal.begin_sync();  // there is room again
  while (!journal.sync_finished()) std::this_thread::yield();
  EXPECT_THAT(keys_of(read_journal(scratch / "j")), ElementsAre("key-1"));
}

TEST_F(Journal, BeginSyncFailsIfTheFileIsGone) {
  JournalWriter journal(scratch / "j");
  std::filesystem::rename(scratch / "j", scratch / "moved");
  journal.append(full_record(1));
  EXPECT_THROW(journal.begin_sync(), StorageError);
  EXPECT_THROW(journal.begin_sync(), StorageError) << "the error persists";
  EXPECT_THROW(journal.sync(), StorageError);
}

TEST_F(Journal, DestructorOnAFullDiskDoesNotThrow) {
  auto journal = std::make_unique<JournalWriter>(scratch / "j");
  journal->append(full_record(1));
  {
    const SizeLimit limit(10);
    journal.reset();
  }
  EXPECT_EQ(file_text(scratch / "j"), "");
}

TEST_F(Journal, RefusesPathsThatCannotBeAJournal) {
  EXPECT_THROW(JournalWriter(scratch / "no/such/folder/j"), StorageError);
  EXPECT_THROW(JournalWriter(scratch.folder()), StorageError);
  EXPECT_THROW(JournalWriter("/dev/full"), StorageError);
  // A link could point outside the run directory.
  set_file_text(scratch / "elsewhere", "precious");
  std::filesystem::create_symlink(scratch / "elsewhere", scratch / "link");
  EXPECT_THROW(JournalWriter(scratch / "link"), StorageError);
  EXPECT_EQ(file_text(scratch / "elsewhere"), "precious");
  EXPECT_THROW(read_journal(scratch.folder()), std::runtime_error);
}

// A million records must fit into memory, so equal texts are stored once per block of the file.
TEST_F(Journal, StoresEqualTextsOfALongJournalFewTimes) {
  const auto path = scratch / "journal.jsonl";
  constexpr int count = 5000;
  {
    JournalWriter journal(path);
    Record record = full_record(1);
    for (int i = 0; i < count; ++i) {
      record.key = "key-" + std::to_string(i);
      journal.append(record);
    }
  }
  const JournalContents contents = read_journal(path, false);
  ASSERT_EQ(contents.records.size(), std::size_t{count});
  std::set<const char*> addresses;
  for (const Record& record : contents.records) {
    for (const Field& field : record_fields()) {
      const auto* text = std::get_if<Text Record::*>(&field.member);
      if (text != nullptr && *text != &Record::key) addresses.insert((record.**text).data());
    }
    EXPECT_TRUE(record.sample_list.empty() && record.stages.empty() && record.history.empty());
  }
  EXPECT_LT(addresses.size(), std::size_t{count});
  constexpr std::size_t bytes_of_lists = 128;
  EXPECT_LE(sizeof(Record), record_fields().size() * sizeof(Text) + bytes_of_lists) << "8 bytes per column";
}

}  // namespace
}  // namespace gaussweep::io
