#pragma once
/// A thread pool. It exists because starting a thread takes as long as verifying ten small systems.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gaussweep {

/// A pool for short loops. Its threads inherit the CPU affinity of the first caller and block all signals.
class ThreadPool {
 public:
  /// Returns the process's pool.
  static ThreadPool& of_process();
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Calls work(i) for every i in [0, count), on free threads of the pool and on the calling thread. Returns
  /// when all calls are done; rethrows an exception of a call. Within another parallel loop (for_row_ranges)
  /// the caller works alone.
  /// @param helpers the maximum number of threads in addition to the caller; fewer if the system cannot
  /// create them
  void for_each(std::int64_t count, int helpers, const std::function<void(std::int64_t)>& work);

 private:
  struct Job;
  void ensure_threads(std::size_t threads);  ///< creates threads until there are `threads`
  void run_worker();                         ///< the loop of a pool's thread: waits for a job and joins it

  std::mutex submit_mutex_;  ///< held by the caller of for_each: one job at a time
  std::mutex mutex_;         ///< protects the members below
  std::condition_variable job_ready_, job_done_;
  Job* job_ = nullptr;
  std::uint64_t job_count_ = 0;  ///< the number of jobs so far, by which workers recognize a new one
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gaussweep
