/// Creates a temporary folder, and removes the temporary folders of processes that were killed.

#include "driver/system/scratch_folder.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "driver/system/process.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* owner_name = "owner";

/// Removes a folder. The file `owner` is removed last, because its lock shows if the owning process is alive.
void remove_folder(const fs::path& folder) {
  std::error_code error, ignored;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename() != owner_name) fs::remove_all(entry->path(), ignored);
  }
  fs::remove_all(folder, ignored);
}

/// Removes a folder whose owner has ended. Folders that cannot be examined or locked stay.
void remove_if_abandoned(const fs::path& folder) {
  const io::Opened opened_folder = io::open_folder(folder);
  struct stat facts {};
  if (!opened_folder || ::fstat(opened_folder.file.fd(), &facts) != 0 || facts.st_uid != ::geteuid()) return;
  const io::Opened owner = io::open_regular(owner_name, O_RDWR | O_NOFOLLOW, opened_folder.file.fd());
  if (owner) {
    if (::flock(owner.file.fd(), LOCK_EX | LOCK_NB) == 0) remove_folder(folder);
    return;
  }
  // The owning process may be about to create the file `owner`. Only empty folders older than an hour are
  // therefore removed.
  std::error_code error;
  const auto made = fs::last_write_time(folder, error);
  if (!error && fs::file_time_type::clock::now() - made > std::chrono::hours(1)) ::rmdir(folder.c_str());
}

}  // namespace

/// Creates the folder. @return false if another process removed it before it was locked
bool ScratchFolder::make(const fs::path& parent, const std::string& stem) {
  std::string name = (parent / (stem + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw io::StorageError(
        fmt::format("{}: cannot be made: {} (set TMPDIR to use another folder)", name, std::strerror(errno)));
  path_ = name;
  io::Opened owner = io::open_regular(path_ / owner_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!owner) {
    remove_folder(path_);
    throw io::StorageError(fmt::format("{}: cannot be written: {}", name, owner.why));
  }
  // If the file system has no locks, no other process removes the folder either.
  if (::flock(owner.file.fd(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  if (io::check_still_named(path_ / owner_name, owner.file.fd()) != 0) return false;
  owner_ = std::move(owner.file);
  return true;
}

ScratchFolder::ScratchFolder(const std::string& stem) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    throw io::StorageError(
        fmt::format("TMPDIR={}: there is no such folder; make it, or set TMPDIR to another",
                    environment_value("TMPDIR")));
  }
  // An unreadable parent is skipped.
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().rfind(stem + "-", 0) == 0) remove_if_abandoned(entry->path());
  }
  constexpr int max_attempts = 100;
  for (int attempt = 0; !make(parent, stem); ++attempt) {
    if (attempt == max_attempts)
      throw io::StorageError(
          fmt::format("{}: other processes remove the folders that are created there", parent.string()));
  }
}

ScratchFolder::~ScratchFolder() {
  remove_folder(path_);
}

}  // namespace gaussweep::driver
