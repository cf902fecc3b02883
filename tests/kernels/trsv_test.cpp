// Tests the methods of trsv on the CPU (kernels for GPUs emulated) and gesv/lapack: by hand, at orders with
// partial groups, and with NaN. tests/gpu does the same on a GPU.

#include "kernels/check/check.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/kernels/try_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

const std::vector<std::string> trsv_rows{"serial",   "openblas",        "column_sweep",   "pair_sweep",
                                         "doubling", "doubling_shared", "inverted_blocks"};

template <class T>
Answer<T> solve(const std::string& variant, const Inputs<T>& inputs, StageSink* stages = nullptr) {
  return try_method(Problem::named("trsv"), variant, inputs, {}, 5, stages).answer;
}

PRECISION_TEST_SUITE(CpuSolvers);

// [2 . .; 1 4 .; 3 2 1] and its transpose, x = (1, 2, 3) and (1, 0, -1). The other triangle (9) must be
// ignored.
TYPED_TEST(CpuSolvers, TriangularByHand) {
  using T = TypeParam;
  const auto lower = equations<T>(3, 2, {2, 9, 9, 2, 2, 1, 4, 9, 9, 1, 3, 2, 1, 10, 2});
  auto upper = equations<T>(3, 1, {2, 1, 3, 13, 9, 4, 2, 14, 9, 9, 1, 3});
  upper.shape.uplo = Uplo::upper;
  for (const std::string& variant : trsv_rows) {
    const Answer<T> forward = solve(variant, lower);
    EXPECT_THAT(forward.x.data, ElementsAre(1, 2, 3, 1, 0, -1)) << variant;
    EXPECT_EQ(forward.info, 0);
    EXPECT_THAT(solve(variant, upper).x.data, ElementsAre(1, 2, 3)) << variant;
    EXPECT_THAT(solve(variant, equations<T>(1, 1, {4, 2})).x.data, ElementsAre(0.5));
  }
}

TYPED_TEST(CpuSolvers, GeneralByHand) {
  using T = TypeParam;
  const auto lapack = [](const Inputs<T>& inputs) {
    return try_method(Problem::named("gesv"), "lapack", inputs).answer;
  };
  // [0 1; 2 1] x = (1, 5): the first pivot is 0, so rows must be exchanged.
  const Answer<T> answer = lapack(equations<T>(2, 1, {0, 1, 1, 2, 1, 5}));
  EXPECT_THAT(answer.x.data, ElementsAre(2, 1));
  EXPECT_EQ(answer.info, 0);
  EXPECT_THAT(lapack(equations<T>(1, 2, {4, 2, 8})).x.data, ElementsAre(0.5, 2));
}

TYPED_TEST(CpuSolvers, NanPropagatesAndFails) {
  using T = TypeParam;
  auto inputs = square_inputs<T>("trsv", 33, MatrixKind::triangular);
  inputs.a(5, 2) = std::numeric_limits<T>::quiet_NaN();
  for (const std::string& variant : trsv_rows)
    EXPECT_EQ(check(row_of("trsv/" + variant), inputs, solve(variant, inputs)).ratio, HUGE_VAL) << variant;
}

// The reciprocals of these pivots overflow, or are so small that they lose digits; the quotients are exact.
TYPED_TEST(CpuSolvers, ExtremePivotsAreDividedBy) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  for (const T pivot : {4 * Limits::denorm_min(), Limits::max() / 4 * 3}) {
    for (const std::int64_t n : {3, 40}) {
      auto inputs = square_inputs<T>("trsv", n, MatrixKind::triangular);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) inputs.a(i, j) = T(i == j ? 1 : 0);
        inputs.b(j, 0) = T(j);
      }
      inputs.a(n - 1, n - 1) = pivot;
      inputs.b(n - 1, 0) = pivot;
      const Answer<T> answer = solve("inverted_blocks", inputs);
      EXPECT_EQ(answer.x.data.back(), 1) << n << " " << pivot;
      EXPECT_EQ(answer.x.data[1], 1) << n << " " << pivot;
    }
  }
}

// Orders above 64 use inverses of the diagonal blocks. With these elements the answers need corrections
// (0.15), or the blocks are solved by substitution (1).
TYPED_TEST(CpuSolvers, InaccurateInversesOfBlocksAreCorrected) {
  using T = TypeParam;
  for (const double below : {0.15, 1.0}) {
    auto inputs = square_inputs<T>("trsv", 130, MatrixKind::triangular);
    for (std::int64_t j = 0; j < 130; ++j) {
      for (std::int64_t i = j; i < 130; ++i)
        inputs.a(i, j) = i == j ? T(1) : T(i / 64 == j / 64 ? -below : 0);
      inputs.b(j, 0) = T(1 - below * static_cast<double>(j % 64));  // A (1, ..., 1): the terms cancel
    }
    EXPECT_LE(check(row_of("trsv/inverted_blocks"), inputs, solve("inverted_blocks", inputs)).ratio, 1)
        << below;
  }
}

