#include "driver/process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include <sys/socket.h>

namespace gaussweep::driver {
namespace {

using nlohmann::json;

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    left = Channel(ends[0]);
    right = Channel(ends[1]);
  }
  Channel left, right;
};

TEST(Channel, CarriesMessagesWholeAndInOrder) {
  Pair pair;
  const json small = {{"type", "at"}, {"step", "samples"}};
  const json large = {{"history", std::vector<double>(300000, 1.5)}};  // far more than a socket's buffer
  std::thread writer([&] {
    pair.left.send(small);
    pair.left.send(large);
  });
  EXPECT_EQ(pair.right.receive(-1), small);
  EXPECT_EQ(pair.right.receive(-1), large);
  writer.join();
  EXPECT_EQ(pair.right.receive(0), std::nullopt);
}

TEST(Channel, SaysWhenTheOtherEndIsGone) {
  Pair pair;
  pair.left.send({{"type", "last"}});
  pair.left.close();
  EXPECT_TRUE(pair.right.receive(100).has_value()) << "what was sent before the end is still read";
  EXPECT_THROW(pair.right.receive(100), ChannelClosed);
  EXPECT_THROW(for (int i = 0; i < 3; ++i) pair.right.send({{"type", "to nobody"}}), ChannelClosed);
}

TEST(Process, ChildEnvironmentLeavesTheLauncherOut) {
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

TEST(Ending, SaysWhatHappened) {
  EXPECT_EQ((Ending{true, 3}.words()), "exit status 3");
  EXPECT_EQ((Ending{false, 11}.words()), "signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace gaussweep::driver
