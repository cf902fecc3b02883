#pragma once
/// The journal: one JSON object a line, each line a record (or a note), appended and synced. It is the truth;
/// results.h5 is made from it.

#include <cstdint>
#include <filesystem>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/open_file.hpp"
#include "io/records/notes.hpp"
#include "io/records/record.hpp"

namespace gaussweep::io {

/// Appends records. Lines are gathered and go out in one write; a record is durable after `sync` returns, and
/// many lines may share one sync. One writer per journal: the run directory's locks see to that. Lines go to
/// the file only while the journal's name leads to it.
/// @throws StorageError with the path, the system's words and what stays safe. What a failed write left
/// behind is cut off again, and its lines stay gathered. Thus `sync` may be tried again once there is room.
/// Where even cutting off fails, the torn last line is recognised by the reader and cut off by the next
/// writer.
class JournalWriter {
 public:
  /// Opens (creates) the journal, private to the user; cuts off a torn last line left by a killed writer.
  explicit JournalWriter(const std::filesystem::path& path);
  /// Goes on with a file that the caller opened by this name, with `open_flags`, and locked. The lock lasts
  /// as long as the writer.
  JournalWriter(const std::filesystem::path& path, Descriptor opened);
  static constexpr int open_flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW;
  /// Writes what is still gathered, without a promise: who needs it durable calls `sync`.
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  /// Takes a record in; it goes out with the lines around it.
  void append(const Record& record);
  /// A line that is not a record.
  void append_note(const Note& note);
  /// Writes every line taken in before, without a promise: they survive this process, not the machine.
  void flush();
  /// Returns once every line taken in before is on disk. Where a sync has failed, no later one succeeds.
  void sync();
  /// The same for the lines that are written already: what is gathered stays gathered.
  void sync_written();
  /// Writes every line taken in before and begins to bring them to disk, on a thread of its own. A disk that
  /// is busy with gigabytes may take seconds for it. @pre settled()
  void begin_sync();
  /// Whether no sync that was begun is under way. What it found is thrown here.
  bool settled();

 private:
  void begin(Descriptor opened);
  void require_whole() const;
  bool begins_to_sync();
  void take_end_of_sync(int error);
  void append_line(std::string line);
  void check_name();
  [[noreturn]] void fail(const std::string& action, int error, const std::string& remark) const;
  int fd_ = -1;
  std::filesystem::path path_;
  std::string gathered_;       // whole lines that were not written yet
  std::int64_t lines_ = 0;     // how many
  std::int64_t unsynced_ = 0;  // lines written since the last sync
  std::int64_t syncing_ = 0;   // lines that the sync under way brings to disk
  std::future<int> under_way_;
  // A failed fdatasync may have dropped what it did not write, and the next one would hide that: no second
  // try.
  bool broken_ = false;
};

/// A complete line that does not count, and why.
struct DamagedLine {
  std::int64_t number = 0;  ///< from 1
  std::string why;
};

/// What a journal holds.
struct JournalContents {
  /// In the order in which their keys first came; where a key comes again (a retried trial), the last record
  /// of it.
  std::vector<Record> records;
  std::vector<Note> notes;
  /// How many notes stand before the line of each record: which start made it, whatever the clock said.
  std::vector<std::size_t> notes_before;
  bool torn = false;  ///< the last line was incomplete and was left out
  /// Complete lines whose checksum is absent or wrong, or that are neither record nor note: counted, left
  /// out.
  std::int64_t damaged = 0;
  std::vector<DamagedLine> damaged_lines;  ///< the first 100 of them
};

/// The first of the damaged lines in words, "line 7: its checksum is absent or wrong"; empty without one.
std::string first_damage(const JournalContents& contents);

/// Reads a journal that may be growing. An absent file is an empty journal.
/// `with_details == false` leaves out samples, stages and histories.
/// @throws InputError where it cannot be opened, is no regular file, or a line does not end within 256 MiB
/// @throws StorageError where reading it fails
JournalContents read_journal(const std::filesystem::path& path, bool with_details = true);

}  // namespace gaussweep::io
