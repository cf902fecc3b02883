#pragma once
/// The journal: one JSON object per line, each a record (the data of one finished trial) or a note (data
/// about the run). Lines are appended and synced. The journal is the primary data; results.h5 is derived from
/// it.

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/open_file.hpp"
#include "io/records/notes.hpp"
#include "io/records/record.hpp"

namespace gaussweep::io {

/// Appends records. Lines are buffered and written together; a record is durable after `sync` returns, and
/// many lines can share one sync. The run directory's locks ensure that a journal has only one writer.
/// Lines are written only while the journal's name still refers to the open file.
/// @throws StorageError with the path, the system's error and which earlier lines are safe on disk. A failed
/// write is undone by truncating the file, and its lines stay buffered, so that `sync` can be retried when
/// there is room. If truncation fails too, the reader ignores the torn (incomplete) last line, and the next
/// writer truncates it.
class JournalWriter {
 public:
  /// Opens or creates the journal, private to the user, and truncates a torn last line of a killed writer.
  explicit JournalWriter(const std::filesystem::path& path);
  /// Uses a file that the caller opened by this name with `open_flags` and locked. The lock is held as long
  /// as the writer exists.
  JournalWriter(const std::filesystem::path& path, Descriptor opened);
  static constexpr int open_flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW;
  /// Writes buffered lines, but ignores errors and does not sync. Call `sync` for durability.
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;
  /// Buffers a record's line.
  void append(const Record& record);
  /// Buffers a note's line.
  void append_note(const Note& note);
  /// Writes all buffered lines. They survive the end of this process, but not a failure of the machine.
  void flush();
  /// Returns when all lines so far are on disk. After a failed sync every later one fails too.
  void sync();
  /// Syncs the lines that are already written. Buffered lines stay buffered.
  void sync_written();
  /// Writes all buffered lines and starts a sync on another thread, because a sync may take seconds on a busy
  /// disk.
  /// @pre sync_finished()
  void begin_sync();
  /// Returns true if no sync is running. Throws the error of a sync that has failed.
  bool sync_finished();

 private:
  /// Takes the open file and truncates a torn last line.
  void begin(Descriptor opened);
  /// Throws if an earlier sync failed.
  void require_unbroken() const;
  /// Marks the written lines as being synced. Returns false if there are none, so that no sync is needed.
  bool start_syncing_lines();
  /// Ends the running sync. @param error the result of the sync: 0, or errno @throws StorageError unless 0
  void finish_sync(int error);
  /// Buffers the text of a JSON object as a line with its checksum.
  void append_line(std::string line);
  void check_name();
  [[noreturn]] void fail(const std::string& action, int error, const std::string& remark) const;
  int fd_ = -1;
  std::filesystem::path path_;
  std::string buffered_;       // complete lines that are not written yet
  std::int64_t lines_ = 0;     // the number of these lines
  std::int64_t unsynced_ = 0;  // lines written since the last sync
  std::int64_t syncing_ = 0;   // lines of the running sync
  std::future<int> pending_sync_;
  // True after a failed sync. There is no retry: the kernel may have dropped unwritten pages, and a second
  // fdatasync would report success.
  bool broken_ = false;
};

/// A complete line that the reader ignores, and the reason.
struct DamagedLine {
  std::int64_t number = 0;  ///< from 1
  std::string why;
};

/// The contents of a journal.
struct JournalContents {
  /// In the order in which their keys first occur. If a key occurs again (a retried trial), the last record
  /// replaces the earlier one.
  std::vector<Record> records;
  std::vector<Note> notes;
  /// For each record the number of notes before its line. Each start of a run writes a note, so this number
  /// shows which start wrote the record. Clocks are not needed for that.
  std::vector<std::size_t> notes_before;
  bool torn = false;  ///< the last line was incomplete and is ignored
  /// The number of complete lines that are ignored: their checksum is absent or wrong, or they are neither
  /// record nor note.
  std::int64_t damaged = 0;
  std::vector<DamagedLine> damaged_lines;  ///< the first 100 of them
};

/// Returns the first damaged line as text, "line 7: its checksum is absent or wrong"; empty if there is none.
std::string first_damage(const JournalContents& contents);

/// Reads a journal, which may be growing. An absent file is an empty journal. `with_details == false` leaves
/// out samples, stages and histories.
/// @throws InputError if it cannot be opened, is no regular file, or has a line of more than 256 MiB
/// @throws StorageError if reading fails
JournalContents read_journal(const std::filesystem::path& path, bool with_details = true);

/// Reads only the beginning of a journal, up to the note of the run's first start. Returns nothing if there
/// is no such note, or no file. Throws the errors of `read_journal`.
std::optional<note::Run> read_first_start(const std::filesystem::path& path);

}  // namespace gaussweep::io
