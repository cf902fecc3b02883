// Tests the choice of backend and GPU for each rank.

#include "driver/sweep/rank_facts.hpp"
#include "driver/base/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

RankFacts rank(const std::string& host, const std::string& uuid, const std::string& why = "") {
  RankFacts facts;
  facts.host.host = host;
  facts.gpu.uuid = uuid;
  facts.gpu.missing_because = why;
  return facts;
}

std::string refusal(const std::string& wanted, const std::vector<RankFacts>& ranks, bool resume) {
  return message_of<UsageError>([&] { choose_backend(wanted, ranks, resume); });
}

TEST(ChooseBackend, AutoIsCudaIfEveryRankHasAGpu) {
  EXPECT_EQ(choose_backend("auto", {rank("a", "G1"), rank("a", "G2"), rank("b", "G1")}, false),
            Backend::cuda);
  EXPECT_EQ(choose_backend("auto", {rank("a", ""), rank("a", "")}, false), Backend::emulated);
  EXPECT_EQ(choose_backend("host", {rank("a", "G1")}, false), Backend::host);
  EXPECT_EQ(choose_backend("emulated", {rank("a", "G1")}, false), Backend::emulated);
}

TEST(ChooseBackend, NewSweepRefusesARankWithoutAGpu) {
  const std::vector<RankFacts> ranks = {rank("a", "G1"), rank("a", "", "GPU 1 of a: it is lost")};
  for (const char* wanted : {"auto", "cuda"}) {
    EXPECT_THAT(refusal(wanted, ranks, false), HasSubstr("rank 1 on a: GPU 1 of a: it is lost"));
    EXPECT_EQ(choose_backend(wanted, ranks, true), Backend::cuda)
        << "a resumed sweep continues with the others";
  }
  EXPECT_THAT(refusal("cuda", {rank("a", "", "no driver")}, true), HasSubstr("no driver"));
}

json gpu(int index, const std::string& uuid, bool part = false) {
  return {{"index", index}, {"uuid", uuid}, {"part", part}, {"capability", 90}, {"error", ""}};
}

TEST(GpuOfRank, IsTheOnlyGpuOrThatOfTheLocalRank) {
  const json two = {{"gpus", {gpu(0, "GPU-a"), gpu(1, "GPU-b")}}, {"driver", "580"}};
  EXPECT_EQ(gpu_of_rank(two, 1, 2, "h", "").uuid, "GPU-b");
  EXPECT_EQ(gpu_of_rank(two, 1, 2, "h", "").visible, "GPU-b");
  EXPECT_EQ(gpu_of_rank(two, 2, 3, "h", "").missing_because, "3 ranks but 2 GPUs on h");
  EXPECT_EQ(gpu_of_rank({{"gpus", {gpu(0, "GPU-a")}}}, 3, 4, "h", "").uuid, "GPU-a");
  EXPECT_EQ(gpu_of_rank({{"gpus", json::array()}, {"why", "no driver"}}, 0, 1, "h", "").missing_because,
            "no driver");
}

TEST(GpuOfRank, HasFurtherGpusIfTheRankHasSeveral) {
  const json four = {{"gpus", {gpu(0, "a"), gpu(1, "b"), gpu(2, "c"), gpu(3, "d")}}};
  const RankGpu second = gpu_of_rank(four, 1, 2, "h", "", 2);
  EXPECT_EQ(second.uuid, "c");
  EXPECT_EQ(second.further, std::vector<std::string>{"d"});
  EXPECT_EQ(second.visible, "c,d");
  EXPECT_EQ(gpu_of_rank(four, 2, 3, "h", "", 4).visible, "a,b,c,d") << "all that the rank can see";
  EXPECT_EQ(gpu_of_rank(four, 1, 2, "h", "", 3).missing_because, "2 ranks of 3 GPUs but 4 GPUs on h");
}

TEST(GpuOfRank, IgnoresFaultsOfOtherGpus) {
  json broken = gpu(1, "");
  broken["error"] = "it is lost";
  const json devices = {{"gpus", {gpu(0, "GPU-a"), broken}}};
  EXPECT_EQ(gpu_of_rank(devices, 0, 2, "h", "").uuid, "GPU-a");
  EXPECT_EQ(gpu_of_rank(devices, 1, 2, "h", "").missing_because, "GPU 1 of h: it is lost");
}

TEST(GpuOfRank, MigPartKeepsItsVisibleName) {
  // CUDA reports a UUID GPU-... for a MIG part. CUDA_VISIBLE_DEVICES with that name would hide the part.
  const json devices = {{"gpus", {gpu(0, "GPU-c7384736", true)}}};
  const RankGpu named = gpu_of_rank(devices, 1, 2, "h", "MIG-c7384736");
  EXPECT_EQ(named.uuid, "MIG-c7384736");
  EXPECT_EQ(named.visible, "MIG-c7384736");
  EXPECT_EQ(gpu_of_rank(devices, 0, 1, "h", "").visible, "") << "the visible name is kept";
  EXPECT_THAT(gpu_of_rank({{"gpus", json::array()}, {"why", "none"}}, 0, 1, "h", "MIG-1").missing_because,
              HasSubstr("MIG-1"));
}

TEST(ChooseBackend, RefusesToShareAGpuBetweenRanks) {
  EXPECT_THAT(refusal("auto", {rank("a", "G1"), rank("b", "G1"), rank("a", "G1")}, true),
              HasSubstr("rank 2 would share GPU a G1"));
}

TEST(RankFacts, SurviveTheMessageToRankZero) {
  RankFacts facts;
  facts.host = {"n1", "a CPU", "an OS", 8, 1 << 30, 4};
  facts.gpu = {"GPU-b", "GPU-b", 1, 90, "", {"ECC is off"}, "580"};
  const RankFacts arrived = json::parse(json(facts).dump()).get<RankFacts>();
  EXPECT_EQ(arrived.host.host, "n1");
  EXPECT_EQ(arrived.host.blas_threads, 4);
  EXPECT_EQ(arrived.gpu.uuid, "GPU-b");
  EXPECT_EQ(arrived.gpu.index, 1);
  EXPECT_EQ(arrived.gpu.capability, 90);
  EXPECT_EQ(arrived.gpu.warnings, std::vector<std::string>{"ECC is off"});
  EXPECT_EQ(arrived.gpu.driver, "580");
  EXPECT_FALSE(json(RankFacts{}).get<RankFacts>().gpu.driver) << "no query was made";
  EXPECT_THROW(json({{"host", facts.host}}).get<RankFacts>(), std::exception);
}

TEST(SweepStart, SurvivesTheMessageToTheOtherRanks) {
  const SweepStart received = json(SweepStart{true, Backend::cuda, "runs/a", "id"}).get<SweepStart>();
  EXPECT_TRUE(received.has_work);
  EXPECT_EQ(received.backend, Backend::cuda);
  EXPECT_EQ(received.directory, "runs/a");
  EXPECT_EQ(received.run_id, "id");
  EXPECT_FALSE(json(SweepStart{}).get<SweepStart>().has_work);
  json other = SweepStart{};
  other["backend"] = "gpu";
  EXPECT_THROW(other.get<SweepStart>(), std::runtime_error);
}

}  // namespace
}  // namespace gaussweep::driver
