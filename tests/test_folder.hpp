#pragma once
/// A temporary folder of a test. Several runs of the same test may be active on one machine.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace gaussweep::testing_help {

/// An empty folder that is removed with the test.
class TestFolder {
 public:
  enum class Place {
    disk,   ///< the system's folder for temporary files
    memory  ///< in memory if possible, for tests that sync thousands of times
  };
  explicit TestFolder(Place place = Place::disk) {
    const std::filesystem::path shared = "/dev/shm";
    const bool in_memory = place == Place::memory && access(shared.c_str(), W_OK) == 0;
    std::string name =
        ((in_memory ? shared : std::filesystem::temp_directory_path()) / "gaussweep-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    folder_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

}  // namespace gaussweep::testing_help
