#pragma once
/// A temporary folder that exists as long as its process.

#include <filesystem>
#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// A private folder in the system's temporary folder. The destructor removes it. If the process is killed,
/// its folder stays until a process creates another folder with the same stem. A lock on the file `owner` in
/// the folder shows if the owning process is alive, also on shared file systems and in containers.
class ScratchFolder {
 public:
  /// @param stem the beginning of the folder's name. @throws io::StorageError
  explicit ScratchFolder(const std::string& stem);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  bool make(const std::filesystem::path& parent, const std::string& stem);
  std::filesystem::path path_;
  io::Descriptor owner_;
};

}  // namespace gaussweep::driver
