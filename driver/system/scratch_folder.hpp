#pragma once
/// A temporary folder for the life of one process.

#include <filesystem>
#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::driver {

/// A private folder under the system's temporary folder. The destructor removes it. A killed process leaves
/// its folder behind; the next process that makes one of the same stem removes it. A lock on the file `owner`
/// tells whether the process lives, on a shared file system and in containers too, where process numbers do
/// not.
class ScratchFolder {
 public:
  /// @param stem the beginning of its name. @throws io::StorageError
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
