#pragma once
/// A worker's access to the matrices that the run directory stores. Reads are synchronous. Writes are queued
/// to a background thread ("the store's thread"), which pauses while runs are timed. The worker sends a
/// trial's record (its result) without waiting until the trial's matrices are written. A matrix is written in
/// blocks, between which the thread can pause.
///
/// The HDF5 library may be built without thread safety, so any other use of HDF5 in this process must run in
/// `while_paused`.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

/// Reads matrices, and writes them in a background thread.
class StoreWriter {
 public:
  explicit StoreWriter(io::MatrixStore store);
  /// Stops the current write after its current block. Prints the digests (hashes) of the matrices that are
  /// not stored.
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  /// Keeps the store's thread paused during this object's lifetime. The thread also counts as paused while it
  /// waits for the operating system to sync a file.
  class Pause {
   public:
    /// Requests the pause and waits, at most `max_seconds`, until the thread has written its current block.
    explicit Pause(StoreWriter& writer, double max_seconds = std::numeric_limits<double>::infinity());
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    /// Waits until the thread has paused, at most `max_seconds`.
    void wait_until_paused(double max_seconds = std::numeric_limits<double>::infinity());

   private:
    StoreWriter& writer_;
  };
  /// Calls `work` while the thread is paused. @return the result of `work`
  template <class Work>
  auto while_paused(Work&& work) {
    const Pause pause(*this);
    return std::forward<Work>(work)();
  }

  /// Reads a matrix into `matrix`; reuses the memory of `matrix`. @return false if the matrix is not stored
  /// @throws io::StorageError
  template <class T>
  bool find(const std::string& digest, io::StoredMatrix<T>& matrix);
  /// Queues a matrix to be stored. `owner` keeps the matrix alive and unchanged until it is stored.
  /// @throws io::StorageError if an earlier matrix could not be stored
  template <class T>
  void put(const std::string& digest, const io::SystemView<T>& system, io::MatrixAttributes attributes,
           std::shared_ptr<const void> owner);
  /// Returns true if a trial may allocate `bytes` in addition to the queued matrices. The queue must be
  /// empty, or queued bytes + `bytes` <= 2 * (largest matrix so far) + 1 GiB.
  /// @param matrix_bytes bytes of the trial's matrix alone; may become the largest matrix so far
  bool has_room(std::size_t bytes, std::size_t matrix_bytes);
  /// Waits until `has_room` is true.
  void make_room(std::size_t bytes, std::size_t matrix_bytes);
  /// Waits until all matrices are stored; calls `waiting` about once per second.
  /// @throws io::StorageError if a matrix could not be stored, or if no block was written for
  /// `max_idle_seconds` seconds
  void finish(const std::function<void()>& waiting, int max_idle_seconds = 300);
  /// Throws the first error of the store's thread, if there is one. @throws io::StorageError
  void rethrow() const;
  /// Returns the digests of matrices that are not stored yet or could not be stored.
  std::vector<std::string> writing() const;

 private:
  /// A matrix that waits to be stored. `write` owns it, and calls its argument between blocks.
  struct Job {
    std::string digest;
    std::size_t bytes;
    std::function<void(const io::WriteCallback&)> write;
  };
  bool fits(std::size_t bytes, std::size_t matrix_bytes);
  /// The loop of the store's thread.
  void run();
  /// Writes one matrix. @throws io::StorageError, std::bad_alloc
  void do_job(Job& job);
  void pause_between_blocks(io::WriteStep step);

  io::MatrixStore store_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  ///< the matrices to be stored; the first one is being written
  std::size_t queued_bytes_ = 0, largest_matrix_ = 0;
  int pauses_ = 0;           ///< number of existing `Pause` objects
  bool is_writing_ = false;  ///< true while the thread writes, false while it waits
  bool stopping_ = false;
  std::int64_t steps_ = 0;  ///< number of written blocks, to detect progress
  std::exception_ptr failure_;
  std::vector<std::string> failed_;  ///< digests that were not stored because of `failure_`
  std::thread thread_;               ///< started with the first job
};

}  // namespace gaussweep::driver
