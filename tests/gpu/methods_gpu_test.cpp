// Tests every registry method that runs on a GPU: accurate on the matrices that suit it, and bit-identical to
// the emulated build of the same kernels. The environment variable GAUSSWEEP_SMALL limits the sizes to n <=
// 33, for compute-sanitizer.

#include <iostream>

#include "kernels/core/errors.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/guarded_runs.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

std::vector<std::int64_t> sizes(std::initializer_list<std::int64_t> all) {
  std::vector<std::int64_t> result;
  for (const std::int64_t n : all) {
    if (n <= 33 || !OnGpu::small()) result.push_back(n);
  }
  return result;
}

std::vector<std::string> gpu_methods(bool portable_only) {
  std::vector<std::string> ids;
  for (const Method& method : registry().all()) {
    const auto& backends = method.backends;
    if (std::find(backends.begin(), backends.end(), Backend::cuda) == backends.end()) continue;
    if (method.runs_on(Backend::emulated) || !portable_only) ids.push_back(method.id());
  }
  return ids;
}

class GpuMethods : public OnGpu, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { require(method().capability); }
  const Method& method() const { return row_of(GetParam()); }

  /// Runs the body for every precision; skips methods whose library lacks a function on this GPU.
  template <class Body>
  void for_each_precision(Body body) {
    Context context(*device);
    const auto run_if_supported = [&](auto tag) {
      using T = decltype(tag);
      const Parameters parameters = defaults(method());
      const Shape shape = shapes(method(), 33).front();
      try {
        if (method().accepts == nullptr || method().accepts(shape, parameters)) {
          const MatrixKind kind = fit_kinds(method(), parameters).front();
          run_method(context, method(), make_inputs<T>(method().problem, shape, kind), parameters);
        }
      } catch (const NotOffered& e) {
        std::cout << method().id() << ": " << e.what() << '\n';
        return;
      }
      body(context, tag);
    };
    if (method().cuda.float32 != nullptr) run_if_supported(float());
    if (method().cuda.float64 != nullptr) run_if_supported(double());
  }
};

/// Returns true if the method reports an indefinite matrix by an exception: cuSOLVERMg's potrf ends with an
/// internal error then.
bool throws_if_indefinite(const Method& method) {
  return method.id() == "potrf/cusolver_mg" || method.id() == "posv/cusolver_mg" ||
         method.id() == "poinv/cusolver_mg";
}

TEST_P(GpuMethods, RepeatsItsBitsAndStaysInItsOperands) {
  // In a sweep, the answers of the samples of gemm/cublas_emulated differ, and each answer is verified.
  if (method().id() == "gemm/cublas_emulated")
    GTEST_SKIP() << "cuBLAS's fixed point rounds A and -A differently";
  for_each_precision([&](Context& context, auto tag) {
    const Parameters parameters = parameter_grid(method(), /*blocks=*/{3}).front();
    for (const std::int64_t n : sizes({1, 33, 257})) {
      for (const Shape& shape : shapes(method(), n)) {
        if (method().accepts == nullptr || method().accepts(shape, parameters))
          expect_honest<decltype(tag)>(context, method(), shape, parameters);
      }
    }
  });
}

TEST_P(GpuMethods, IsAccurateOnSuitableMatrices) {
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : sizes({1, 2, 31, 32, 33, 97, 257})) {
      expect_right<T>(context, method(), n, /*blocks=*/{1, 3, 14});
    }
    // Only 14 blocks: with a single block each combination of the other parameters takes half a minute.
    for (const std::int64_t n : sizes({512, 1024})) expect_right<T>(context, method(), n, /*blocks=*/{14});
  });
}

TEST_P(GpuMethods, SingularMatrixRaisesNoError) {
  if (throws_if_indefinite(method())) GTEST_SKIP() << method().id() << " throws";
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    if (method().problem == Problem::named("gemm")) return;  // gemm takes any matrix
    for (const std::int64_t n : {1, 2, 33}) expect_singular_is_a_result<T>(context, method(), n);
  });
}

TEST_P(GpuMethods, InfoIsTheSmallestIndex) {
  if (throws_if_indefinite(method())) GTEST_SKIP() << method().id() << " throws";
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    if (method().problem == Problem::named("gemm")) return;  // gemm has no pivots
    expect_smallest_info<T>(context, method(), 33);
  });
}

TEST_P(GpuMethods, NanIsReported) {
  if (throws_if_indefinite(method())) GTEST_SKIP() << method().id() << " throws";
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : {1, 33}) expect_nan_is_seen<T>(context, method(), n);
  });
}

TEST_P(GpuMethods, WorkspaceIsSufficient) {
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : sizes({1, 2, 33, 97})) expect_workspace_is_enough<T>(context, method(), n);
  });
}

TEST_P(GpuMethods, InputsSurviveIfTheRowPromisesIt) {
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    if (method().overwrites) return;
    for (const std::int64_t n : {2, 33}) expect_inputs_survive<T>(context, method(), n);
  });
}

INSTANTIATE_TEST_SUITE_P(All, GpuMethods, testing::ValuesIn(gpu_methods(/*portable_only=*/false)),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return test_name(info.param);
                         });

/// Tests portable methods, whose kernels run on the GPU and emulated.
class GpuAgainstEmulated : public GpuMethods {};

