#pragma once
/// A file in memory, for readers that need a path.

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace gaussweep::fuzz {

/// A temporary file with the given bytes: in /dev/shm, or, if that cannot be written, in the temporary
/// folder.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) {
    // Not memfd_create: HDF5 opens only files that have a name in a folder.
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    std::string name =
        ((in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
         "gaussweep-fuzz-XXXXXX")
            .string();
    fd_ = mkostemp(name.data(), O_CLOEXEC);
    path_ = name;
    if (fd_ < 0 || write(fd_, data, size) != static_cast<ssize_t>(size)) {
      throw std::runtime_error("no file in memory for the fuzzer's input");
    }
  }
  ~MemoryFile() {
    close(fd_);
    unlink(path_.c_str());
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }
  int fd() const { return fd_; }

 private:
  int fd_;
  std::filesystem::path path_;
};

}  // namespace gaussweep::fuzz
