#pragma once
/// Limits the size of the matrix store, the folder matrices/ of the run directory. Workers store a matrix
/// there, so that later trials read it instead of making it again. This file decides which matrices are
/// stored, and removes matrices that no open trial needs. A trial is one method on one matrix; it is open
/// while it has no record. Only the coordinator uses this class, before it assigns a trial and after a trial
/// ends. A digest is the hash that identifies a matrix.

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

/// Tracks the files of the matrix store.
class StoreKeeper {
 public:
  /// Reads the store's contents, removes partial files of killed writers, and removes unneeded matrices until
  /// the store is within the limit.
  /// @param limit bytes; infinity: no limit
  /// @param open the trials that have no record yet
  /// @throws io::StorageError
  StoreKeeper(io::MatrixStore store, double limit, const std::vector<Trial>& open);
  /// Reserves space for a trial's matrices before the trial is assigned. Clears `MatrixRequest::store` of
  /// each matrix that does not fit; the worker then makes this matrix without storing it.
  /// @throws io::StorageError
  void admit(Trial& trial);
  /// Replaces the list of matrices that a rank's worker still has to store. A worker may store a matrix after
  /// it has sent the record of the matrix's trial. @throws io::StorageError
  void note_writing(int rank, const std::vector<std::string>& digests);
  /// Ends an admitted trial. @param done true if the trial has a record; false if it stays open
  void release(const Trial& trial, bool done);
  /// Returns the bytes stored or reserved.
  double used() const { return used_; }
  /// Returns how often a matrix was not stored because it did not fit.
  std::int64_t refused() const { return refused_; }
  /// Returns the number of matrices that were removed to make room.
  std::int64_t removed() const { return removed_; }

 private:
  struct StoredFile {
    double bytes = 0;  ///< size of the file, or the expected size until it is written; 0: not stored
    std::int64_t open_trials = 0;  ///< number of open trials that use the matrix
    /// Number of running trials that use the matrix and of workers that still have to store it.
    int users = 0;
  };
  void admit(MatrixRequest& request, const Trial& trial);
  void release(const MatrixRequest& request, bool done);
  /// Updates a file's entry after a trial or a write has ended.
  void settle(const std::string& digest, StoredFile& file);
  void set_bytes(StoredFile& file, double bytes);
  /// Appends the digest to `unneeded_` if the matrix is stored and no open trial uses it.
  void list_if_unneeded(const std::string& digest, const StoredFile& file);
  /// Removes unneeded matrices until `bytes` more fit. @return false if they cannot fit
  bool make_room(double bytes);

  io::MatrixStore store_;
  double limit_;
  std::unordered_map<std::string, StoredFile> files_;  ///< by digest
  std::map<int, std::vector<std::string>> writing_;    ///< digests that each rank's worker still has to store
  std::deque<std::string> unneeded_;  ///< digests of stored matrices that no open trial needs, oldest first
  double used_ = 0, unneeded_bytes_ = 0;    ///< bytes of all files, and of the files in `unneeded_`
  std::int64_t refused_ = 0, removed_ = 0;  ///< see refused(), removed()
};

/// Returns the limit in bytes for the folder `matrices`: the option's, otherwise the plan's. Without either:
/// (free bytes of the disk + bytes of the present matrices) / 2 / shards, because the shards share the disk.
/// @param option value of --store-limit; empty if not given
/// @param shards number of parts into which the plan is split
/// @throws io::InputError
double store_limit_of(const std::string& option, const io::Plan& plan, const std::filesystem::path& matrices,
                      std::int64_t shards);

}  // namespace gaussweep::driver
