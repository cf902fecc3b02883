// Tests reading in a child process: values and messages arrive; crashes and hangs refuse the file.
#include "io/files/child_reader.hpp"

#include <sys/resource.h>

#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// Returns the message of the error that reading the file "f" with `read` raises.
template <class Read>
std::string read_failure(const Read& read, double seconds = 60) {
  try {
    read_in_child(
        seconds, "f: ", " (a matrix)", read, [](ChildOutput& out, std::int64_t value) { out.put(value); },
        [](Child& child) { return child.integer(); });
  } catch (const InputError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("no fault of the file: ") + error.what();
  }
  return "";
}

TEST(ReadInChild, ReturnsTheValue) {
  const auto value = read_in_child(
      60, "", "", [] { return std::int64_t{42}; }, [](ChildOutput& out, std::int64_t read) { out.put(read); },
      [](Child& child) { return child.integer(); });
  EXPECT_EQ(value, 42);
}

TEST(ReadInChild, CrashRefusesTheFile) {
  const auto crash = []() -> std::int64_t {
    std::raise(SIGABRT);
    return 0;
  };
  EXPECT_EQ(read_failure(crash),
            "f: it is damaged: the HDF5 library, reading it, crashed with signal 6 (Aborted) (a matrix)");
}

TEST(ReadInChild, HangRefusesTheFile) {
  const auto hang = []() -> std::int64_t {
    while (true) ::pause();
  };
  EXPECT_EQ(read_failure(hang, 1),
            "f: it is damaged: the HDF5 library, reading it, timed out after 1 s (a matrix)");
}

TEST(ReadInChild, ForwardsTheReadersMessage) {
  EXPECT_EQ(read_failure([]() -> std::int64_t { throw InputError("f: no matrix"); }), "f: no matrix");
  EXPECT_EQ(read_failure([]() -> std::int64_t { throw std::runtime_error("no memory"); }),
            "no fault of the file: f: no memory");
}

TEST(ReadInChild, AProcessThatCannotStartIsNoFaultOfTheFile) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer that checks types needs a pipe, and these limits allow none";
#endif
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};  // the pipe to the child needs more files
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string failure = read_failure([] { return std::int64_t{1}; });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(failure, "no fault of the file: f: no process could be started to read it: Too many open files");
}

}  // namespace
}  // namespace gaussweep::io
