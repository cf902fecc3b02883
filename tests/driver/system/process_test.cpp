// Tests child processes: their end, their output, and their environment.

#include "driver/system/process.hpp"

#include <sys/prctl.h>

#include "io/files/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* role = "GAUSSWEEP_TEST_CHILD";
constexpr int far_too_long = 60;

/// captured_output starts this program again. With a role in its environment, the program runs no tests.
const bool child_role_ran = [] {
  const char* name = std::getenv(role);
  if (name == nullptr) return false;
  const std::string child_role = name;
  std::puts("said");
  if (child_role == "descriptors") {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      std::puts(std::filesystem::read_symlink(entry).c_str());
  }
  std::fflush(stdout);
  while (child_role == "talks") std::puts("and said");
  if (child_role == "hangs") ::close(STDOUT_FILENO);
  if (child_role == "hangs" || (child_role == "leaves" && ::fork() == 0)) ::sleep(far_too_long);
  ::_exit(child_role == "fails" ? 3 : 0);
}();

std::string captured(const std::string& child_role, double timeout_seconds = far_too_long / 2.0) {
  return captured_output({"child"}, child_environment({std::string(role) + "=" + child_role}),
                         timeout_seconds);
}

std::string why_not_captured(const std::string& child_role, double timeout_seconds) {
  try {
    return "captured: " + captured(child_role, timeout_seconds);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(Parent, TakesItsChildWithIt) {
  int alive[2], ready[2];
  ASSERT_EQ(::pipe(alive), 0);
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t self = ::getpid();
    if (::fork() == 0) {
      const bool tied = die_with_parent(self);
      if (tied && ::write(ready[1], "r", 1) == 1) ::sleep(far_too_long);
      ::_exit(1);
    }
    ::sleep(far_too_long);
    ::_exit(1);
  }
  ::close(alive[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(parent, SIGKILL);
  EXPECT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_EQ(::read(alive[0], &byte, 1), 0) << "the end of the stream comes when the last writer is gone";
  ::close(alive[0]);
  for (const int fd : ready) ::close(fd);
  EXPECT_FALSE(die_with_parent(parent)) << "not a parent of this process";
  ::prctl(PR_SET_PDEATHSIG, 0);  // so that the test process survives
}

TEST(Process, ChildEnvironmentDropsTheLauncher) {
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  ::setenv("PMIX_RANK", "0", 1);
  ::setenv("GAUSSWEEP_TEST_KEPT", "1", 1);
  ::setenv("GAUSSWEEP_TEST_CHANGED", "old", 1);
  const std::vector<std::string> environment = child_environment({"GAUSSWEEP_TEST_CHANGED=new"});
  ::unsetenv("OMPI_COMM_WORLD_RANK");
  ::unsetenv("PMIX_RANK");
  const auto has = [&](const std::string& entry) {
    return std::find(environment.begin(), environment.end(), entry) != environment.end();
  };
  EXPECT_FALSE(has("OMPI_COMM_WORLD_RANK=0"));
  EXPECT_FALSE(has("PMIX_RANK=0"));
  EXPECT_TRUE(has("GAUSSWEEP_TEST_KEPT=1"));
  EXPECT_TRUE(has("GAUSSWEEP_TEST_CHANGED=new"));
  EXPECT_FALSE(has("GAUSSWEEP_TEST_CHANGED=old"));
}

TEST(CaptureSelf, ReturnsTheOutputOrTheExitStatus) {
  EXPECT_EQ(captured("speaks"), "said\n");
  EXPECT_EQ(why_not_captured("fails", far_too_long / 2.0), "'gaussweep child' ended with exit status 3");
}

TEST(CaptureSelf, EndsAChildThatHangsAfterItsOutput) {
  EXPECT_EQ(why_not_captured("hangs", 0.5), "'gaussweep child' did not end within 0.5 s");
}

TEST(CaptureSelf, EndsAChildThatPrintsForever) {
  const std::string why = why_not_captured("talks", far_too_long);
  EXPECT_NE(why.find("printed more than 1048576 bytes"), std::string::npos) << why.substr(0, 200);
}

TEST(CaptureSelf, DoesNotWaitForGrandchildren) {
  EXPECT_EQ(captured("leaves"), "said\n");
}

TEST(CaptureSelf, AChildInheritsNoLeakedDescriptor) {
  const TestFolder folder;
  const std::filesystem::path name = folder / "leaked";
  const int leaked = ::open(name.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(leaked, 0);
  const std::string output = captured("descriptors");
  ::close(leaked);
  EXPECT_EQ(output.find(name.string()), std::string::npos) << output;
}

TEST(StandardDescriptors, AreNeverReusedForFiles) {
  const int kept = ::dup(STDERR_FILENO);
  ::close(STDERR_FILENO);
  open_standard_descriptors();
  const bool open = ::fcntl(STDERR_FILENO, F_GETFD) >= 0;
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  EXPECT_TRUE(open);
}

TEST(Ending, DescribesStatusAndSignal) {
  EXPECT_EQ((Ending{true, 3}.text()), "exit status 3");
  EXPECT_EQ((Ending{false, 11}.text()), "signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace gaussweep::driver
