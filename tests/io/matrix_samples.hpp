#pragma once
/// A folder of its own for tests of matrix files.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "io/errors.hpp"

namespace gaussweep::io {

/// Starts `work` in another process, whose exit status it becomes.
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
  MatrixFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gaussweep-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
  }
  ~MatrixFolder() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  /// The words of the InputError that `action` ends in; "" where it ends well.
  static std::string failure_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const InputError& e) {
      return e.what();
    }
    return {};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace gaussweep::io
