/// Writes files under a temporary name and renames them when they are complete. The temporary of `target` is
/// named .TARGET.HOST-PID-COUNT.tmp, and the functions below build and recognise the parts of this name.

#include "io/files/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace gaussweep::io {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& target) {
  const auto folder = target.parent_path();
  return folder.empty() ? "." : folder;
}

/// Returns the target's file name. Shortens a long name and appends a hash, so that the temporary's name does
/// not exceed the file system's limit.
std::string stem_of(const std::filesystem::path& target) {
  // Most file systems allow names of 255 bytes. The rest is for the host's name (up to 64 bytes), the process
  // id and the count.
  constexpr std::size_t max_name_bytes = 140;
  const std::string name = target.filename().string();
  if (name.size() <= max_name_bytes) return name;
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  // The dash and a 64-bit number take at most 21 bytes.
  return name.substr(0, max_name_bytes - 24) + "-" + std::to_string(hash);
}

std::string temporary_prefix(const std::filesystem::path& target) {
  return "." + stem_of(target) + ".";
}
constexpr const char* temporary_suffix = ".tmp";

/// Returns the part of a temporary's name that identifies the host. It is necessary because nodes (and
/// usually containers) may share the folder, and their processes can have the same ids.
std::string host_tag() {
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  for (char& letter : host) {
    if (letter == '/') letter = '_';
  }
  return std::string(".") + host + "-";
}
/// Returns the part of a temporary's name that identifies the host and the process that writes it.
std::string writer_tag(int pid) {
  return host_tag() + std::to_string(pid) + "-";
}

void sync_open_folder(int fd, const std::filesystem::path& folder) {
  const int error = sync_descriptor(fd);
  // Some file systems cannot sync a folder and return these errors; there is no alternative then.
  if (error != 0 && error != EINVAL && error != ENOTSUP) {
    throw StorageError("Cannot sync the folder '" + folder.string() + "': " + std::strerror(error));
  }
}

}  // namespace

std::string temporary_name(const std::filesystem::path& target, int pid, unsigned count) {
  return "." + stem_of(target) + writer_tag(pid) + std::to_string(count) + temporary_suffix;
}

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  remove_stale_temporaries(target_);
  folder_descriptor_ = Descriptor(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_descriptor_.open()) fail("create a temporary file next to it", errno);
  folder_ = folder_descriptor_.fd();
  create();
}

AtomicFile::AtomicFile(int folder, std::filesystem::path target)
    : target_(std::move(target)), folder_(folder) {
  create();
}

void AtomicFile::create() {
  // Host, process and count make the name unique among running writers. O_EXCL detects the leftover of an
  // earlier process with the same id; the loop then tries the next count.
  static std::atomic<unsigned> count{0};
  for (int attempt = 0; !file_.open(); ++attempt) {
    temporary_ = temporary_name(target_, getpid(), count.fetch_add(1));
    file_ = Descriptor(
        openat(folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file_.open() && (errno != EEXIST || attempt == 100))
      fail("create a temporary file next to it", errno);
  }
}

AtomicFile::~AtomicFile() {
  if (!committed_) unlinkat(folder_, temporary_.c_str(), 0);
}

void AtomicFile::fail(const std::string& action, int error) const {
  throw StorageError("Cannot write '" + target_.string() + "': could not " + action + ": " +
                     std::strerror(error) + ". An earlier file of this name is unchanged.");
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    // Linux writes at most 2 GiB per call, so this loop writes at most 1 GiB per call.
    const ssize_t written = ::write(file_.fd(), next, bytes < (1u << 30) ? bytes : (1u << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write the temporary '" + temporary_ + "'", errno);
    }
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit(Durable durable) {
  const int error = durable == Durable::yes ? sync_descriptor(file_.fd()) : 0;
  if (error != 0) fail("sync the temporary '" + temporary_ + "'", error);
  // close may report delayed write errors of NFS. An interruption by a signal is harmless.
  if (close(file_.release()) != 0 && errno != EINTR) fail("close the temporary '" + temporary_ + "'", errno);
  const std::string name = target_.filename().string();
  struct stat info {};
  if (fstatat(folder_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode) &&
      !S_ISLNK(info.st_mode)) {
    throw StorageError("Cannot write '" + target_.string() + "': it is " +
                       std::string(file_kind(info.st_mode)) +
                       ", which is left as it is: only a regular file or a link is replaced.");
  }
  if (renameat(folder_, temporary_.c_str(), folder_, name.c_str()) != 0)
    fail("rename the temporary to it", errno);
  committed_ = true;
  if (durable == Durable::yes) sync_open_folder(folder_, folder_of(target_));
}

void write_atomically(const std::filesystem::path& target, const void* data, std::size_t bytes) {
  AtomicFile file(target);
  file.write(data, bytes);
  file.commit();
}

void remove_stale_temporaries(const std::filesystem::path& target) {
  const std::string prefix = temporary_prefix(target);
  const std::string suffix = temporary_suffix, this_host = host_tag();
  // Ignores folders and files that cannot be read or removed, since this is only housekeeping.
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(target), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= prefix.size() + suffix.size() || name.compare(0, prefix.size(), prefix) != 0 ||
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) {
      continue;
    }
    // Keeps the temporary if its writer is a process of this host that still runs. Signal 0 only tests if the
    // process exists. For writers on other hosts, the age of the file decides.
    const std::size_t tag = name.rfind(this_host);
    if (tag != std::string::npos) {
      const int pid = std::atoi(name.c_str() + tag + this_host.size());
      if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH) continue;
    } else {
      const auto written = entry.last_write_time(ignored);
      if (ignored) continue;
      if (std::filesystem::file_time_type::clock::now() - written <= std::chrono::hours(1)) continue;
    }
    std::filesystem::remove(entry.path(), ignored);
  }
}

void remove_temporaries_of(int pid, const std::filesystem::path& folder) {
  const std::string tag = writer_tag(pid);
  const std::string suffix = temporary_suffix;
  const Opened directory = open_folder(folder);
  if (!directory) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory.file.path(), ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_temporary = name.size() > suffix.size() && name.front() == '.' &&
                              name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    if (is_temporary && name.find(tag) != std::string::npos) unlinkat(directory.file.fd(), name.c_str(), 0);
  }
}

int sync_descriptor(int fd, Sync what) {
  for (;;) {
    if ((what == Sync::data ? fdatasync(fd) : fsync(fd)) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

void sync_file(const std::filesystem::path& path) {
  const Opened opened = open_regular(path);
  const int error = opened ? sync_descriptor(opened.file.fd(), Sync::data) : opened.error;
  if (error != 0) throw StorageError("Cannot bring '" + path.string() + "' to disk: " + std::strerror(error));
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.open())
    throw StorageError("Cannot open the folder '" + folder.string() + "': " + std::strerror(errno));
  sync_open_folder(directory.fd(), folder);
}

}  // namespace gaussweep::io
