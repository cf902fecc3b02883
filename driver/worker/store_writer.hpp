#pragma once
/// The run directory's matrices as a worker uses them: read at once, written behind the trials by a thread of
/// its own. The thread stands still while something is timed. No record depends on it.
///
/// HDF5 is not made for several threads: whatever else uses it in this process does so in `alone`.

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

class StoreWriter {
 public:
  explicit StoreWriter(io::MatrixStore store);
  /// Ends the write under way at its next piece; what is not stored then is said on standard error.
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  /// Keeps the thread from working until its end. While the kernel syncs a file for it, it counts as
  /// standing.
  class Pause {
   public:
    /// Waits until the thread stands still, some milliseconds.
    explicit Pause(StoreWriter& writer);
    /// Only asks it to, after the piece that it is at.
    struct Later {};
    Pause(StoreWriter& writer, Later later);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    /// Waits until it stands still, or for `most_seconds`.
    void settle(double most_seconds = std::numeric_limits<double>::infinity());

   private:
    StoreWriter& writer_;
  };
  /// Calls `work` while the thread stands still. @return what it returns
  template <class Work>
  auto alone(Work&& work) {
    const Pause pause(*this);
    return std::forward<Work>(work)();
  }

  /// Reads a matrix into `matrix`, whose memory is used again. @return false where none is stored
  /// @throws io::StorageError
  template <class T>
  bool find(const std::string& digest, io::StoredMatrix<T>& matrix);
  /// Has a matrix stored, some time. `owner` keeps the viewed elements alive and unchanged until then.
  /// @throws io::StorageError an earlier one could not be
  template <class T>
  void put(const std::string& digest, const io::SystemView<T>& system, io::MatrixAttributes attributes,
           std::shared_ptr<const void> owner);
  /// Whether a trial that will take `bytes` for a matrix of `matrix` bytes and its answers may take them
  /// beside what is queued. Nothing is queued, or together they are at most twice the largest matrix so far
  /// and a gibibyte.
  bool has_room(std::size_t bytes, std::size_t matrix);
  /// Waits until it is so.
  void make_room(std::size_t bytes, std::size_t matrix);
  /// Waits until all is stored, and calls `waiting` about once a second meanwhile.
  /// @throws io::StorageError where one could not be, or nothing moved for `patience` seconds
  void finish(const std::function<void()>& waiting, int patience = 300);
  /// @throws io::StorageError that of the first matrix that could not be stored, if there is one
  void rethrow() const;
  /// Digests of what is not stored yet, or could not be: whoever ends the worker has to hear why.
  std::vector<std::string> writing() const;

 private:
  struct Job {
    std::string digest;
    std::size_t bytes;
    std::function<void(const io::BetweenWrites&)> write;
  };
  bool fits(std::size_t bytes, std::size_t matrix);
  void run();
  void do_job(Job& job);
  void between(io::WriteStep step);

  io::MatrixStore store_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  ///< the first is the one under way
  std::size_t queued_bytes_ = 0, largest_ = 0;
  int paused_ = 0;
  bool busy_ = false;  ///< the thread works, and does not only wait
  bool ending_ = false;
  std::int64_t steps_ = 0;  ///< of all writes: they move
  std::exception_ptr failure_;
  std::vector<std::string> failed_;  ///< what was not stored for it
  std::thread thread_;               ///< started with the first job
};

}  // namespace gaussweep::driver
