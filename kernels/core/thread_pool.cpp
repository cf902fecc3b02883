/// Implements thread_pool.hpp: threads that wait for the next loop and share its calls.

#include "kernels/core/thread_pool.hpp"

#include <csignal>

#include <atomic>
#include <exception>
#include <system_error>

#include "kernels/core/parallel_rows.hpp"

namespace gaussweep {
namespace {

/// While an object of this class lives, the calling thread blocks all signals. Threads that it creates
/// inherit the signal mask.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

/// One call of for_each, whose loop iterations the threads share.
struct ThreadPool::Job {
  Job(std::int64_t calls, int max_helpers, const std::function<void(std::int64_t)>& function)
      : count(calls), helpers(max_helpers), work(function) {}
  /// Performs calls until all have started, in competition with the other threads of the job.
  void run_calls() {
    const ParallelWorker worker;
    try {
      for (std::int64_t i = next_call++; i < count; i = next_call++) work(i);
    } catch (...) {
      next_call = count;  // the other threads start no more calls
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  }

  const std::int64_t count;
  int helpers;   ///< the number of threads that may still join
  int busy = 0;  ///< the number of threads that have joined and not finished
  const std::function<void(std::int64_t)>& work;
  std::atomic<std::int64_t> next_call{0};
  std::mutex mutex;
  std::exception_ptr error;
};

ThreadPool& ThreadPool::of_process() {
  static ThreadPool pool;
  return pool;
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  job_ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::ensure_threads(std::size_t threads) {
  if (threads_.size() >= threads) return;
  threads_.reserve(threads);
  const BlockedSignals blocked;
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { run_worker(); });
  } catch (const std::system_error&) {
    // The system cannot create more threads. The existing threads do the work; the next call tries again.
  }
}

void ThreadPool::run_worker() {
  std::uint64_t last_job = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    job_ready_.wait(lock, [&] { return stopping_ || (job_ != nullptr && job_count_ != last_job); });
    if (stopping_) return;
    last_job = job_count_;
    Job& job = *job_;
    if (job.helpers-- <= 0) continue;
    ++job.busy;
    lock.unlock();
    job.run_calls();
    lock.lock();
    if (--job.busy == 0) job_done_.notify_one();
  }
}

void ThreadPool::for_each(std::int64_t count, int helpers, const std::function<void(std::int64_t)>& work) {
  if (helpers <= 0 || ParallelWorker::is_active()) {
    for (std::int64_t i = 0; i < count; ++i) work(i);
    return;
  }
  const std::lock_guard submit_lock(submit_mutex_);
  ensure_threads(static_cast<std::size_t>(helpers));
  Job job(count, helpers, work);
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    ++job_count_;
  }
  job_ready_.notify_all();
  job.run_calls();
  {
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    job_done_.wait(lock, [&] { return job.busy == 0; });
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace gaussweep
