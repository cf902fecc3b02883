#pragma once
/// The journal: one JSON object a line, each line a record (or a note), appended and synced. It is the truth;
/// results.h5 is made from it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/record.hpp"

namespace gaussweep::io {

/// Appends records. A record is durable after `sync` returns; many lines may share one sync.
/// @throws StorageError with the path and the system's words, after which nothing half-written counts: a torn
/// last line is recognised by the reader and cut off by the next writer.
class JournalWriter {
 public:
  /// Opens (creates) the journal, private to the user; cuts off a torn last line left by a killed writer.
  explicit JournalWriter(const std::filesystem::path& path);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  void append(const Record& record);
  /// A line that is not a record, e.g. {"note": "trial vanished from the plan", ...}.
  void append_note(const nlohmann::json& note);
  void sync();

 private:
  void append_line(const std::string& line);
  int fd_ = -1;
  std::filesystem::path path_;
};

/// What a journal holds.
struct JournalContents {
  std::vector<Record> records;  ///< in order; where a key occurs again (a retried trial), the last one only
  std::vector<std::string> notes;  ///< the note lines, as JSON text
  bool torn = false;            ///< the last line was incomplete and was left out
  std::int64_t damaged = 0;     ///< complete lines that are no valid JSON record: counted, left out, reported
};

/// Reads a journal that may be growing. An absent file is an empty journal.
JournalContents read_journal(const std::filesystem::path& path);

}  // namespace gaussweep::io