TEST_P(GpuAgainstEmulated, SameBits) {
  if (GetParam() == "gemm/halves") GTEST_SKIP() << "its products of more than 256 terms are the vendor's";
  // These methods use the GPU's reciprocal square root instruction, which rounds differently from the CPU.
  for (const char* id : {"potrf/recursive", "posv/recursive", "poinv/recursive", "potrf/multi_gpu",
                         "posv/multi_gpu", "poinv/multi_gpu"}) {
    if (method().id() == id) GTEST_SKIP() << id << " has other bits on a CPU";
  }
  CpuContext emulated;
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : sizes({1, 2, 5, 32, 33, 97})) {
      for_each_case(
          method(), n, /*blocks=*/{1, 2, 3, 14, 200}, [&](const Shape& shape, Parameters parameters) {
            // Without a given number of moduli, the method may use the vendor's products, which differ in the
            // last bits.
            if (has_parameter(method(), "moduli")) parameters.set("moduli", std::int64_t{15});
            // On uniform matrices rounding errors grow, so that any difference becomes visible.
            const bool any_square = method().problem == Problem::named("gesv") && !needs(method(), Need::spd);
            const MatrixKind kind =
                any_square ? MatrixKind::uniform : fit_kinds(method(), parameters).front();
            const Inputs<T> inputs = make_inputs<T>(method().problem, shape, kind);
            EXPECT_TRUE(same_values(run_method(context, method(), inputs, parameters),
                                    run_method(emulated, method(), inputs, parameters)))
                << describe_run<T>(context, method(), shape, parameters, to_string(kind));
          });
    }
  });
}

TEST_P(GpuAgainstEmulated, PinnedOperandsGiveTheSameBits) {
  for_each_precision([&](Context& context, auto tag) {
    using T = decltype(tag);
    for (const std::int64_t n : sizes({33, 97})) {
      const Shape shape = shapes(method(), n).back();
      const Parameters parameters = defaults(method());
      if (method().accepts != nullptr && !method().accepts(shape, parameters)) continue;
      const MatrixKind kind = fit_kinds(method(), parameters).front();
      const Inputs<T> inputs = make_inputs<T>(method().problem, shape, kind);
      EXPECT_TRUE(same_values(run_method(context, method(), inputs, parameters, /*pinned=*/true),
                              run_method(context, method(), inputs, parameters)))
          << describe_run<T>(context, method(), shape, parameters, to_string(kind));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, GpuAgainstEmulated, testing::ValuesIn(gpu_methods(/*portable_only=*/true)),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return test_name(info.param);
                         });

/// The pipelined back substitution must terminate on any grid: with fewer blocks than multiprocessors, with
/// one block per multiprocessor, and with far more blocks than can be resident.
TEST_F(OnGpu, PipelineTerminatesOnAnyGrid) {
  const std::int64_t n = OnGpu::small() ? 33 : 2000;
  const Shape shape{n, n, n, 1, Uplo::lower};
  const Inputs<double> inputs = make_inputs<double>(Problem::named("gesv"), shape, MatrixKind::cauchy);
  const Method& halving = row_of("gesv/gauss_cyclic_halving");
  for (const std::int64_t blocks : {1, 14, 132, 1000}) {
    for (const std::int64_t threads : {0, 256}) {
      // Each elimination takes half a minute.
      if (threads == 256 && blocks < 1000 && !OnGpu::small()) continue;
      Parameters parameters = defaults(halving);
      parameters.set("blocks", blocks);
      parameters.set("threads", threads);
      parameters.set("back_substitution", std::string("reduction"));
      const Answer<double> reduced = run_method(*context, halving, inputs, parameters);
      parameters.set("back_substitution", std::string("pipelined"));
      const Answer<double> pipelined = run_method(*context, halving, inputs, parameters);
      EXPECT_EQ(pipelined.info, 0) << blocks << " blocks";
      EXPECT_TRUE(is_right(halving, inputs, pipelined)) << blocks << " blocks";
      EXPECT_TRUE(same_values(pipelined, reduced)) << blocks << " blocks";  // both sum in the same order
      parameters.set("back_substitution", std::string("pipelined_locks"));
      const Answer<double> with_locks = run_method(*context, halving, inputs, parameters);
      // Each thread block has fixed pieces of the work and waits for earlier blocks. CUDA guarantees that
      // these run only if all blocks are resident.
      if (blocks <= 132) {
        EXPECT_EQ(with_locks.info, 0) << blocks << " blocks";
      }
      if (with_locks.info == 0) {
        EXPECT_TRUE(same_values(with_locks, reduced)) << blocks << " blocks";
      } else {
        EXPECT_EQ(with_locks.info, -1) << blocks << " blocks";
      }
    }
  }
}

TEST_F(OnGpu, RefusedPinnedAllocationIsHarmless) {
  EXPECT_THROW(HostBuffer(*device, std::size_t{1} << 50), std::runtime_error);
  double value = 3, back = 0;
  const Buffer memory(*device, sizeof value);
  const HostBuffer pinned(*device, sizeof value);
  device->to_device(memory.data(), &value, sizeof value);
  device->copy(pinned.data(), memory.data(), sizeof value);
  device->synchronize();
  std::memcpy(&back, pinned.data(), sizeof back);
  EXPECT_EQ(back, 3);
}

}  // namespace
}  // namespace gaussweep
