#include "driver/system/scratch_folder.hpp"

#include "tests/io/records/record_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

class AbandonedFolder : public ::testing::Test {
 protected:
  AbandonedFolder() {
    const char* before = std::getenv("TMPDIR");
    before_ = before == nullptr ? "" : before;
    ::setenv("TMPDIR", place_.c_str(), 1);
  }
  ~AbandonedFolder() override {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
  }
  std::set<fs::path> found() const {
    std::set<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(place_)) paths.insert(entry.path());
    return paths;
  }
  /// Leaves the folder of a process that ended without cleaning up.
  void leave() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const ScratchFolder folder("stem");
      fs::create_directories(folder.path() / "run" / "matrices");
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  TestFolder scratch_;
  const fs::path& place_ = scratch_.folder();
  std::string before_;
};

TEST_F(AbandonedFolder, IsRemovedByTheNextFolderOfTheStem) {
  leave();
  ASSERT_EQ(found().size(), 1U);
  { const ScratchFolder other("other"); }
  EXPECT_EQ(found().size(), 1U);
  const ScratchFolder next("stem");
  EXPECT_EQ(found(), std::set<fs::path>{next.path()});
}

TEST_F(AbandonedFolder, KeepsFoldersOfLivingOrUnknownOwners) {
  const ScratchFolder first("stem");
  fs::create_directory(place_ / "stem-mine");
  set_file_text(place_ / "stem-mine" / "text", "precious");
  fs::create_directory(place_ / "stem-new");
  fs::create_directory_symlink(place_ / "stem-mine", place_ / "stem-link");
  fs::last_write_time(place_ / "stem-mine", fs::file_time_type::clock::now() - std::chrono::hours(2));
  const std::set<fs::path> before = found();
  { const ScratchFolder second("stem"); }
  EXPECT_EQ(found(), before);
  EXPECT_TRUE(fs::exists(place_ / "stem-mine" / "text"));
  fs::last_write_time(place_ / "stem-new", fs::file_time_type::clock::now() - std::chrono::hours(2));
  { const ScratchFolder third("stem"); }
  EXPECT_FALSE(fs::exists(place_ / "stem-new"))
      << "empty, from a process that ended before it noted its owner";
}

}  // namespace
}  // namespace gaussweep::driver
