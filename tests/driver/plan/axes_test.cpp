/// Tests sizes per GPU model, and mistakes in several entries.

#include "driver/plan/axes.hpp"
#include "driver/base/errors.hpp"
#include "driver/plan/expand.hpp"
#include "driver/plan/plan_names.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

io::Plan plan_of(const std::string& sizes) {
  return io::parse_plan("sweep:\n  - {problem: gesv, method: all, n: " + sizes + "}\n", "p.yaml",
                        enum_names<Problem>());
}

std::vector<std::string> cuda_sizes(const io::Plan& plan) {
  std::vector<std::string> texts;
  for (const io::Scalar& value : plan.sweep.at(0).axes.at("n").by_backend.at("cuda"))
    texts.push_back(value.text);
  return texts;
}

TEST(Axes, SizesOfAGpuModelOverrideThoseOfAllGpus) {
  const io::Plan plan = plan_of("{H200: 16k, k20xm: [2k, 4k], cuda: 8k, emulated: 8}");
  EXPECT_THAT(cuda_sizes(for_gpus(plan, {"NVIDIA H200", "NVIDIA H200"})), ElementsAre("16k"));
  EXPECT_THAT(cuda_sizes(for_gpus(plan, {"Tesla K20Xm"})), ElementsAre("2k", "4k"));
  EXPECT_THAT(cuda_sizes(for_gpus(plan, {"NVIDIA A100"})), ElementsAre("8k"));
  EXPECT_THAT(cuda_sizes(for_gpus(plan, {})), ElementsAre("8k"));
  EXPECT_EQ(for_gpus(plan_of("{H200: 16k, emulated: 8}"), {"Tesla K20Xm"})
                .sweep.at(0)
                .axes.at("n")
                .by_backend.count("cuda"),
            0U);
}

TEST(Axes, RefusesSeveralGpuModelsWithOtherSizesInOneRun) {
  const io::Plan plan = plan_of("{H200: 16k, K20Xm: 4k}");
  EXPECT_THAT(message_of<UsageError>([&] {
                for_gpus(plan, {"NVIDIA H200", "Tesla K20Xm"});
              }),
              HasSubstr("n differs by GPU model, and the ranks have NVIDIA H200, Tesla K20Xm"));
}

TEST(Expand, ReportsMistakesOfAllEntriesTogether) {
  const Method method = idle_method(Problem::named("gesv"), "plain");
  const io::Plan plan = io::parse_plan(
      "sweep:\n  - {problem: gesv, method: plian, n: 3}\n  - {problem: gesv, method: plain, n: 3}\n"
      "  - {problem: gevs, method: plain, n: 3}\n",
      "p.yaml", enum_names<Problem>());
  const std::string message =
      message_of<io::InputError>([&] { expand(plan, Registry({method}), Backend::host, 0, {}); });
  EXPECT_THAT(message, HasSubstr("p.yaml:2:29: gesv has no method 'plian'; nearest: plain; it has: plain\n"
                                 "p.yaml:4:15: 'gevs' is no problem; nearest: gemm; "));
}

}  // namespace
}  // namespace gaussweep::driver
