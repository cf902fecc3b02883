#pragma once
/// Files that appear whole or not at all: a temporary in the same folder, fsync, rename, fsync of the folder.
/// Without the two syncs this holds for all but a power failure.

#include <cstddef>
#include <filesystem>
#include <string>

#include "io/files/errors.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// Whether a file that has appeared survives a power failure too.
enum class Durable { no, yes };

/// A file under construction, with the mode that the umask gives. Without `commit` the temporary is removed
/// and the target stays as it was; only a killed process leaves its temporary behind
/// (remove_stale_temporaries). The folder is held from the first moment to the last: that its name comes to
/// lead elsewhere in between moves nothing.
class AtomicFile {
 public:
  /// Creates the empty temporary. @throws StorageError
  explicit AtomicFile(std::filesystem::path target);
  /// The same in a folder that the caller holds; of `target` only the last component says where.
  AtomicFile(int folder, std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// A name under which a library that wants one (HDF5) may write; it must have closed the file before
  /// `commit`.
  std::filesystem::path temporary() const { return file_.path(); }
  /// Appends bytes. @throws StorageError
  void write(const void* data, std::size_t bytes);
  /// Makes the temporary durable, where asked to, and gives it the target's name. It takes the place of
  /// nothing, a regular file or a link; a device, a FIFO, a socket or a folder stays. @throws
  /// StorageError
  void commit(Durable durable = Durable::yes);

 private:
  [[noreturn]] void fail(const std::string& action, int error) const;
  void create();
  std::filesystem::path target_;
  Descriptor held_;  // where this opened the folder itself
  int folder_ = -1;
  std::string temporary_;  // in the folder
  Descriptor file_;
  bool committed_ = false;
};

/// The whole in one call. @throws StorageError
void write_atomically(const std::filesystem::path& target, const void* data, std::size_t bytes);

/// Removes temporaries of `target` whose writers were killed: of this host by their process numbers, of
/// others by an age of over an hour. An AtomicFile of a path begins with it.
void remove_stale_temporaries(const std::filesystem::path& target);

/// The name of the temporary number `count` of `target`, as the process `pid` of this host calls it.
std::string temporary_name(const std::filesystem::path& target, int pid, unsigned count);

/// Removes temporaries that the process `pid` of this host left in `folder`: it must have ended. A folder
/// that a link has taken the place of is left alone.
void remove_temporaries_of(int pid, const std::filesystem::path& folder);

/// What a sync makes durable: all that is known of a file, or its data and what is needed to find them.
enum class Sync { all, data };

/// fsync or fdatasync, again where a signal interrupted it. On some network file systems one may, and what
/// was not written yet is still to be written then. @return 0, else errno
int sync_descriptor(int fd, Sync what = Sync::all);

/// Brings the data of a file to disk that somebody else has written. @throws StorageError
void sync_file(const std::filesystem::path& path);
/// fsync of a folder, so that a new or renamed entry survives a power failure. @throws StorageError
void sync_folder(const std::filesystem::path& folder);

}  // namespace gaussweep::io
