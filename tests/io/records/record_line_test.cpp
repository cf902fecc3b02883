// Tests the fast reader of journal lines against the slow one, record_from_json.
#include "io/records/record_line.hpp"

#include <nlohmann/json.hpp>

#include "tests/io/records/record_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

using nlohmann::json;

bool reads(std::string line, Record& record) {
  line.pop_back();
  LineTexts seen;
  return read_record_line(line, seen, record);
}

TEST(RecordLine, ReadsWhatTheJournalWrites) {
  Record least;
  least.key = least.problem = least.method = least.status = "x";
  for (const Record& written : {full_record(1), full_record(2), least}) {
    Record read;
    ASSERT_TRUE(reads(to_json(written).dump(), read));
    EXPECT_EQ(to_json(read), to_json(written));
  }
}

TEST(RecordLine, TextsOfEarlierLinesChangeNothing) {
  std::vector<Record> records = {full_record(1), full_record(1), full_record(2), full_record(1)};
  const char* const texts[] = {"", "{\"threads\":32}", "{\"threads\":3}", "a\\b"};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].parameters = texts[i];
    records[i].message = texts[3 - i];
    lines.push_back(to_json(records[i]).dump());
    lines.back().pop_back();
  }
  LineTexts seen;
  for (const std::size_t i : {0, 0, 1, 1, 2, 3, 3, 0, 2, 1}) {
    Record read;
    ASSERT_TRUE(read_record_line(lines[i], seen, read)) << i;
    EXPECT_EQ(to_json(read), to_json(records[i])) << i;
  }
}

TEST(RecordLine, DetailsMayBeSkipped) {
  Record record = full_record(1);
  record.stages.front().kernel = "a]}\"{[\\";
  std::string line = to_json(record).dump();
  line.pop_back();
  LineTexts seen;
  Record read;
  ASSERT_TRUE(read_record_line(line, seen, read, false));
  record.sample_list = {};
  record.stages = {};
  record.history = {};
  EXPECT_EQ(to_json(read), to_json(record));
  for (const char* details : {"[", "{\"", "{\"\\", "[\"\\\""}) {
    const std::string cut = line.substr(0, line.find("\"stages\":") + 9) + details;
    EXPECT_FALSE(read_record_line(cut, seen, read, false)) << details;
  }
}

TEST(RecordLine, MembersMayBeMissingOrInAnyOrder) {
  const json all = to_json(full_record(3));
  nlohmann::ordered_json backwards;
  for (auto item = all.rbegin(); item != all.rend(); ++item) {
    if (item.key() != "seconds_q1" && item.key() != "gpu_name") backwards[item.key()] = item.value();
  }
  Record read;
  ASSERT_TRUE(reads(backwards.dump(), read));
  EXPECT_EQ(to_json(read), to_json(record_from_json(json::parse(backwards.dump()))));
}

// The fast reader accepts only lines that the slow reader accepts, and reads the same record.
TEST(RecordLine, AcceptsNothingThatTheSlowReaderRefuses) {
  const json good = to_json(full_record(4));
  const std::vector<json> values = {nullptr,
                                    true,
                                    7,
                                    -0.5,
                                    1e300,
                                    "inf",
                                    "-inf",
                                    "",
                                    "x",
                                    "\"\\\u20ac\n",
                                    json::array(),
                                    {1, 2},
                                    json::object(),
                                    {{"seconds", {1, 2}}},
                                    {{"seconds", {1}}, {"clock_mhz", {nullptr}}, {"throttled", {false}}},
                                    {{"seconds", {1}}, {"clock_mhz", {1}}, {"throttled", {false, true}}},
                                    {{{"kernel", "a"}, {"calls", 2}}},
                                    18446744073709551615U};
  int accepted = 0;
  for (const auto& [name, old] : good.items()) {
    for (const json& value : values) {
      json changed = good;
      changed[name] = value;
      Record fast;
      if (!reads(changed.dump(), fast)) continue;
      ++accepted;
      ASSERT_NO_THROW(record_from_json(changed)) << name << " " << value;
      EXPECT_EQ(to_json(fast), to_json(record_from_json(changed))) << name << " " << value;
    }
  }
  EXPECT_GT(accepted, 200);
}

TEST(RecordLine, LeavesInvalidJsonToTheSlowReader) {
  const std::string line = to_json(full_record(5)).dump();
  const auto with = [&](const std::string& number) {
    const std::string name = "\"seconds_median\":";
    const auto start = line.find(name) + name.size();
    return line.substr(0, start) + number + line.substr(line.find(',', start));
  };
  Record read;
  ASSERT_TRUE(reads(with("1.5e-3"), read));
  EXPECT_EQ(read.seconds_median, 1.5e-3);
  for (const char* number : {".5", "+1", "1e", "--1", "nan", "0x10", "1 ", "-", "1e999", ""}) {
    Record unread;
    EXPECT_FALSE(reads(with(number), unread)) << number;
  }
  for (std::size_t cut = 1; cut < line.size(); cut += 7) {
    const std::string text = line.substr(0, cut) + "}";
    Record shorter;
    // a number that is cut after its decimal point is accepted
    if (reads(text, shorter) && json::accept(text)) {
      EXPECT_EQ(to_json(shorter), to_json(record_from_json(json::parse(text)))) << cut;
    }
  }
}

TEST(RecordLine, EqualTextsOfManyRecordsShareOneStore) {
  LineTexts seen;
  std::vector<Record> records(100);
  std::string line = to_json(full_record(6)).dump();
  line.pop_back();
  for (Record& record : records) {
    ASSERT_TRUE(read_record_line(line, seen, record));
  }
  for (const Record& record : records) EXPECT_EQ(record.gpu_name.data(), records.front().gpu_name.data());
  Record received = record_from_json(to_json(records.front()));
  EXPECT_NE(received.gpu_name.data(), records.front().gpu_name.data());
  share_texts(received, seen.pool);
  EXPECT_EQ(received.gpu_name.data(), records.front().gpu_name.data());
}

}  // namespace
}  // namespace gaussweep::io
