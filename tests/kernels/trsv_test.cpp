// The rows of trsv that run on a CPU, the GPU's kernels emulated, and gesv/lapack: by hand, on every size,
// and where they fail. The same on a GPU: tests/gpu.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/check/check.hpp"
#include "kernels/tables.hpp"
#include "tests/kernels/method_run.hpp"

namespace gaussweep {
namespace {

using testing::ElementsAre;
using testing_help::run_method;

const Method& row(Problem problem, const std::string& variant) {
  static const Registry registry = builtin_registry();
  const Method* method = registry.find(problem, variant);
  if (method == nullptr) throw std::logic_error("no row " + variant);
  return *method;
}

constexpr const char* trsv_rows[] = {"serial",   "openblas",        "column_sweep",   "pair_sweep",
                                     "doubling", "doubling_shared", "inverted_blocks"};

std::vector<const Method*> cpu_rows() {
  std::vector<const Method*> rows{&row(Problem::named("gesv"), "lapack")};
  for (const char* variant : trsv_rows) rows.push_back(&row(Problem::named("trsv"), variant));
  return rows;
}

Backend backend_of(const Method& method) {
  return method.runs_on(Backend::host) ? Backend::host : Backend::emulated;
}

template <class T>
Inputs<T> inputs_of(std::int64_t n, std::int64_t nrhs, Uplo uplo, std::vector<T> a, std::vector<T> b) {
  Inputs<T> inputs;
  inputs.shape = {n, n, n, nrhs, uplo};
  inputs.a = HostMatrix<T>(n, n);
  inputs.a.data = std::move(a);
  inputs.b = HostMatrix<T>(n, nrhs);
  inputs.b.data = std::move(b);
  return inputs;
}

template <class T>
class CpuSolvers : public testing::Test {
 protected:
  Answer<T> run(const Method& method, const Inputs<T>& inputs) {
    return run_method(context_of(method), method, inputs, testing_help::defaults(method));
  }
  Context& context_of(const Method& method) {
    return backend_of(method) == Backend::host ? on_host_ : emulated_;
  }

