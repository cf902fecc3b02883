#pragma once
/// The run directory: plan.yaml, journal.jsonl, results.h5, matrices/, logs/, lock. One run at a time holds
/// it.

#include <filesystem>
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
  /// @throws UsageError: it exists and `resume` is false; another run holds it; io::StorageError: it cannot
  /// be written.
  RunDirectory(const std::filesystem::path& path, bool resume);
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

  /// Appends; durable after `sync`.
  void append(const io::Record& record);
  void note(const nlohmann::json& note);
  void sync();
  /// How many trials have a record that is known to be on disk.
  std::size_t safe_records() const { return safe_; }
  /// Writes results.h5 anew: where `due` (by time, so that it takes a small share of it) or when asked to.
  void write_results(bool now);

 private:
  void lock();
  std::filesystem::path path_;
  int lock_fd_ = -1;
  io::JournalContents contents_;
  std::unordered_map<std::string, std::size_t> index_;  ///< key → position in contents_.records
  std::unique_ptr<io::JournalWriter> writer_;
  std::string run_id_;
  std::size_t safe_ = 0;
  bool dirty_ = false;
  double next_write_ = 0;
};

}  // namespace gaussweep::driver
