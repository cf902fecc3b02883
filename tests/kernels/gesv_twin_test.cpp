// Compares gauss_block, gauss_cyclic_halving and gauss_cyclic_decrement bit by bit with twins: plain loops
// with the same operations in the same order (twins.hpp).

#include "tests/kernels/method_run.hpp"
#include "tests/kernels/twins.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Runs the method with threads in ascending order, then shuffled by `shuffle_seed`.
template <class T>
void expect_same_bits(const Method& method, const Inputs<T>& inputs, const Parameters& parameters,
                      const Answer<T>& twin, MatrixKind kind, std::uint64_t shuffle_seed) {
  CpuContext context;
  for (const std::uint64_t seed : {std::uint64_t{0}, shuffle_seed}) {
    context.emulation.shuffle_seed = seed;
    const Answer<T> answer = run_method(context, method, inputs, parameters);
    EXPECT_TRUE(twins::same_bits(answer, twin))
        << describe(method, Backend::emulated, inputs.shape, parameters, to_string(kind),
                    to_string(precision_of<T>))
        << ", shuffle seed " << seed << ", info " << answer.info << ", the twin's " << twin.info;
  }
}

template <class T>
void compare(MatrixKind kind, std::int64_t n) {
  std::uint64_t shuffle_seed = 0;
  for (const std::int64_t nrhs : {1, 3}) {
    const Shape shape{n, n, n, nrhs, Uplo::lower};
    const Inputs<T> inputs =
        make_inputs<T>(Problem::named("gesv"), shape, kind, static_cast<std::uint64_t>(n));
    for (const std::int64_t threads : {0, 1, 7, 32, 64}) {
      if (twins::sanitized && n > 33 && threads != 7) continue;  // takes minutes otherwise
      const Method& block = row_of("gesv/gauss_block");
      Parameters parameters = defaults(block);
      parameters.set("threads", threads);
      expect_same_bits(block, inputs, parameters, twins::gauss_block(inputs, threads), kind, ++shuffle_seed);
      for (const std::int64_t blocks : {1, 2, 3, 14, 200}) {
        const Answer<T> halving_twin = twins::gauss_cyclic_halving(inputs, blocks, threads);
        const Answer<T> decrement_twin = twins::gauss_cyclic_decrement(inputs, blocks, threads);
        for (const char* substitution : {"reduction", "pipelined", "pipelined_locks"}) {
          const Method& halving = row_of("gesv/gauss_cyclic_halving");
          const Method& decrement = row_of("gesv/gauss_cyclic_decrement");
          parameters = defaults(halving);
          parameters.set("threads", threads);
          parameters.set("blocks", blocks);
          parameters.set("back_substitution", std::string(substitution));
          expect_same_bits(halving, inputs, parameters, halving_twin, kind, ++shuffle_seed);
          // gauss_cyclic_decrement needs one launch per block count from `blocks` to 1, so that 200 blocks
          // take long.
          if (blocks == 200 && (nrhs != 1 || n > 33 || threads > 7)) continue;
          expect_same_bits(decrement, inputs, parameters, decrement_twin, kind, ++shuffle_seed);
        }
      }
    }
  }
}

using Case = std::tuple<MatrixKind, int, Precision>;
class GesvTwin : public testing::TestWithParam<Case> {};

TEST_P(GesvTwin, SameBits) {
  const auto [kind, n, precision] = GetParam();
  if (precision == Precision::float32) {
    compare<float>(kind, n);
  } else {
    compare<double>(kind, n);
  }
}

std::string twin_case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(to_string(std::get<0>(info.param))) + "_" + std::to_string(std::get<1>(info.param)) +
         "_" + std::string(to_string(std::get<2>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, GesvTwin,
                         testing::Combine(testing::Values(MatrixKind::uniform,
                                                          MatrixKind::diagonally_dominant,
                                                          MatrixKind::cauchy),
                                          testing::Values(1, 2, 3, 5, 31, 32, 33),
                                          testing::Values(Precision::float32, Precision::float64)),
                         twin_case_name);

// Order 65 needs three warps and takes seconds per case, so that each kind runs in one precision.
INSTANTIATE_TEST_SUITE_P(Large, GesvTwin,
                         testing::Values(Case(MatrixKind::uniform, 65, Precision::float64),
                                         Case(MatrixKind::diagonally_dominant, 65, Precision::float64),
                                         Case(MatrixKind::cauchy, 65, Precision::float32)),
                         twin_case_name);

// In the first stage two stripes find a zero pivot: info is that of the first one, and x stays unwritten.
TEST(GesvTwinFailure, ZeroPivotLikeTheTwin) {
  Inputs<double> inputs = square_inputs<double>("gesv", 7, MatrixKind::uniform);
  inputs.a(1, 0) = 0;
  inputs.a(2, 0) = 0;
  const Method& halving = row_of("gesv/gauss_cyclic_halving");
  Parameters parameters = defaults(halving);
  parameters.set("blocks", std::int64_t{3});
  const Answer<double> twin = twins::gauss_cyclic_halving(inputs, 3, 0);
  EXPECT_EQ(twin.info, 2);
  expect_same_bits(halving, inputs, parameters, twin, MatrixKind::uniform, 5);
}

}  // namespace
}  // namespace gaussweep
