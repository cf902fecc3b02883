#pragma once
/// The run directory: plan.yaml, journal.jsonl, results.h5, matrices/, logs/ and lock. The journal has a
/// record per trial, and notes on the run. results.h5 has the same records in HDF5. matrices/ keeps matrices
/// for later trials. A lock prevents two processes from using the directory at the same time.

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/records/journal.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Checks that a run may use a directory, which need not exist. Changes nothing.
/// @throws UsageError if the path is a file. Without `resume`, also if the directory is not empty; with
/// `resume`, also if it holds files, but no run
void check_run_directory(const std::filesystem::path& path, bool resume);

/// An open, locked run directory.
class RunDirectory {
 public:
  /// Creates or opens the directory and locks it. Waits up to 10 s for the lock, because the previous process
  /// may still be exiting.
  /// @param results_after minimum seconds between two writes of results.h5
  /// @throws UsageError if the directory is not empty and `resume` is false, or if another run holds the lock
  /// @throws io::StorageError if the directory cannot be written
  RunDirectory(const std::filesystem::path& path, bool resume, double results_after = 10);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes plan.yaml atomically.
  void save_plan(const std::string& text);
  /// Returns the contents of the journal, including records and notes that are not on disk yet.
  const io::JournalContents& journal() const { return contents_; }
  /// Returns the run id, which stays the same if the run is resumed.
  const std::string& run_id() const { return run_id_; }

  /// Appends a record. It is durable after `sync`, or once a sync begun by `begin_sync` is settled.
  void append(io::Record record);
  /// Appends a note, i.e. a line about the run instead of a trial.
  void note(io::Note note);
  /// Writes all appended lines to disk.
  void sync();
  /// Writes appended lines to the file; they survive a crash of this process, but not of the machine.
  void flush();
  /// Begins a sync in the background. @pre is_settled()
  void begin_sync();
  /// Returns true if no background sync is running. @throws io::StorageError the error of the last sync
  bool is_settled();
  /// Syncs the lines that were written to the file. Returns the number of records that are certainly on disk.
  /// Does not throw if the sync fails.
  std::size_t safe_records();
  /// Writes results.h5: immediately if `now` is true, otherwise in the background once a write is due. The
  /// interval between writes grows with their duration, so that the writes take at most 5 % of the time.
  void write_results(bool now);
  /// Ends the run: notes the end, waits until it is on disk, and writes results.h5. If that file cannot be
  /// written, notes this, too. @throws io::StorageError
  void end(int exit_code, const std::string& reason);

 private:
  /// Finishes a background write of results.h5. @return false if it is still running and `wait` is false
  bool finish_write(bool wait);
  std::filesystem::path path_;
  double results_after_;
  /// Lock on the file `lock`, which all versions of gaussweep use. The journal has a separate lock.
  io::Descriptor lock_;
  io::JournalContents contents_;
  /// Index into `contents_.records` by the trial's key.
  std::unordered_map<io::Text, std::size_t, std::hash<std::string_view>> index_;
  io::TextPool texts_;  ///< storage that equal texts of the records share
  std::unique_ptr<io::JournalWriter> writer_;
  std::string run_id_;
  std::size_t durable_ = 0;               ///< number of records that are on disk
  std::size_t durable_when_settled_ = 0;  ///< the value of `durable_` once the background sync has ended
  std::size_t written_ = 0;   ///< number of records written to the journal's file, perhaps not synced
  bool is_outdated_ = false;  ///< true if results.h5 lacks records or notes
  double next_write_ = 0;     ///< when the next background write of results.h5 is due
  double write_began_ = 0;    ///< when the last background write began
  std::future<void> write_;   ///< the background write of results.h5
};

}  // namespace gaussweep::driver
