#pragma once
/// A temporary folder for the lifetime of a process.

#include <filesystem>
#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// A private folder in the system's temporary folder; the destructor removes it. A killed process leaves its
/// folder behind; the next process that creates one with the same stem removes it. A lock on the file `owner`
/// shows if the owner is alive, also on shared file systems and in containers.
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
