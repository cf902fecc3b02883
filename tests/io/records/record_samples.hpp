#pragma once
/// Shared by the tests of records: a temporary folder, records with every field set, and comparison.

#include "io/records/record.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {

/// A temporary folder in memory, because these tests sync thousands of times.
struct MemoryFolder : TestFolder {
  MemoryFolder() : TestFolder(Place::memory) {}
};

/// Limits the size of files that this process writes, while the object exists. This simulates a full disk
/// without privileges. SIGXFSZ is ignored, so that a write beyond the limit fails with EFBIG.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit old_{};
};

/// Returns a record in which every field differs from its default and from every other field.
inline Record full_record(int seed) {
  Record record;
  int count = 0;
  for (const Field& field : record_fields()) {
    ++count;
    if (const auto* text = std::get_if<Text Record::*>(&field.member)) {
      record.** text = std::string(field.name) + "-" + std::to_string(seed);
    } else if (const auto* integer = std::get_if<std::int64_t Record::*>(&field.member)) {
      record.** integer = 1000 * seed + count;
    } else {
      record.*(*std::get_if<double Record::*>(&field.member)) = seed + 1.0 / (3 * count);
    }
  }
  record.parameters = R"({"blocks":)" + std::to_string(seed) + "}";
  record.message = "‖b − Ax‖ \"zu groß\"\n\ttab \\ Žluťoučký 漢字 🎯";
  record.sample_list = {{0.1 * seed, 1980.5, false, 3201.0, 412.25, 51.0}, {0.2, Record::unknown, true}};
  record.stages = {{"elimináte", 512, 0.25, 0.25 / 512, 0.5, 0.9},
                   {"substitute", 1, 0.1, 0.1, Record::unknown, 0.1}};
  record.history = {1.0, 1e-3, std::numeric_limits<double>::infinity(), Record::unknown};
  return record;
}

inline void expect_same_number(double a, double b, std::string_view what) {
  if (std::isnan(a) || std::isnan(b)) {
    EXPECT_EQ(std::isnan(a), std::isnan(b)) << what;
  } else {
    EXPECT_EQ(a, b) << what;
    EXPECT_EQ(std::signbit(a), std::signbit(b)) << what;
  }
}

/// Compares every field and detail; NaN equals NaN.
inline void expect_same(const Record& a, const Record& b) {
  for (const Field& field : record_fields()) {
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), double Record::*>) {
            expect_same_number(a.*member, b.*member, field.name);
          } else {
            EXPECT_EQ(a.*member, b.*member) << field.name;
          }
        },
        field.member);
  }
  ASSERT_EQ(a.sample_list.size(), b.sample_list.size());
  for (std::size_t i = 0; i < a.sample_list.size(); ++i) {
    EXPECT_EQ(a.sample_list[i].throttled, b.sample_list[i].throttled);
    for (const auto member : {&Sample::seconds, &Sample::clock_mhz, &Sample::memory_clock_mhz,
                              &Sample::power_w, &Sample::temperature_c})
      expect_same_number(a.sample_list[i].*member, b.sample_list[i].*member, "a sample");
  }
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    EXPECT_EQ(a.stages[i].kernel, b.stages[i].kernel);
    EXPECT_EQ(a.stages[i].calls, b.stages[i].calls);
    for (const auto member : {&Stage::seconds, &Stage::mean, &Stage::occupancy, &Stage::share})
      expect_same_number(a.stages[i].*member, b.stages[i].*member, "a stage");
  }
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i)
    expect_same_number(a.history[i], b.history[i], "history");
}

}  // namespace gaussweep::io
