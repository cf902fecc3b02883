// Tests methods that share a matrix among two GPUs: right answers that repeat their bits. GAUSSWEEP_RUNS sets
// the number of runs per case; compute-sanitizer runs this test with few.

#include "kernels/check/check.hpp"
#include "kernels/device/device_group.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

class TwoGpus : public OnGpu, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    if (cuda_device_count() < 2) GTEST_SKIP() << "needs two GPUs";
    group.emplace(*context, 2);
    if (const std::string fault = group->peer_fault(2); !fault.empty()) GTEST_SKIP() << fault;
    context->group = &*group;
  }
  static int runs() {
    const char* text = std::getenv("GAUSSWEEP_RUNS");
    return text != nullptr ? std::atoi(text) : small() ? 1 : 5;
  }
  template <class T>
  void expect_right(const Method& method, std::int64_t n, std::int64_t block) {
    const Shape shape{n, n, n, method.problem->has_axis("nrhs") ? 3 : 1};
    Parameters parameters = defaults(method);
    parameters.set("gpus", std::int64_t{2});
    parameters.set("block", block);
    if (parameters.all().count("gpus_from") > 0) parameters.set("gpus_from", std::int64_t{1});
    SCOPED_TRACE(method.id() + " n=" + std::to_string(n) + " block=" + std::to_string(block));
    const Inputs<T> inputs = make_inputs<T>(method.problem, shape, kind_for(method.problem));
    MethodRun<T> run(*context, method, Backend::cuda, parameters, shape);
    run.upload(inputs);
    run.warm_up();
    const Answer<T> answer = run.download();
    EXPECT_EQ(answer.info, 0);
    EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem));
    const auto first = run.answer_digests();
    for (int i = 0; i < runs(); ++i) {
      run.timed_run();
      EXPECT_EQ(run.answer_digests(), first);
    }
    EXPECT_EQ(run.forbidden_writes(), "");
  }

  std::optional<DeviceGroup> group;
};

std::vector<std::string> own_rows() {
  std::vector<std::string> ids;
  for (const Method& method : registry().all()) {
    if (method.column_block != nullptr && !method.vendor) ids.push_back(method.id());
  }
  return ids;
}

INSTANTIATE_TEST_SUITE_P(All, TwoGpus, testing::ValuesIn(own_rows()),
                         [](const auto& id) { return test_name(id.param); });

TEST_P(TwoGpus, GiveTheRightAnswer) {
  const Method& method = row_of(GetParam());
  for (const std::int64_t n : {1, 70, 333, 1101}) {
    for (const std::int64_t block : {32, 128}) {
      if (small() && n > 333) continue;
      expect_right<double>(method, n, block);
      if (block == 128) expect_right<float>(method, n, block);
    }
  }
}

}  // namespace
}  // namespace gaussweep
