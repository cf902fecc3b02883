#pragma once
/// The headers and names that most tests need. They are precompiled once per test program.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tests/test_folder.hpp"

namespace gaussweep {
namespace testing_help {

/// Returns the message of the Error that `action` throws, or "" if it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void set_file_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

using Precisions = ::testing::Types<float, double>;

/// Declares a suite without a fixture whose tests run in float and in double.
#define PRECISION_TEST_SUITE(Name)        \
  template <class T>                      \
  class Name : public ::testing::Test {}; \
  TYPED_TEST_SUITE(Name, Precisions)

}  // namespace testing_help

using namespace ::testing;     // NOLINT
using namespace testing_help;  // NOLINT

}  // namespace gaussweep
