#pragma once
/// Threads that are kept: starting one takes as long as judging ten small systems.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gaussweep {

/// A process's threads for short work. They may run where the first caller may, and take no signals.
class ThreadPool {
 public:
  static ThreadPool& of_process();
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Calls work(i) for every i of [0, count): whoever is free takes the next one, the caller too. Returns
  /// when all are done, without waiting for a thread that comes too late; rethrows what one threw. Within a
  /// range of others (for_row_ranges) the caller is alone. @param helpers the maximum number of threads in
  /// addition to the caller; fewer take part if the system cannot create them
  void for_each(std::int64_t count, int helpers, const std::function<void(std::int64_t)>& work);

 private:
  struct Job;
  void keep(std::size_t threads);
  void serve();

  std::mutex turn_;   ///< of whoever has work
  std::mutex mutex_;  ///< of what follows
  std::condition_variable begun_, done_;
  Job* job_ = nullptr;
  std::uint64_t jobs_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gaussweep
