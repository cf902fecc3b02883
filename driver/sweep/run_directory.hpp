#pragma once
/// The run directory: plan.yaml, journal.jsonl, results.h5, matrices/, logs/, lock. One run at a time holds
/// it.

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/records/journal.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

class RunDirectory {
 public:
  /// Creates or opens the directory and takes its lock (waiting up to 10 s for a predecessor that is dying).
  /// @param results_after seconds between two writes of results.h5, at least
  /// @throws UsageError: it exists, is not empty and `resume` is false; another run holds it;
  /// io::StorageError: it cannot be written.
  RunDirectory(const std::filesystem::path& path, bool resume, double results_after = 10);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Puts the plan there, whole or not at all.
  void save_plan(const std::string& text);
  /// What the journal held when the directory was opened, and what was added since.
  const io::JournalContents& journal() const { return contents_; }
  /// The identity that all starts on this directory share: from the journal's first start, else a new one.
  const std::string& run_id() const { return run_id_; }

  /// Appends; durable after `sync`, or once one that was begun is settled.
  void append(io::Record record);
  void note(io::Note note);
  void sync();
  /// Writes what was appended: it survives this process.
  void flush();
  /// Begins a sync, for which nobody waits. @pre is_settled()
  void begin_sync();
  /// Whether no sync that was begun is under way. @throws io::StorageError what it found
  bool is_settled();
  /// How many trials have a record that is known to be on disk, once what is written was brought there.
  std::size_t safe_records();
  /// Writes results.h5 anew, where it is due or when asked to. It is due by time, so that it takes a small
  /// share of it, and then nobody waits for the disk.
  void write_results(bool now);

 private:
  bool is_written(bool wait);
  std::filesystem::path path_;
  double results_after_;
  io::Descriptor lock_;  ///< on the file `lock`, which all versions know; the journal has a lock of its own
  io::JournalContents contents_;
  std::unordered_map<io::Text, std::size_t, std::hash<std::string_view>> index_;  ///< by key
  io::TextPool texts_;
  std::unique_ptr<io::JournalWriter> writer_;
  std::string run_id_;
  std::size_t safe_ = 0, safe_when_settled_ = 0, written_ = 0;
  bool dirty_ = false;
  double next_write_ = 0, write_began_ = 0;
  std::future<void> write_;  ///< of results.h5
};

}  // namespace gaussweep::driver
