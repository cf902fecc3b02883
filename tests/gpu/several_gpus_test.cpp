// Tests every method that distributes a matrix over several GPUs, on two GPUs. GAUSSWEEP_RUNS is the number
// of repeated runs per case, which must have equal bits.

#include <cstdlib>

#include "kernels/check/check.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/device/device_group.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

std::vector<std::string> distributed_methods() {
  std::vector<std::string> ids;
  for (const Method& method : registry().all()) {
    if (method.column_block != nullptr) ids.push_back(method.id());
  }
  return ids;
}

class OnTwoGpus : public OnGpu, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    require(method().capability);
    if (IsSkipped()) return;
    if (cuda_device_count() < 2) GTEST_SKIP() << "needs two GPUs";
    group.emplace(*context, /*count=*/2);
    if (const std::string fault = group->peer_fault(/*count=*/2); !fault.empty()) GTEST_SKIP() << fault;
    context->group = &*group;
  }
  const Method& method() const { return row_of(GetParam()); }
  Parameters parameters_of(std::int64_t gpus) const {
    Parameters parameters = defaults(method());
    parameters.set("gpus", gpus);
    if (parameters.all().count("gpus_from") > 0) parameters.set("gpus_from", std::int64_t{1});
    return parameters;
  }

  template <class T>
  void expect_right(const Shape& shape) {
    SCOPED_TRACE(testing::Message() << "n = " << shape.n << " in " << to_string(precision_of<T>));
    const Inputs<T> inputs = make_inputs<T>(method().problem, shape, kind_for(method().problem));
    Parameters parameters = parameters_of(/*gpus=*/2);
    if (shape.n <= 500 && !method().vendor) parameters.set("block", std::int64_t{32});
    MethodRun<T> run(*context, method(), Backend::cuda, parameters, shape);
    run.upload(inputs);
    run.warm_up();
    const auto first = run.answer_digests();
    const char* const runs = std::getenv("GAUSSWEEP_RUNS");
    for (int i = 0; i < (runs != nullptr ? std::atoi(runs) : 1); ++i) {
      run.timed_run();
      if (!method().vendor) {
        ASSERT_EQ(run.answer_digests(), first);
      }
    }
    const Answer<T> answer = run.download();
    EXPECT_EQ(run.forbidden_writes(), "");
    EXPECT_EQ(answer.info, 0);
    EXPECT_LE(check(method(), inputs, answer).ratio, default_tolerance(method().problem));
  }

  /// Returns the median of five runs, in ms.
  double milliseconds(const Inputs<double>& inputs, std::int64_t gpus) {
    MethodRun<double> run(*context, method(), Backend::cuda, parameters_of(gpus), inputs.shape);
    run.upload(inputs);
    run.warm_up();
    std::vector<double> seconds;
    for (int repeat = 0; repeat < 5; ++repeat) seconds.push_back(run.timed_run());
    std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
    return 1e3 * seconds[2];
  }

  std::optional<DeviceGroup> group;
};

TEST_P(OnTwoGpus, GiveTheRightAnswer) {
  for (const std::int64_t n : {1, 130, 500, 1025}) {
    // The vendor's library is tested at orders that sweeps use.
    if (n > 130 ? small() : method().vendor) continue;
    expect_right<double>({n, n, n});
    expect_right<float>({n, n, n});
  }
}

/// Skipped unless the environment variable GAUSSWEEP_LARGE, the order of the matrix, is set.
TEST_P(OnTwoGpus, AreFasterThanOneGpu) {
  const char* const order = std::getenv("GAUSSWEEP_LARGE");
  if (order == nullptr) GTEST_SKIP() << "GAUSSWEEP_LARGE is not set";
  if (method().vendor) GTEST_SKIP() << "a vendor's method";
  const std::int64_t n = std::atoll(order);
  const Inputs<double> inputs = make_inputs<double>(method().problem, {n, n, n}, kind_for(method().problem));
  const double one = milliseconds(inputs, /*gpus=*/1), two = milliseconds(inputs, /*gpus=*/2);
  std::printf("%s n %lld: %.1f ms on one GPU, %.1f ms on two, %.2f times as fast\n", GetParam().c_str(),
              static_cast<long long>(n), one, two, one / two);
  std::fflush(stdout);
  EXPECT_LT(two, one);
}

INSTANTIATE_TEST_SUITE_P(All, OnTwoGpus, testing::ValuesIn(distributed_methods()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return test_name(info.param);
                         });

}  // namespace
}  // namespace gaussweep
