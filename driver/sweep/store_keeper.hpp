#pragma once
/// Keeps the run directory's matrices within a limit: decides which matrices are stored, and removes those
/// that no open trial needs. The coordinator alone asks it, before a trial is handed out and after it has
/// ended. What a trial that runs or is still to run needs is never removed.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/plan/trial.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

class StoreKeeper {
 public:
  /// Takes stock of what is there, clears away what killed writers left, and makes the store as small as the
  /// limit where it can.
  /// @param limit bytes; infinity: none
  /// @param open the trials that have no record yet
  /// @throws io::StorageError
  StoreKeeper(io::MatrixStore store, double limit, const std::vector<Trial>& open);
  /// Makes room before a trial is handed out. Takes `store` from those of its matrices for which there is
  /// none: they are made for this trial alone. @throws io::StorageError
  void admit(Trial& trial);
  /// What a rank's worker has yet to store, instead of what it had before: files that will appear after their
  /// trial's record. @throws io::StorageError
  void note_writing(int rank, const std::vector<std::string>& digests);
  /// A trial of the queue, as admitted, runs no more. `done`: it has its record, else it is still open.
  void release(const Trial& trial, bool done);
  /// Bytes stored or about to be.
  double used() const { return used_; }
  /// Trials that could not store a matrix for want of room, and matrices that were removed to make it.
  std::int64_t refused() const { return refused_; }
  std::int64_t removed() const { return removed_; }

 private:
  struct StoredFile {
    double bytes = 0;        ///< of the file, or what it is expected to take; 0: not stored
    std::int64_t needs = 0;  ///< open trials
    int running = 0;         ///< those of them that run, and workers that have yet to store it
  };
  void admit(MatrixRequest& request, const Trial& trial);
  void release(const MatrixRequest& request, bool done);
  void settle(const std::string& digest, StoredFile& file);
  void set_bytes(StoredFile& file, double bytes);
  void note_unneeded(const std::string& digest, const StoredFile& file);
  bool make_room(double bytes);

  io::MatrixStore store_;
  double limit_;
  std::unordered_map<std::string, StoredFile> files_;  ///< by digest
  std::map<int, std::vector<std::string>> writing_;    ///< by rank, what is on its way into the store
  std::deque<std::string> unneeded_;  ///< stored, and no open trial needs them: the oldest first
  double used_ = 0, unneeded_bytes_ = 0;
  std::int64_t refused_ = 0, removed_ = 0;
};

/// The most bytes that DIR/matrices may take: the option's, else the plan's, else half of what the disk has
/// for it. That is what is free, or taken by matrices already. @throws io::InputError
double store_limit_of(const std::string& option, const io::Plan& plan, const std::filesystem::path& matrices);

}  // namespace gaussweep::driver
