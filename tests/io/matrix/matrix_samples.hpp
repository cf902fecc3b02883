#pragma once
/// Helpers of tests of files: a temporary folder, and work in a child process.

#include "io/files/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {

/// Runs `work` in a child process, which exits with its result, or with 9 if it throws.
template <class Work>
inline pid_t start(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 9;
    try {
      status = work();
    } catch (...) {
    }
    _exit(status);
  }
  return child;
}

/// Waits for a child process. @return its exit status, or 1000 + the signal that ended it
inline int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// A test with an empty folder, into which `put` writes files.
class MatrixFolder : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return scratch_.folder(); }
  std::filesystem::path put(const std::string& name, const std::string& text) const {
    set_file_text(folder() / name, text);
    return folder() / name;
  }
  /// Returns the number of files and folders in the test's folder.
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder()), std::filesystem::directory_iterator()));
  }
  /// Returns the message of the InputError that `action` throws, or "".
  static std::string failure_of(const std::function<void()>& action) {
    return message_of<InputError>(action);
  }

 private:
  TestFolder scratch_;
};

}  // namespace gaussweep::io
