/// Manages the run directory: plan.yaml, journal.jsonl, results.h5, matrices/, logs/, and its lock.

#include "driver/sweep/run_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <iterator>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/loading.hpp"
#include "driver/system/clock.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::driver {
namespace {

constexpr double lock_timeout = 10;  // seconds
constexpr const char* lock_name = "lock";
constexpr double results_fraction = 0.05;  // limit on the fraction of the time for writing results.h5

void make_folder(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return;
  throw io::StorageError(fmt::format("cannot create the folder {}: {}", path.string(), std::strerror(errno)));
}

/// Checks who may write into a folder, because another user may have created it. Warns if everybody may
/// write. Throws if the folder belongs to another user and its mode lets the group or everybody write.
void check_writers(int descriptor, const std::filesystem::path& path) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return;
  const mode_t mode = facts.st_mode & 07777;
  if (facts.st_uid != ::geteuid() && (mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw io::StorageError(fmt::format(
        "{}: belongs to another user, and others may write into it (mode {:04o}) and change the files "
        "of a run; allowed: a folder of your own",
        path.string(), mode));
  }
  if ((mode & S_IWOTH) != 0)
    spdlog::warn("{}: everybody may write into it (mode {:04o}) and change what a run records", path.string(),
                 mode);
}

/// Creates a folder in the run directory. Rejects a symbolic link, because it may lead out of the run
/// directory.
void make_inner_folder(const std::filesystem::path& path) {
  make_folder(path);
  const io::Opened folder = io::open_folder(path);
  if (!folder) {
    throw io::StorageError(fmt::format("{} must be a folder of the run directory, not a link or a file: {}",
                                       path.string(), folder.why));
  }
  check_writers(folder.file.fd(), path);
}

/// Creates the run directory and its missing parents, and syncs their directory entries to disk.
void make_durable_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return;
  std::vector<std::filesystem::path> made{path};
  while (!std::filesystem::exists(made.back().parent_path(), error))
    made.push_back(made.back().parent_path());
  std::filesystem::create_directories(path.parent_path(), error);
  make_folder(path);
  for (const std::filesystem::path& folder : made) {
    const std::filesystem::path above = folder.parent_path();
    // A parent that cannot be read cannot be opened for a sync.
    if (::access(above.c_str(), R_OK) == 0) io::sync_folder(above);
  }
}

/// Opens or creates a file of the run directory and locks it. Waits up to `lock_timeout` for another process
/// that holds the lock. If another process has replaced the file in the meantime, locks the new file.
io::Descriptor lock_file(const std::filesystem::path& name) {
  const double start = now_seconds(), deadline = start + lock_timeout;
  bool is_reported = false;
  for (;;) {
    io::Opened opened = io::open_regular(name, io::JournalWriter::open_flags);
    if (!opened) throw io::StorageError(fmt::format("cannot open {}: {}", name.string(), opened.why));
    const int error = ::flock(opened.file.fd(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && io::check_still_named(name, opened.file.fd()) == 0) return std::move(opened.file);
    if (error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP) {
      throw io::StorageError(
          fmt::format("{} cannot be locked, so a second run could use it at the same time: this file system "
                      "has no locks ({}; Lustre needs the mount option flock, NFS its lock service)",
                      name.parent_path().string(), std::strerror(error)));
    }
    if (error != 0 && error != EWOULDBLOCK && error != EINTR) {
      throw io::StorageError(fmt::format("cannot lock {}: {}", name.string(), std::strerror(error)));
    }
    if (now_seconds() > deadline) {
      throw UsageError(
          fmt::format("{}: another run is at work on this directory (it holds {}); wait for its end or "
                      "choose another directory",
                      name.parent_path().string(), name.string()));
    }
    if (!is_reported && now_seconds() > start + 1) {
      spdlog::warn("waiting up to {:g} s for {}, which another run holds", lock_timeout, name.string());
      is_reported = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Throws if reading the directory gave an error.
void require_readable(const std::filesystem::path& path, const std::error_code& error) {
  if (error)
    throw UsageError(fmt::format("-o {}: the directory cannot be read: {}", path.string(), error.message()));
}

/// Throws if the directory of a new run holds anything but the lock.
void require_empty(const std::filesystem::path& path, const std::string& lock) {
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() == lock) continue;
    throw UsageError(
        fmt::format("-o {}: the directory exists and is not empty; give a new name, or run --resume to go on "
                    "with the run that it holds",
                    path.string()));
  }
  require_readable(path, error);
}

/// Returns true if the directory is empty or has files of a run, even of one that was killed early.
bool looks_like_run(const std::filesystem::path& path) {
  std::error_code error;
  const bool is_empty = std::filesystem::is_empty(path, error);
  require_readable(path, error);
  if (is_empty) return true;
  const char* names[] = {"journal.jsonl", "lock", "logs", "matrices", "plan.yaml"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return std::filesystem::exists(path / name, error); });
}

}  // namespace

