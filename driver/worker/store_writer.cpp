/// Reads and writes the matrices that the run directory stores. A background thread does the queued writes
/// and pauses while runs are timed.

#include "driver/worker/store_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <new>

#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t queue_allowance = std::size_t{1} << 30;  // bytes, see `has_room`

/// Thrown in the thread to abort a write when the writer is destroyed.
struct Aborted {};

template <class T>
std::size_t bytes_of(const io::SystemView<T>& system) {
  const auto elements = [](const io::DenseView<T>& view) {
    return static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols);
  };
  return (elements(system.a) + elements(system.b) + elements(system.x_true)) * sizeof(T);
}

}  // namespace

StoreWriter::StoreWriter(io::MatrixStore store) : store_(std::move(store)) {}

StoreWriter::~StoreWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (const Job& job : jobs_) {
    fmt::print(stderr, "the matrix {} was not stored: the worker ended; it is made again where needed\n",
               job.digest);
  }
}

StoreWriter::Pause::Pause(StoreWriter& writer, double max_seconds) : writer_(writer) {
  {
    const std::lock_guard lock(writer_.mutex_);
    ++writer_.pauses_;
  }
  wait_until_paused(max_seconds);
}

void StoreWriter::Pause::wait_until_paused(double max_seconds) {
  std::unique_lock lock(writer_.mutex_);
  const auto has_paused = [&] { return !writer_.is_writing_; };
  if (std::isinf(max_seconds)) {
    writer_.changed_.wait(lock, has_paused);
  } else {
    writer_.changed_.wait_for(lock, std::chrono::duration<double>(max_seconds), has_paused);
  }
}

StoreWriter::Pause::~Pause() {
  {
    const std::lock_guard lock(writer_.mutex_);
    --writer_.pauses_;
  }
  writer_.changed_.notify_all();
}

template <class T>
bool StoreWriter::find(const std::string& digest, io::StoredMatrix<T>& matrix) {
  if (store_.bytes_of(digest) == 0) return false;  // the common case, which needs no pause of the thread
  return while_paused([&] { return store_.find(digest, matrix); });
}

template <class T>
void StoreWriter::put(const std::string& digest, const io::SystemView<T>& system,
                      io::MatrixAttributes attributes, std::shared_ptr<const void> owner) {
  rethrow();
  const std::size_t bytes = bytes_of(system);
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Job& job) { return job.digest == digest; };
  if (std::any_of(jobs_.begin(), jobs_.end(), same)) return;
  jobs_.push_back({digest, bytes,
                   [this, digest, system, attributes = std::move(attributes),
                    owner = std::move(owner)](const io::WriteCallback& between_writes) {
                     store_.put(digest, system, attributes, between_writes);
                   }});
  queued_bytes_ += bytes;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

/// Implements `has_room`. @pre mutex_ is locked
bool StoreWriter::fits(std::size_t bytes, std::size_t matrix_bytes) {
  largest_matrix_ = std::max(largest_matrix_, matrix_bytes);
  return jobs_.empty() || queued_bytes_ + bytes <= 2 * largest_matrix_ + queue_allowance;
}

bool StoreWriter::has_room(std::size_t bytes, std::size_t matrix_bytes) {
  const std::lock_guard lock(mutex_);
  return fits(bytes, matrix_bytes);
}

void StoreWriter::make_room(std::size_t bytes, std::size_t matrix_bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return fits(bytes, matrix_bytes); });
}

void StoreWriter::finish(const std::function<void()>& waiting, int max_idle_seconds) {
  std::unique_lock lock(mutex_);
  std::int64_t seen = steps_;
  for (int idle = 0; !jobs_.empty(); ++idle) {
    if (changed_.wait_for(lock, std::chrono::seconds(1), [&] { return jobs_.empty(); })) break;
    if (steps_ != seen) idle = 0;
    seen = steps_;
    if (idle >= max_idle_seconds) {
      throw io::StorageError(fmt::format("{}: nothing could be written for {} s",
                                         store_.path_of(jobs_.front().digest).string(), max_idle_seconds));
    }
    lock.unlock();
    waiting();
    lock.lock();
  }
  if (failure_) std::rethrow_exception(failure_);
}

void StoreWriter::rethrow() const {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

std::vector<std::string> StoreWriter::writing() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> digests = failed_;
  for (const Job& job : jobs_) digests.push_back(job.digest);
  return digests;
}

/// Called on the thread between two blocks of a write. @pre mutex_ is not locked
void StoreWriter::pause_between_blocks(io::WriteStep step) {
  std::unique_lock lock(mutex_);
  ++steps_;
  is_writing_ = false;
  changed_.notify_all();
  // During `WriteStep::wait` the thread only waits for the operating system, so it is regarded as paused.
  if (step == io::WriteStep::block) {
    changed_.wait(lock, [&] { return stopping_ || pauses_ == 0; });
    is_writing_ = true;
  }
  if (stopping_) throw Aborted();
}

void StoreWriter::do_job(Job& job) {
  try {
    job.write([this](io::WriteStep step) { pause_between_blocks(step); });
  } catch (const io::StorageError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw io::StorageError(store_.path_of(job.digest).string() + ": cannot be stored: " + e.what());
  }
}

void StoreWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || (!jobs_.empty() && pauses_ == 0); });
    if (stopping_) return;
    is_writing_ = true;
    Job& job = jobs_.front();  // a deque keeps the element in place while others are pushed
    lock.unlock();
    std::exception_ptr failure;
    try {
      do_job(job);
    } catch (const Aborted&) {
      lock.lock();
      is_writing_ = false;
      return;
    } catch (const std::bad_alloc&) {  // a method may have taken all memory
      fmt::print(stderr, "the matrix {} was not stored: host memory ran out; it is made again where needed\n",
                 job.digest);
    } catch (...) {
      failure = std::current_exception();
    }
    job.write = nullptr;  // frees the matrix before `changed_` tells other threads that there is room
    lock.lock();
    is_writing_ = false;
    if (failure) {  // the queued writes would fail too
      failure_ = failure;
      for (const Job& failed : jobs_) failed_.push_back(failed.digest);
      jobs_.clear();
      queued_bytes_ = 0;
    } else {
      queued_bytes_ -= job.bytes;
      jobs_.pop_front();
    }
    changed_.notify_all();
  }
}

template bool StoreWriter::find(const std::string&, io::StoredMatrix<float>&);
template bool StoreWriter::find(const std::string&, io::StoredMatrix<double>&);
template void StoreWriter::put(const std::string&, const io::SystemView<float>&, io::MatrixAttributes,
                               std::shared_ptr<const void>);
template void StoreWriter::put(const std::string&, const io::SystemView<double>&, io::MatrixAttributes,
                               std::shared_ptr<const void>);

}  // namespace gaussweep::driver
