#include "driver/worker/store_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t beside_matrices = std::size_t{1} << 30;

/// Ends a write that nobody waits for.
struct Ended {};

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
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (const Job& job : jobs_) {
    fmt::print(stderr, "the matrix {} was not stored: the worker ended; it is made again where needed\n",
               job.digest);
  }
}

StoreWriter::Pause::Pause(StoreWriter& writer) : Pause(writer, Later{}) {
  settle();
}

StoreWriter::Pause::Pause(StoreWriter& writer, Later /*later*/) : writer_(writer) {
  const std::lock_guard lock(writer_.mutex_);
  ++writer_.paused_;
}

void StoreWriter::Pause::settle(double most_seconds) {
  std::unique_lock lock(writer_.mutex_);
  const auto stands = [&] { return !writer_.busy_; };
  if (std::isinf(most_seconds)) {
    writer_.changed_.wait(lock, stands);
  } else {
    writer_.changed_.wait_for(lock, std::chrono::duration<double>(most_seconds), stands);
  }
}

StoreWriter::Pause::~Pause() {
  {
    const std::lock_guard lock(writer_.mutex_);
    --writer_.paused_;
  }
  writer_.changed_.notify_all();
}

template <class T>
bool StoreWriter::find(const std::string& digest, io::StoredMatrix<T>& matrix) {
  if (store_.bytes_of(digest) == 0) return false;  // most often so, and nobody waits for that
  return alone([&] { return store_.find(digest, matrix); });
}

template <class T>
void StoreWriter::put(const std::string& digest, const io::SystemView<T>& system,
                      io::MatrixAttributes attributes, std::shared_ptr<const void> owner) {
  rethrow();
  const std::size_t bytes = bytes_of(system);
  const std::lock_guard lock(mutex_);
  const auto same = [&](const Job& job) { return job.digest == digest; };
  if (std::any_of(jobs_.begin(), jobs_.end(), same)) return;
  jobs_.push_back(
      {digest, bytes,
       [this, digest, system, attributes = std::move(attributes), owner = std::move(owner)](
           const io::BetweenWrites& between) { store_.put(digest, system, attributes, between); }});
  queued_bytes_ += bytes;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

/// With the lock.
bool StoreWriter::fits(std::size_t bytes, std::size_t matrix) {
  largest_ = std::max(largest_, matrix);
  return jobs_.empty() || queued_bytes_ + bytes <= 2 * largest_ + beside_matrices;
}

bool StoreWriter::has_room(std::size_t bytes, std::size_t matrix) {
  const std::lock_guard lock(mutex_);
  return fits(bytes, matrix);
}

void StoreWriter::make_room(std::size_t bytes, std::size_t matrix) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return fits(bytes, matrix); });
}

void StoreWriter::finish(const std::function<void()>& waiting, int patience) {
  std::unique_lock lock(mutex_);
  std::int64_t seen = steps_;
  for (int idle = 0; !jobs_.empty(); ++idle) {
    if (changed_.wait_for(lock, std::chrono::seconds(1), [&] { return jobs_.empty(); })) break;
    if (steps_ != seen) idle = 0;
    seen = steps_;
    if (idle >= patience) {
      throw io::StorageError(fmt::format("{}: nothing could be written for {} s",
                                         store_.path_of(jobs_.front().digest).string(), patience));
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

/// On the thread, without the lock.
void StoreWriter::between(io::WriteStep step) {
  std::unique_lock lock(mutex_);
  ++steps_;
  busy_ = false;
  changed_.notify_all();
  if (step == io::WriteStep::piece) {
    changed_.wait(lock, [&] { return ending_ || paused_ == 0; });
    busy_ = true;
  }
  if (ending_) throw Ended();
}

void StoreWriter::do_job(Job& job) {
  try {
    job.write([this](io::WriteStep step) { between(step); });
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
    changed_.wait(lock, [&] { return ending_ || (!jobs_.empty() && paused_ == 0); });
    if (ending_) return;
    busy_ = true;
    Job& job = jobs_.front();  // stays where it is while others are queued behind it
    lock.unlock();
    std::exception_ptr failure;
    try {
      do_job(job);
    } catch (const Ended&) {
      lock.lock();
      busy_ = false;
      return;
    } catch (const std::bad_alloc&) {  // a method may have taken all there was
      fmt::print(stderr, "the matrix {} was not stored: host memory ran out; it is made again where needed\n",
                 job.digest);
    } catch (...) {
      failure = std::current_exception();
    }
    job.write = nullptr;  // gigabytes, maybe: they are free before anybody hears that there is room
    lock.lock();
    busy_ = false;
    if (failure) {  // the others would fail likewise
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
