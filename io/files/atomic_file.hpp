#pragma once
/// Writes files that appear completely or not at all. The steps are: write a temporary file in the same
/// folder, fsync it, rename it, fsync the folder. Without the two syncs, a power failure can leave an
/// incomplete file.

#include <cstddef>
#include <filesystem>
#include <string>

#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// Selects whether a committed file also survives a power failure.
enum class Durable { no, yes };

/// A file under construction. Its bytes go to a temporary file, which `commit` renames to the target. Its
/// mode follows the umask. Without `commit` the temporary is removed and the target is not changed. A killed
/// process leaves its temporary behind; remove_stale_temporaries removes it. The folder is held open, so that
/// the file stays in it even if the folder is renamed or replaced in between.
class AtomicFile {
 public:
  /// Creates the empty temporary. @throws StorageError
  explicit AtomicFile(std::filesystem::path target);
  /// Creates the temporary in a folder that the caller holds open; only the last component of `target` is
  /// used.
  AtomicFile(int folder, std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Returns the temporary's path, for libraries that need one (HDF5). They must close the file before
  /// `commit`.
  std::filesystem::path temporary() const { return file_.path(); }
  /// Appends bytes. @throws StorageError
  void write(const void* data, std::size_t bytes);
  /// Syncs the temporary if `durable`, and renames it to the target. Replaces a regular file or a link, but
  /// no device, FIFO, socket or folder. @throws StorageError
  void commit(Durable durable = Durable::yes);

 private:
  [[noreturn]] void fail(const std::string& action, int error) const;
  void create();
  std::filesystem::path target_;
  Descriptor folder_descriptor_;  // the folder, if this object opened it
  int folder_ = -1;
  std::string temporary_;  // file name in the folder
  Descriptor file_;
  bool committed_ = false;
};

/// Writes a complete file atomically. @throws StorageError
void write_atomically(const std::filesystem::path& target, const void* data, std::size_t bytes);

/// Removes temporaries of `target` whose writers were killed. On this host, process ids show which writers
/// have ended; temporaries of other hosts are removed after an hour. The constructor of AtomicFile for a path
/// calls this first.
void remove_stale_temporaries(const std::filesystem::path& target);

/// Returns the name that process `pid` on this host gives to a temporary of `target`. `count` distinguishes
/// the temporaries of one process.
std::string temporary_name(const std::filesystem::path& target, int pid, unsigned count);

/// Removes the temporaries in `folder` of the process `pid` of this host. Does nothing if a link has replaced
/// the folder. @pre the process has ended
void remove_temporaries_of(int pid, const std::filesystem::path& folder);

/// The scope of a sync: data and all metadata (fsync), or data and the metadata needed to read them
/// (fdatasync).
enum class Sync { all, data };

/// Calls fsync or fdatasync. Repeats the call if a signal interrupts it, which can happen on network file
/// systems.
/// @return 0, or errno
int sync_descriptor(int fd, Sync what = Sync::all);

/// Syncs the data of a file that another process or library has written. @throws StorageError
void sync_file(const std::filesystem::path& path);
/// Syncs a folder, so that a new or renamed entry survives a power failure. @throws StorageError
void sync_folder(const std::filesystem::path& folder);

}  // namespace gaussweep::io
