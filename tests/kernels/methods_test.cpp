// Tests every method of the registry that runs without a GPU, on the matrices that suit it. So a new method
// is tested as soon as it has a row. tests/gpu/methods_gpu_test.cpp does the same on a GPU.

#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

std::vector<Backend> cpu_backends(const Method& method) {
  std::vector<Backend> backends;
  for (const Backend backend : {Backend::emulated, Backend::host}) {
    if (method.runs_on(backend)) backends.push_back(backend);
  }
  return backends;
}

/// Returns the ids of the rows that run on a CPU; each is one test.
std::vector<std::string> cpu_methods() {
  std::vector<std::string> ids;
  for (const Method& method : registry().all()) {
    if (!cpu_backends(method).empty()) ids.push_back(method.id());
  }
  return ids;
}

class Methods : public testing::TestWithParam<std::string> {
 protected:
  const Method& method() const { return row_of(GetParam()); }

  /// Runs `body(context, precision tag)` for every CPU backend and precision of the row.
  template <class Body>
  void for_each_backend_and_precision(Body body) {
    for (const Backend backend : cpu_backends(method())) {
      const auto device = cpu(backend);
      Context context(*device);
      context.emulation.shuffle_seed = 20170901;
      if (method().entry(backend).float32 != nullptr) body(context, float());
      if (method().entry(backend).float64 != nullptr) body(context, double());
    }
  }
};

// 65 is two blocks of 32 and one row; larger orders take minutes emulated.
TEST_P(Methods, IsAccurateOnSuitableMatrices) {
  for_each_backend_and_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : {1, 2, 31, 32, 33}) expect_right<T>(context, method(), n, {1, 3, 14});
#ifndef GAUSSWEEP_SMALL_ORDERS
    expect_right<T>(context, method(), 65, {1, 3, 14});
#endif
  });
}

TEST_P(Methods, SingularMatrixRaisesNoError) {
  for_each_backend_and_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    if (method().problem == Problem::named("gemm")) return;  // gemm takes any matrix
    for (const std::int64_t n : {1, 2, 33}) expect_singular_is_a_result<T>(context, method(), n);
  });
}

TEST_P(Methods, InfoIsTheSmallestIndex) {
  for_each_backend_and_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    if (method().problem == Problem::named("gemm")) return;  // gemm has no pivots
    expect_smallest_info<T>(context, method(), 33);
  });
}

TEST_P(Methods, NanIsReported) {
  for_each_backend_and_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : {1, 33}) expect_nan_is_seen<T>(context, method(), n);
  });
}

TEST_P(Methods, WorkspaceIsSufficient) {
  for_each_backend_and_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : {1, 2, 31, 32, 33, 65}) expect_workspace_is_enough<T>(context, method(), n);
  });
}

TEST_P(Methods, InputsSurviveIfTheRowPromisesIt) {
  for_each_backend_and_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    if (method().overwrites) return;
    for (const std::int64_t n : {2, 33}) expect_inputs_survive<T>(context, method(), n);
  });
}

INSTANTIATE_TEST_SUITE_P(All, Methods, testing::ValuesIn(cpu_methods()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return test_name(info.param);
                         });

TEST(MethodsTable, EveryRowHasATestOrNeedsAGpu) {
  const std::vector<std::string> tested = cpu_methods();
  for (const Method& method : registry().all()) {
    const bool runs_on_cpu = std::find(tested.begin(), tested.end(), method.id()) != tested.end();
    const bool gpu_only = method.backends == std::vector<Backend>{Backend::cuda};
    EXPECT_TRUE(runs_on_cpu || gpu_only) << method.id();
  }
}

}  // namespace
}  // namespace gaussweep