 private:
  std::unique_ptr<Device> host_device_ = testing_help::cpu(Backend::host);
  std::unique_ptr<Device> emulated_device_ = testing_help::cpu(Backend::emulated);
  Context on_host_{*host_device_};
  Context emulated_{*emulated_device_};
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(CpuSolvers, Precisions);

// [2 . .; 1 4 .; 3 2 1] and its transpose, x = (1, 2, 3) and (1, 0, -1). What stands in the other triangle
// (9) must not matter.
TYPED_TEST(CpuSolvers, TriangularByHand) {
  using T = TypeParam;
  for (const char* variant : trsv_rows) {
    const Method& method = row(Problem::named("trsv"), variant);
    const auto lower = inputs_of<T>(3, 2, Uplo::lower, {2, 1, 3, 9, 4, 2, 9, 9, 1}, {2, 9, 10, 2, 1, 2});
    const Answer<T> forward = this->run(method, lower);
    EXPECT_THAT(forward.x.data, ElementsAre(1, 2, 3, 1, 0, -1)) << variant;
    EXPECT_EQ(forward.info, 0);
    const auto upper = inputs_of<T>(3, 1, Uplo::upper, {2, 9, 9, 1, 4, 9, 3, 2, 1}, {13, 14, 3});
    EXPECT_THAT(this->run(method, upper).x.data, ElementsAre(1, 2, 3)) << variant;
    EXPECT_THAT(this->run(method, inputs_of<T>(1, 1, Uplo::lower, {4}, {2})).x.data, ElementsAre(0.5));
  }
}

TYPED_TEST(CpuSolvers, GeneralByHand) {
  using T = TypeParam;
  const Method& lapack = row(Problem::named("gesv"), "lapack");
  // [0 1; 2 1] x = (1, 5): the first pivot is 0, rows must be exchanged.
  const Answer<T> answer = this->run(lapack, inputs_of<T>(2, 1, Uplo::lower, {0, 2, 1, 1}, {1, 5}));
  EXPECT_THAT(answer.x.data, ElementsAre(2, 1));
  EXPECT_EQ(answer.info, 0);
  EXPECT_THAT(this->run(lapack, inputs_of<T>(1, 2, Uplo::lower, {4}, {2, 8})).x.data, ElementsAre(0.5, 2));
}

TYPED_TEST(CpuSolvers, NanComesOutAndFails) {
  using T = TypeParam;
  for (const Method* method : cpu_rows()) {
    const Shape shape{33, 33, 33, 1, Uplo::lower};
    auto inputs = testing_help::make_inputs<T>(method->problem, shape, MatrixKind::triangular);
    inputs.a(5, 2) = std::numeric_limits<T>::quiet_NaN();
    const Answer<T> answer = this->run(*method, inputs);
    EXPECT_EQ(check(*method, inputs, answer).ratio, std::numeric_limits<double>::infinity()) << method->id();
  }
}

TYPED_TEST(CpuSolvers, VendorRowsAreTheReferences) {
  const Registry registry = builtin_registry();
  for (const Backend backend : {Backend::host, Backend::emulated}) {
    ASSERT_NE(registry.reference(Problem::named("trsv"), backend), nullptr);
    EXPECT_EQ(registry.reference(Problem::named("trsv"), backend)->variant, "openblas");
    ASSERT_NE(registry.reference(Problem::named("gesv"), backend), nullptr);
    EXPECT_EQ(registry.reference(Problem::named("gesv"), backend)->variant, "lapack");
  }
}

// What the groups of doubling can look like where the matrix ends: no lower rows at all, one, all but one, a
// group cut off in the middle of a tile; and more right-hand sides than a tile has columns.
TYPED_TEST(CpuSolvers, WhereGroupsAreCutOff) {
  using T = TypeParam;
  for (const char* variant : {"column_sweep", "pair_sweep", "doubling", "doubling_shared", "inverted_blocks",
                              "gets", "serial_rows"}) {
    const Method& method = row(Problem::named("trsv"), variant);
    for (const std::int64_t n : {3, 4, 5, 7, 63, 64, 65, 95, 127, 129, 200}) {
      const Shape shape{n, n, n, n == 129 ? 33 : 1, n % 2 == 1 ? Uplo::upper : Uplo::lower};
      const auto inputs = testing_help::make_inputs<T>(Problem::named("trsv"), shape, MatrixKind::triangular);
      const Answer<T> answer = this->run(method, inputs);
      EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(Problem::named("trsv")))
          << variant << " " << n;
    }
  }
}

/// Counts launches, stage by stage.
struct Launches final : StageSink {
  void mark(std::string_view name) override { counts.emplace_back(name, 0); }
  void launched(double) override { ++counts.back().second; }
  std::vector<std::pair<std::string, int>> counts;
};

// The report's launches: n columns, n / 2 - 1 pairs of columns, log2(n) - 1 doublings; one more for the
// diagonal, and the triangles of matrix and right-hand sides apart.
TYPED_TEST(CpuSolvers, LaunchesAreThoseOfTheReport) {
  using T = TypeParam;
  using Counts = std::vector<std::pair<std::string, int>>;
  const std::vector<std::pair<const char*, Counts>> expected{
      {"column_sweep", {{"diagonal", 1}, {"columns", 128}}},
      {"pair_sweep", {{"diagonal", 1}, {"triangles", 2}, {"columns", 63}}},
      {"doubling", {{"diagonal", 1}, {"triangles", 2}, {"row_operations", 6}}},
      {"doubling_shared",
       {{"diagonal", 1}, {"triangles", 2}, {"row_operations", 4}, {"row_operations_in_tiles", 2}}}};
  const auto inputs = testing_help::make_inputs<T>(Problem::named("trsv"), {128, 128, 128, 1, Uplo::lower},
                                                   MatrixKind::triangular);
  for (const auto& [variant, counts] : expected) {
    const Method& method = row(Problem::named("trsv"), variant);
    Launches launches;
    this->context_of(method).stages = &launches;
    this->run(method, inputs);
    this->context_of(method).stages = nullptr;
    EXPECT_EQ(launches.counts, counts) << variant;
  }
}

// Strides larger than n, as a caller other than Staging may have them.
TYPED_TEST(CpuSolvers, LeadingDimensionsBeyondN) {
  using T = TypeParam;
  for (const Method* method : cpu_rows()) {
    std::vector<T> a{2, 1, -7, 0, 4, -7};  // [2 0; 1 4], ld 3
    std::vector<T> b{2, 9, -7, 4, 2, -7};
    int info = 0;
    Operands<T> op;
    op.shape = {2, 2, 2, 2, Uplo::lower};
    op.a = {a.data(), 2, 2, 3};
    op.b = {b.data(), 2, 2, 3};
    op.info = &info;
    Context& context = this->context_of(*method);
    const std::size_t needed =
        method->workspace_bytes == nullptr ? 0 : method->workspace_bytes(op.shape, {}, sizeof(T));
    const Buffer memory(context.device, needed);
    op.workspace = Workspace(memory.data(), needed);
    method->entry(backend_of(*method)).template get<T>()(context, op, {});
    context.device.synchronize();
    EXPECT_THAT(b, ElementsAre(1, 2, -7, 2, 0, -7)) << method->id();
    EXPECT_EQ(info, 0);
  }
}

}  // namespace
}  // namespace gaussweep
