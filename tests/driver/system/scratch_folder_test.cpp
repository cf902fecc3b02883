// Tests that scratch folders of ended processes are removed, and no others.

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
    old_tmpdir_ = before == nullptr ? "" : before;
    ::setenv("TMPDIR", parent_.c_str(), 1);
  }
  ~AbandonedFolder() override {
    old_tmpdir_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old_tmpdir_.c_str(), 1);
  }
  std::set<fs::path> entries() const {
    std::set<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(parent_)) paths.insert(entry.path());
    return paths;
  }
  /// Leaves the folder of a process that ended without cleaning up.
  void leave_folder() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const ScratchFolder folder("stem");
      fs::create_directories(folder.path() / "run" / "matrices");
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  TestFolder scratch_;
  const fs::path& parent_ = scratch_.folder();
  std::string old_tmpdir_;
};

TEST_F(AbandonedFolder, IsRemovedByTheNextFolderOfTheStem) {
  leave_folder();
  ASSERT_EQ(entries().size(), 1U);
  { const ScratchFolder other("other"); }
  EXPECT_EQ(entries().size(), 1U);
  const ScratchFolder next("stem");
  EXPECT_EQ(entries(), std::set<fs::path>{next.path()});
}

TEST_F(AbandonedFolder, KeepsFoldersOfLivingOrUnknownOwners) {
  const ScratchFolder first("stem");
  fs::create_directory(parent_ / "stem-mine");
  set_file_text(parent_ / "stem-mine" / "text", "precious");
  fs::create_directory(parent_ / "stem-new");
  fs::create_directory_symlink(parent_ / "stem-mine", parent_ / "stem-link");
  fs::last_write_time(parent_ / "stem-mine", fs::file_time_type::clock::now() - std::chrono::hours(2));
  const std::set<fs::path> before = entries();
  { const ScratchFolder second("stem"); }
  EXPECT_EQ(entries(), before);
  EXPECT_TRUE(fs::exists(parent_ / "stem-mine" / "text"));
  fs::last_write_time(parent_ / "stem-new", fs::file_time_type::clock::now() - std::chrono::hours(2));
  { const ScratchFolder third("stem"); }
  EXPECT_FALSE(fs::exists(parent_ / "stem-new"))
      << "empty, from a process that ended before it noted its owner";
}

}  // namespace
}  // namespace gaussweep::driver
