// Tests the conversion of records to and from JSON.
#include "io/records/record.hpp"

#include <nlohmann/json.hpp>

#include "io/files/errors.hpp"
#include "tests/io/records/record_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

using Json = nlohmann::json;

Record round_trip(const Record& record) {
  return record_from_json(Json::parse(to_json(record).dump()));
}

std::string error_of(const Json& json) {
  return message_of<InputError>([&] { record_from_json(json); });
}

TEST(Record, EveryFieldSurvivesJson) {
  expect_same(round_trip(full_record(1)), full_record(1));
  Record defaults;
  defaults.key = "k";
  expect_same(round_trip(defaults), defaults);
}

TEST(Record, ForNowIsWrittenOnlyIfTrue) {
  EXPECT_FALSE(to_json(full_record(1)).contains("for_now"));
  Record record = full_record(1);
  record.is_temporary_failure = true;
  EXPECT_TRUE(round_trip(record).is_temporary_failure);
}

TEST(Record, DoublesSurviveBitByBit) {
  using Limits = std::numeric_limits<double>;
  for (const double value :
       {0.1, 1.0 / 3, -0.0, 5e-324, Limits::min(), Limits::max(), 1e22, 123456789012345678.0,
        Limits::epsilon(), -Limits::infinity(), Limits::infinity(), Limits::quiet_NaN()}) {
    Record record;
    record.flops = value;
    expect_same_number(round_trip(record).flops, value, std::to_string(value));
  }
  Record record;
  record.flops = 0.1;
  record.matrix_seed = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(to_json(record)["flops"].dump(), "0.1");
  EXPECT_EQ(round_trip(record).matrix_seed, record.matrix_seed);
}

TEST(Record, NonFiniteNumbersAreWords) {
  Record record;
  record.flops = std::numeric_limits<double>::infinity();
  record.gflops = -record.flops;
  const Json json = to_json(record);
  EXPECT_EQ(json["flops"], "inf");
  EXPECT_EQ(json["gflops"], "-inf");
  EXPECT_TRUE(json["bytes"].is_null());
}

TEST(Record, IgnoresUnknownKeysAndDefaultsMissingOnes) {
  const Record record = record_from_json({{"key", "k"},
                                          {"problem", "gesv"},
                                          {"method", "lapack"},
                                          {"status", "pass"},
                                          {"colour", {"of", "tomorrow"}}});
  EXPECT_EQ(std::tuple(record.key, record.parameters, record.device_index), std::tuple("k", "{}", -1));
  EXPECT_TRUE(std::isnan(record.seconds_min));
  EXPECT_TRUE(record.sample_list.empty());
}

TEST(Record, ReadsLinesWithoutQueueColumns) {
  Json old = to_json(full_record(1));
  old.erase("partition");
  old.erase("gres");
  Record expected = full_record(1);
  expected.partition = expected.gres = "";
  expect_same(record_from_json(old), expected);
}

TEST(Record, NamesMissingRequiredFields) {
  for (const char* name : {"key", "problem", "method", "status"}) {
    Json json = to_json(full_record(1));
    json.erase(name);
    EXPECT_THAT(error_of(json), HasSubstr("'" + std::string(name) + "'"));
  }
}

TEST(Record, NamesMistypedFields) {
  for (const Field& field : record_fields()) {
    for (const Json& wrong : {Json(true), Json::array({1}), Json("nan")}) {
      if (field.member.index() == 0 && wrong.is_string()) continue;
      Json json = to_json(full_record(1));
      json[std::string(field.name)] = wrong;
      EXPECT_THAT(error_of(json), HasSubstr("'" + std::string(field.name) + "'"));
    }
  }
  const auto with = [](const char* name, const Json& value) {
    Json json = to_json(full_record(1));
    json[name] = value;
    return error_of(json);
  };
  EXPECT_THAT(with("n", 1.5), HasSubstr("'n' of a record must be a 64-bit integer"));
  EXPECT_THAT(with("n", std::numeric_limits<std::uint64_t>::max()), HasSubstr("64-bit integer"));
  EXPECT_THAT(with("sample_list", Json::array()), HasSubstr("sample_list"));
  EXPECT_THAT(with("sample_list", {{"seconds", {1, 2}}, {"clock_mhz", {1}}, {"throttled", {false}}}),
              HasSubstr("equally long"));
  EXPECT_THAT(with("stages", {{"kernel", "a"}}), HasSubstr("stages"));
  EXPECT_THAT(with("stages", Json::array({3})), HasSubstr("stages"));
  EXPECT_THAT(with("for_now", 1), HasSubstr("'for_now' of a record must be true or false"));
  EXPECT_THAT(with("history", {"x"}), HasSubstr("history"));
  EXPECT_THAT(error_of(Json::array()), HasSubstr("JSON object"));
}

}  // namespace
}  // namespace gaussweep::io
