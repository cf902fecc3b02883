// Compares gesv/gauss_cyclic_shared bit by bit with twins of its two schedules: plain loops with the same
// operations in the same order (twins.hpp).

#include "tests/kernels/method_run.hpp"
#include "tests/kernels/twins.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
void compare(MatrixKind kind, std::int64_t n, std::int64_t nrhs) {
  const Method& method = row_of("gesv/gauss_cyclic_shared");
  CpuContext context;
  const Inputs<T> inputs = square_inputs<T>("gesv", n, kind, nrhs, 6);
  for (const std::int64_t threads : {0, 7, 32}) {
    if (twins::sanitized && n > 5 && threads != 7) continue;  // takes a minute otherwise
    for (const std::int64_t blocks : {1, 2, 5, 14}) {
      for (const char* schedule : {"decrement", "halving"}) {
        const bool halving = std::string(schedule) == "halving";
        const Answer<T> twin = halving ? twins::gauss_cyclic_halving(inputs, blocks, threads)
                                       : twins::gauss_cyclic_decrement(inputs, blocks, threads);
        for (const char* substitution : {"reduction", "pipelined", "pipelined_locks"}) {
          Parameters parameters = defaults(method);
          parameters.set("threads", threads);
          parameters.set("blocks", blocks);
          parameters.set("schedule", std::string(schedule));
          parameters.set("back_substitution", std::string(substitution));
          ++context.emulation.shuffle_seed;
          EXPECT_TRUE(twins::same_bits(run_method(context, method, inputs, parameters), twin))
              << describe(method, Backend::emulated, inputs.shape, parameters, to_string(kind),
                          to_string(precision_of<T>));
        }
      }
    }
  }
}

TEST(GaussCyclicShared, SameBitsAsItsTwins) {
  for (const MatrixKind kind : {MatrixKind::uniform, MatrixKind::cauchy, MatrixKind::diagonally_dominant}) {
    for (const std::int64_t n : {1, 2, 5, 33, 64}) {
      compare<float>(kind, n, 1);
      compare<double>(kind, n, 3);
    }
  }
}

// More right-hand sides than shared memory holds: the rest of the row stays in global memory.
TEST(GaussCyclicShared, RowsMayExceedSharedMemory) {
  const Method& method = row_of("gesv/gauss_cyclic_shared");
  CpuContext context;
  const std::int64_t nrhs = 7000;  // 56 000 bytes of double, more than the 48 KiB of emulated blocks
  const auto inputs = square_inputs<double>("gesv", 3, MatrixKind::cauchy, nrhs);
  Parameters parameters = defaults(method);
  parameters.set("blocks", std::int64_t{2});
  parameters.set("threads", std::int64_t{64});
  const auto answer = run_method(context, method, inputs, parameters);
  EXPECT_TRUE(twins::same_bits(answer, twins::gauss_cyclic_decrement(inputs, 2, 64)));
}

}  // namespace
}  // namespace gaussweep
