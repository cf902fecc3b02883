#include "driver/rank_facts.hpp"

#include <gmock/gmock.h>

#include "driver/cli.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json rank(const std::string& host, const std::string& uuid, const std::string& why = "") {
  return {{"host", host}, {"uuid", uuid}, {"why", why}};
}

std::string refusal(const std::string& wanted, const std::vector<json>& ranks, bool resume) {
  try {
    choose_backend(wanted, ranks, resume);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ChooseBackend, AutoIsCudaWhereEveryRankHasAGpu) {
  EXPECT_EQ(choose_backend("auto", {rank("a", "G1"), rank("a", "G2"), rank("b", "G1")}, false),
            Backend::cuda);
  EXPECT_EQ(choose_backend("auto", {rank("a", ""), rank("a", "")}, false), Backend::emulated);
  EXPECT_EQ(choose_backend("host", {rank("a", "G1")}, false), Backend::host);
  EXPECT_EQ(choose_backend("emulated", {rank("a", "G1")}, false), Backend::emulated);
}

TEST(ChooseBackend, AFreshSweepRefusesARankWithoutAGpu) {
  const std::vector<json> ranks = {rank("a", "G1"), rank("a", "", "GPU 1 of a: it is lost")};
  for (const char* wanted : {"auto", "cuda"}) {
    EXPECT_THAT(refusal(wanted, ranks, false), HasSubstr("rank 1 on a: GPU 1 of a: it is lost"));
    EXPECT_EQ(choose_backend(wanted, ranks, true), Backend::cuda) << "a resumed one goes on with the others";
  }
  EXPECT_THAT(refusal("cuda", {rank("a", "", "no driver")}, true), HasSubstr("no driver"));
}

TEST(ChooseBackend, NoTwoRanksShareAGpu) {
  EXPECT_THAT(refusal("auto", {rank("a", "G1"), rank("b", "G1"), rank("a", "G1")}, true),
              HasSubstr("rank 2 would share GPU a G1"));
}

}  // namespace
}  // namespace gaussweep::driver