TEST(CpuReferences, AreTheVendorsRows) {
  for (const Backend backend : {Backend::host, Backend::emulated}) {
    ASSERT_NE(registry().reference(Problem::named("trsv"), backend), nullptr);
    EXPECT_EQ(registry().reference(Problem::named("trsv"), backend)->variant, "openblas");
    ASSERT_NE(registry().reference(Problem::named("gesv"), backend), nullptr);
    EXPECT_EQ(registry().reference(Problem::named("gesv"), backend)->variant, "lapack");
  }
}

// In the doubling scheme a group has upper and lower rows. The last group of these orders has no lower row,
// one, all but one, or ends within a tile. At order 129 there are more right-hand sides than columns of a
// tile.
TYPED_TEST(CpuSolvers, PartialGroupsAreAccurate) {
  using T = TypeParam;
  for (const char* variant : {"column_sweep", "pair_sweep", "doubling", "doubling_shared", "inverted_blocks",
                              "gets", "serial_rows"}) {
    for (const std::int64_t n : {3, 4, 5, 7, 63, 64, 65, 95, 127, 129, 200}) {
      const Shape shape{n, n, n, n == 129 ? 33 : 1, n % 2 == 1 ? Uplo::upper : Uplo::lower};
      const auto inputs = make_inputs<T>(Problem::named("trsv"), shape, MatrixKind::triangular);
      EXPECT_LE(check(row_of(std::string("trsv/") + variant), inputs, solve(variant, inputs)).ratio,
                default_tolerance(Problem::named("trsv")))
          << variant << " " << n;
    }
  }
}

// Launches as in the course report: n columns, n / 2 - 1 pairs of columns, log2(n) - 1 doublings. There is
// one more for the diagonal, and one each for the triangles of the matrix and of the right-hand sides.
TYPED_TEST(CpuSolvers, LaunchCountsAreThoseOfTheReport) {
  using T = TypeParam;
  using Counts = std::vector<std::pair<std::string, int>>;
  const std::vector<std::pair<const char*, Counts>> expected{
      {"column_sweep", {{"diagonal", 1}, {"columns", 128}}},
      {"pair_sweep", {{"diagonal", 1}, {"triangles", 2}, {"columns", 63}}},
      {"doubling", {{"diagonal", 1}, {"triangles", 2}, {"row_operations", 6}}},
      {"doubling_shared",
       {{"diagonal", 1}, {"triangles", 2}, {"row_operations", 4}, {"row_operations_in_tiles", 2}}}};
  const auto inputs = square_inputs<T>("trsv", 128, MatrixKind::triangular);
  for (const auto& [variant, counts] : expected) {
    Stages stages;
    solve(variant, inputs, &stages);
    EXPECT_EQ(stages.launches, counts) << variant;
  }
}

// Leading dimensions larger than n, as callers other than Staging may use them.
TYPED_TEST(CpuSolvers, LeadingDimensionsMayExceedN) {
  using T = TypeParam;
  std::vector<std::string> ids{"gesv/lapack"};
  for (const std::string& variant : trsv_rows) ids.push_back("trsv/" + variant);
  for (const std::string& id : ids) {
    const Method& method = row_of(id);
    const Backend backend = method.runs_on(Backend::host) ? Backend::host : Backend::emulated;
    const auto device = cpu(backend);
    Context context(*device);
    std::vector<T> a{2, 1, -7, 0, 4, -7};  // [2 0; 1 4], ld 3
    std::vector<T> b{2, 9, -7, 4, 2, -7};
    int info = 0;
    Operands<T> op;
    op.shape = {2, 2, 2, 2, Uplo::lower};
    op.a = {a.data(), 2, 2, 3};
    op.b = {b.data(), 2, 2, 3};
    op.info = &info;
    const std::size_t needed =
        method.workspace_bytes == nullptr ? 0 : method.workspace_bytes(op.shape, {}, sizeof(T));
    const Buffer memory(context.device, needed);
    op.workspace = Workspace(memory.data(), needed);
    method.entry(backend).template get<T>()(context, op, {});
    context.device.synchronize();
    EXPECT_THAT(b, ElementsAre(1, 2, -7, 2, 0, -7)) << id;
    EXPECT_EQ(info, 0);
  }
}

}  // namespace
}  // namespace gaussweep
