// Tests the matrix, verification and vendor library modules on a GPU.

#include "kernels/check/check.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/peaks.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
class MatrixOnGpu : public OnGpu {};
TYPED_TEST_SUITE(MatrixOnGpu, Precisions);

TYPED_TEST(MatrixOnGpu, GeneratesTheHostsBits) {
  for (const auto& [kind, name] : EnumNames<MatrixKind>::table) {
    for (const std::int64_t n : {1, 2, 31, 32, 33, 97, 1000}) {
      MatrixSpec spec;
      spec.kind = kind;
      spec.rows = spec.cols = n;
      spec.seed = 5;
      if (n == 1) spec.condition = 1;
      spec.blur.width = n;
      spec.blur.height = 1;
      const auto host = generate<TypeParam>(spec);
      const auto gpu = generate_on<TypeParam>(*this->context, spec);
      ASSERT_EQ(host.data.size(), gpu.data.size());
      EXPECT_EQ(std::memcmp(host.data.data(), gpu.data.data(), host.data.size() * sizeof(TypeParam)), 0)
          << name << " n " << n;
    }
  }
}

// Tests whole pieces of the copy pipeline, halves of pieces, and copies that are smaller than a piece.
TYPED_TEST(MatrixOnGpu, CopiesOfAnyLengthArrive) {
  constexpr std::size_t piece = std::size_t{32} << 20;
  Device& device = *this->device;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{5} << 20, piece - 1, piece,
                                  piece + 1, 2 * piece, 3 * piece + 12345}) {
    std::vector<char> sent(bytes), back(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<char>((i * 2654435761u) >> 13);
    const Buffer first(device, bytes), second(device, bytes);
    device.fill(first.data(), /*byte=*/0xFF, bytes);
    device.to_device(first.data(), sent.data(), bytes);
    device.copy(second.data(), first.data(), bytes);
    device.to_host(back.data(), second.data(), bytes);
    EXPECT_TRUE(sent == back) << bytes;
  }
}

TYPED_TEST(MatrixOnGpu, VendorMethodsAreAccurate) {
  int methods = 0;
  for (const Method& method : registry().all()) {
    if (!method.vendor || !method.runs_on(Backend::cuda)) continue;
    ++methods;
    const Parameters parameters = defaults(method);
    // Orders grow and shrink, so that the memory kept for the library grows and is reused.
    for (const std::int64_t n : {1, 2, 31, 32, 33, 97, 500, 33}) {
      for (const Shape& shape : shapes(method, n)) {
        if (method.accepts != nullptr && !method.accepts(shape, parameters)) continue;
        for (const MatrixKind kind : fit_kinds(method, parameters)) {
          const auto inputs = make_inputs<TypeParam>(method.problem, shape, kind);
          const auto answer = run_method(*this->context, method, inputs, parameters);
          const auto text = describe(method, Backend::cuda, shape, parameters, to_string(kind),
                                     to_string(precision_of<TypeParam>));
          EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem)) << text;
          EXPECT_EQ(answer.info, 0) << text;
        }
      }
    }
  }
  EXPECT_GE(methods, 2);  // at least gesv/cusolver and trsv/cublas
}

TYPED_TEST(MatrixOnGpu, PeaksArePlausible) {
  const Peaks peaks = measure_peaks(*this->context, /*seconds=*/2);
  EXPECT_GT(peaks.copy_bytes_per_second, 5e9);
  EXPECT_LT(peaks.copy_bytes_per_second, 1e14);
  EXPECT_GT(peaks.gemm_flops_float, 1e11);
  EXPECT_GT(peaks.gemm_flops_double, 1e10);
}

}  // namespace
}  // namespace gaussweep
