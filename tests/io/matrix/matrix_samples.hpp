#pragma once
/// A temporary folder for tests of matrix files.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "io/files/errors.hpp"
#include "tests/message_of.hpp"
#include "tests/scratch.hpp"

namespace gaussweep::io {

/// Runs `work` in another process, which exits with its result.
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

class MatrixFolder : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return scratch_.folder(); }
  std::filesystem::path put(const std::string& name, const std::string& text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
    return folder() / name;
  }
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder()), std::filesystem::directory_iterator()));
  }
  /// Returns the message of the InputError that `action` throws, or "".
  static std::string failure_of(const std::function<void()>& action) {
    return testing_help::message_of<InputError>(action);
  }

 private:
  testing_help::Scratch scratch_;
};

}  // namespace gaussweep::io
