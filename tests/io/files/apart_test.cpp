#include "io/files/apart.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <unistd.h>

namespace gaussweep::io {
namespace {

/// What reading with `read` said, of a file "f".
template <class Read>
std::string said(const Read& read, double seconds = 60) {
  try {
    read_apart(
        seconds, "f: ", " (a matrix)", read, [](ChildOutput& out, std::int64_t value) { out.put(value); },
        [](Child& child) { return child.integer(); });
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("no fault of the file: ") + error.what();
  }
  return "";
}

TEST(Apart, WhatWasReadArrives) {
  const auto value = read_apart(
      60, "", "", [] { return std::int64_t{42}; }, [](ChildOutput& out, std::int64_t read) { out.put(read); },
      [](Child& child) { return child.integer(); });
  EXPECT_EQ(value, 42);
}

TEST(Apart, ACrashIsARefusal) {
  const auto crash = []() -> std::int64_t {
    std::raise(SIGABRT);
    return 0;
  };
  EXPECT_EQ(said(crash),
            "f: it is damaged: the HDF5 library, reading it, crashed with signal 6 (Aborted) (a matrix)");
}

TEST(Apart, WhatDoesNotComeToAnEndIsARefusal) {
  const auto hang = []() -> std::int64_t {
    while (true) ::pause();
  };
  EXPECT_EQ(said(hang, 1),
            "f: it is damaged: the HDF5 library, reading it, did not come to an end within 1 s (a matrix)");
}

TEST(Apart, WhatTheReaderSaysIsSaidHere) {
  EXPECT_EQ(said([]() -> std::int64_t { throw InputError("f: no matrix"); }), "f: no matrix");
  EXPECT_EQ(said([]() -> std::int64_t { throw std::runtime_error("no memory"); }),
            "no fault of the file: f: no memory");
}

}  // namespace
}  // namespace gaussweep::io
