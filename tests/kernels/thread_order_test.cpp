// Tests that the thread order does not change any bit: the emulation runs every block with its threads in
// ascending, reversed and shuffled order and compares the memory (Emulation::compares_orders).

#include "tests/kernels/hostile_batches.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class ThreadOrder : public testing::TestWithParam<std::string> {
 protected:
  ThreadOrder() { context.emulation.compares_orders = true; }
  const Method& method = row_of(GetParam());
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context{*device};

  /// Returns true for asynchronous iterations, whose iterates (but not limit) depend on the thread order.
  bool iterates_in_place(const Parameters& parameters) const {
    return has_parameter(method, "update") && parameters.choice("update") == "in_place";
  }
  template <class T>
  void expect_no_difference(std::int64_t n) {
    if (method.entry(Backend::emulated).get<T>() == nullptr) return;
    for_each_case(method, n, {3}, [&](const Shape& shape, const Parameters& parameters) {
      const MatrixKind kind = fit_kinds(method, parameters).front();
      const Inputs<T> inputs = make_inputs<T>(method.problem, shape, kind);
      const std::string description = describe_run<T>(context, method, shape, parameters, to_string(kind));
      context.emulation.compares_orders = !iterates_in_place(parameters);
      Answer<T> answer;
      EXPECT_NO_THROW(answer = run_method(context, method, inputs, parameters)) << description;
      if (context.emulation.compares_orders) return;
      context.emulation.shuffle_seed = 3;
      EXPECT_TRUE(same_values(answer, run_method(context, method, inputs, parameters))) << description;
      context.emulation.shuffle_seed = 0;
    });
  }
};

TEST_P(ThreadOrder, ChangesNoBit) {
  expect_no_difference<float>(33);
  expect_no_difference<double>(33);
}

INSTANTIATE_TEST_SUITE_P(All, ThreadOrder,
                         testing::ValuesIn(emulated_methods([](const Method&) { return true; })),
                         [](const auto& info) { return test_name(info.param); });

/// Batched methods that exchange rows, on matrices whose diagonal is 0 in all or half of its elements.
class Exchanges : public ThreadOrder {
 protected:
  template <class T>
  void expect_solved(const Shape& shape, const Parameters& parameters, bool permutations) {
    if (method.accepts != nullptr && !method.accepts(shape, parameters)) return;
    std::mt19937_64 random(static_cast<std::uint64_t>(shape.n));
    Inputs<T> inputs = make_inputs<T>(method.problem, shape, MatrixKind::uniform, 7);
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      permutations ? make_permutation(random, inputs.a, s * shape.n)
                   : clear_leading_block(inputs.a, s * shape.n);
    }
    for (std::int64_t s = 0; s < shape.batch && !inputs.b.empty(); ++s)
      put_system(
          right_hand_side(system_of(inputs.a, shape.batch, s), system_of(inputs.x_true, shape.batch, s)), s,
          inputs.b);
    const std::string description =
        describe_run<T>(context, method, shape, parameters, permutations ? "permutations" : "zero blocks");
    Answer<T> answer;
    ASSERT_NO_THROW(answer = run_method(context, method, inputs, parameters)) << description;
    const double tolerance = default_tolerance(method.problem);
    for (const Findings& found : check_systems(method, inputs, answer, tolerance))
      EXPECT_LE(found.ratio, permutations ? 0 : tolerance) << description << found.flaw;
    for (const int info : answer.infos) EXPECT_EQ(info, 0) << description;
  }
};

TEST_P(Exchanges, SolvePermutationsAndBlocksOfZeros) {
  const std::vector<Parameters> grid = parameter_grid(method, {});
  for (std::int64_t n = 1; n <= 40; ++n) {
    Shape shape{n, n, n, 1, Uplo::lower};
    shape.batch = 2;
    for (const bool permutations : {true, false}) {
      if (!permutations && n == 1) continue;
      const auto case_number = static_cast<std::size_t>(n + (permutations ? 0 : 1));
      const Parameters& parameters = grid[case_number / 2 % grid.size()];
      case_number % 2 == 0 ? expect_solved<double>(shape, parameters, permutations)
                           : expect_solved<float>(shape, parameters, permutations);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Exchanges, testing::ValuesIn(emulated_methods([](const Method& m) {
                           return takes_batches(m) && exchanges_rows(m);
                         })),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace gaussweep