void check_run_directory(const std::filesystem::path& path, bool resume) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  if (!std::filesystem::is_directory(path, error)) {
    throw UsageError(
        fmt::format("-o {}: is a file; give the name of a directory, which will be created", path.string()));
  }
  if (!resume) require_empty(path, "");
  if (!resume) return;
  // The folder of a job array also has `logs`, but no journal; `first` is then a run below it.
  const std::filesystem::path first = runs_under(path, /*by_journal=*/true).front();
  if (first == path && looks_like_run(path)) return;
  throw UsageError(fmt::format(
      "-o {}: holds files, but no run that could go on; give the directory of a run{}, or a new name",
      path.string(), first == path ? "" : fmt::format(", such as {}", first.string())));
}

RunDirectory::RunDirectory(const std::filesystem::path& path, bool resume, double results_after)
    : path_(std::filesystem::absolute(path)), results_after_(results_after) {
  check_run_directory(path, resume);
  make_durable_folder(path_);
  const io::Descriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) check_writers(folder.fd(), path_);
  lock_ = lock_file(path_ / lock_name);
  if (!resume)
    require_empty(path_, lock_name);  // again, because another run may have used it before this one locked it
  make_inner_folder(path_ / "matrices");
  make_inner_folder(path_ / "logs");
  const std::filesystem::path journal = path_ / "journal.jsonl";
  // The journal has a separate lock, which remains if someone removes the file `lock`.
  io::Descriptor locked_journal = lock_file(journal);
  contents_ = io::read_journal(journal);
  durable_ = contents_.records.size();
  for (std::size_t i = 0; i < contents_.records.size(); ++i) index_[contents_.records[i].key] = i;
  for (const io::Note& each : contents_.notes) {
    const auto* run = std::get_if<io::note::Run>(&each);
    if (run != nullptr && run_id_.empty()) run_id_ = run->run_id;
  }
  if (run_id_.empty()) run_id_ = random_id();
  writer_ = std::make_unique<io::JournalWriter>(journal, std::move(locked_journal));
  next_write_ = now_seconds() + results_after_;
}

RunDirectory::~RunDirectory() {
  if (write_.valid()) write_.wait();
  writer_.reset();
}

void RunDirectory::save_plan(const std::string& text) {
  io::write_atomically(path_ / "plan.yaml", text.data(), text.size());
}

void RunDirectory::append(io::Record record) {
  writer_->append(record);
  io::share_texts(record, texts_);
  const auto [at, fresh] = index_.try_emplace(record.key, contents_.records.size());
  if (fresh) {
    contents_.records.push_back(std::move(record));
    // The number of notes before a record identifies the start of the run that wrote it.
    contents_.notes_before.push_back(contents_.notes.size());
  } else {
    contents_.records[at->second] = std::move(record);
    contents_.notes_before[at->second] = contents_.notes.size();
  }
  is_outdated_ = true;
}

void RunDirectory::note(io::Note note) {
  writer_->append_note(note);
  contents_.notes.push_back(std::move(note));
  is_outdated_ = true;
}

void RunDirectory::sync() {
  writer_->sync();
  durable_ = durable_when_settled_ = contents_.records.size();
}

void RunDirectory::flush() {
  writer_->flush();
  written_ = contents_.records.size();
}

void RunDirectory::begin_sync() {
  writer_->begin_sync();
  written_ = durable_when_settled_ = contents_.records.size();
}

std::size_t RunDirectory::safe_records() {
  try {
    writer_->sync_written();
    durable_ = std::max(durable_, written_);
  } catch (const io::StorageError&) {  // records that may not be on disk do not count
  }
  return durable_;
}

bool RunDirectory::is_settled() {
  if (!writer_->sync_finished()) return false;
  durable_ = std::max(durable_, durable_when_settled_);
  return true;
}

bool RunDirectory::finish_write(bool wait) {
  if (!write_.valid()) return true;
  if (!wait && write_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) return false;
  write_.get();
  const double end = now_seconds();
  next_write_ = end + std::max(results_after_, (end - write_began_) / results_fraction);
  return true;
}

void RunDirectory::end(int exit_code, const std::string& reason) {
  note(io::note::End{exit_code, reason, time_stamp()});
  sync();
  try {
    write_results(/*now=*/true);
  } catch (const io::StorageError&) {
    note(io::note::End{exit_broken, "results.h5 could not be written", time_stamp()});
    sync();
    throw;
  }
}

void RunDirectory::write_results(bool now) {
  if (!finish_write(/*wait=*/now) || !is_outdated_) return;
  const double start = now_seconds();
  if (!now && start < next_write_) return;
  // The journal is synced before results.h5, which must never show records that the journal may lose.
  if (now) {
    sync();
  } else {
    flush();
  }
  const std::filesystem::path path = path_ / "results.h5";
  std::vector<char> image = io::results_image(path, results_of(contents_));
  is_outdated_ = false;
  if (now) return io::write_results_image(path, image);
  write_began_ = start;
  // `deferred`: if no thread can start, the write runs when `finish_write` calls `get`.
  write_ = std::async(std::launch::async | std::launch::deferred,
                      [path, journal = path_ / "journal.jsonl", image = std::move(image)] {
                        io::sync_file(journal);
                        io::write_results_image(path, image);
                      });
}

}  // namespace gaussweep::driver
