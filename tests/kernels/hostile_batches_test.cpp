// Tests batches with Inf, NaN, overflow and singular parts at random places: the answer of a system must not
// depend on other systems. A write outside an operand fails the launch (kernels/device/watched_memory.hpp).
// GAUSSWEEP_BATCHES sets the number of batches per method: 100,000 by hand, a few by default.

#include "tests/kernels/hostile_batches.hpp"
#include "tests/kernels/hard_systems.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class HostileBatches : public testing::TestWithParam<std::string> {
 protected:
  const Method& method = row_of(GetParam());
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context{*device};
  std::mt19937_64 random{58};
};

TEST_P(HostileBatches, StayInTheirSystem) {
  const int batches = number_from("GAUSSWEEP_BATCHES", 40);
  for (int batch = 0; batch < batches && !HasFailure(); ++batch) {
    SCOPED_TRACE(batch);
    random.seed(static_cast<std::uint64_t>(batch));
    context.emulation.shuffle_seed = static_cast<std::uint64_t>(batch % 4);
    expect_confined_batches(random, context, method, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileBatches, testing::ValuesIn(emulated_methods(takes_batches)),
                         [](const auto& info) { return test_name(info.param); });

/// One matrix has elements up to 2e38, whose elimination overflows, and one has an Inf. The neighbours are
/// the identity.
TEST(HostileBatch, PaddingRowsAreNoPivots) {
  CpuContext context;
  for (const char* const id : {"geinv/batched", "getrf/batched"}) {
    const Method& method = row_of(id);
    Parameters parameters = defaults(method);
    parameters.set("kernel", std::string("rows"));
    for (const bool overflows : {true, false}) {
      for (const std::int64_t n : {3, 12, 17, 24, 31, 40, 50}) {
        Shape shape{n, n, n, 1, Uplo::lower};
        shape.batch = 3;
        Inputs<float> inputs = make_inputs<float>(method.problem, shape, MatrixKind::identity);
        const HostMatrix<float> uniform =
            make_inputs<float>(method.problem, shape.single(), MatrixKind::uniform).a;
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < n; ++i)
            inputs.a(i, n + j) = uniform(i, j) * (overflows ? 2e38f : 1.0f);
        }
        if (!overflows) inputs.a(n / 2, n + n / 2) = std::numeric_limits<float>::infinity();
        const std::string description =
            describe_run<float>(context, method, shape, parameters, overflows ? "overflow" : "Inf");
        Answer<float> answer;
        ASSERT_NO_THROW(answer = run_method(context, method, inputs, parameters)) << description;
        for (const std::int64_t s : {0, 2}) {
          EXPECT_EQ(system_of(answer.x, 3, s).data, system_of(inputs.a, 3, s).data)
              << description << ", system " << s;
          EXPECT_EQ(answer.infos[static_cast<std::size_t>(s)], 0) << description;
        }
        if (!answer.pivots.empty()) expect_valid_indices(system_of(answer, shape, 1), n, description);
      }
    }
  }
}

/// Every method, one system at a time: hostile values raise no error, and indices stay valid.
class HostileSystems : public testing::TestWithParam<std::string> {};

TEST_P(HostileSystems, RaiseNoErrorAndHaveValidIndices) {
  const Method& method = row_of(GetParam());
  CpuContext context;
  const auto expect_result = [&](auto tag, std::uint64_t seed) {
    using T = decltype(tag);
    if (method.entry(Backend::emulated).get<T>() == nullptr) return;
    std::mt19937_64 random(seed);
    const std::int64_t n = one_of(random, std::vector<std::int64_t>{3, 20, 33, 40});
    const Shape shape = one_of(random, shapes(method, n));
    const Parameters parameters = one_of(random, parameter_grid(method, {1, 3}));
    if (method.accepts != nullptr && !method.accepts(shape, parameters)) return;
    Inputs<T> inputs = make_inputs<T>(method.problem, shape, fit_kinds(method, parameters).front(), seed);
    if (inputs.a.rows == inputs.a.cols) make_hostile(random, inputs.a, 0);
    context.emulation.shuffle_seed = seed % 4;
    const std::string description = describe_run<T>(context, method, shape, parameters, "hostile");
    Answer<T> answer;
    ASSERT_NO_THROW(answer = run_method(context, method, inputs, parameters)) << description;
    expect_valid_indices(answer, std::max(shape.n, shape.m), description);
  };
  const int systems = number_from("GAUSSWEEP_BATCHES", 6);
  for (int seed = 0; seed < systems && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_result(float(), static_cast<std::uint64_t>(seed));
    expect_result(double(), static_cast<std::uint64_t>(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileSystems,
                         testing::ValuesIn(emulated_methods([](const Method&) { return true; })),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace gaussweep
