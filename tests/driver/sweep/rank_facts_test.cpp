#include "driver/sweep/rank_facts.hpp"

#include <gmock/gmock.h>

#include "driver/base/errors.hpp"

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

json gpu(int index, const std::string& uuid, bool part = false) {
  return {{"index", index}, {"uuid", uuid}, {"part", part}, {"capability", 90}, {"error", ""}};
}

TEST(GpuOfRank, IsTheOnlyOneOrThatOfItsLocalNumber) {
  const json two = {{"gpus", {gpu(0, "GPU-a"), gpu(1, "GPU-b")}}, {"driver", "580"}};
  EXPECT_EQ(gpu_of_rank(two, 1, 2, "h", "").at("uuid"), "GPU-b");
  EXPECT_EQ(gpu_of_rank(two, 1, 2, "h", "").at("visible"), "GPU-b");
  EXPECT_EQ(gpu_of_rank(two, 2, 3, "h", "").at("why"), "3 ranks but 2 GPUs on h");
  EXPECT_EQ(gpu_of_rank({{"gpus", {gpu(0, "GPU-a")}}}, 3, 4, "h", "").at("uuid"), "GPU-a");
  EXPECT_EQ(gpu_of_rank({{"gpus", json::array()}, {"why", "no driver"}}, 0, 1, "h", "").at("why"),
            "no driver");
}

TEST(GpuOfRank, AFaultElsewhereIsNoConcernOfThisRank) {
  json broken = gpu(1, "");
  broken["error"] = "it is lost";
  const json devices = {{"gpus", {gpu(0, "GPU-a"), broken}}};
  EXPECT_EQ(gpu_of_rank(devices, 0, 2, "h", "").at("uuid"), "GPU-a");
  EXPECT_EQ(gpu_of_rank(devices, 1, 2, "h", "").at("why"), "GPU 1 of h: it is lost");
}

TEST(GpuOfRank, APartKeepsTheNameThatMakesItVisible) {
  // CUDA tells the number of a part as if it were a GPU's: under that name nothing would be visible
  const json devices = {{"gpus", {gpu(0, "GPU-c7384736", true)}}};
  const json named = gpu_of_rank(devices, 1, 2, "h", "MIG-c7384736");
  EXPECT_EQ(named.at("uuid"), "MIG-c7384736");
  EXPECT_EQ(named.at("visible"), "MIG-c7384736");
  EXPECT_EQ(gpu_of_rank(devices, 0, 1, "h", "").at("visible"), "") << "what is visible stays visible";
  EXPECT_THAT(gpu_of_rank({{"gpus", json::array()}, {"why", "none"}}, 0, 1, "h", "MIG-1")
                  .at("why")
                  .get<std::string>(),
              HasSubstr("MIG-1"));
}

TEST(ChooseBackend, NoTwoRanksShareAGpu) {
  EXPECT_THAT(refusal("auto", {rank("a", "G1"), rank("b", "G1"), rank("a", "G1")}, true),
              HasSubstr("rank 2 would share GPU a G1"));
}

}  // namespace
}  // namespace gaussweep::driver
