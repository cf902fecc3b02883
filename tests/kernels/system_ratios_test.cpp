// Compares the verification of a batch on the backend `emulated` with the CPU's.

#include "kernels/check/system_ratios.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

struct Case {
  const char* id;
  Backend backend;
};

/// A batch whose answers stay in device memory, where the verification reads them.
template <class T>
class SolvedBatch {
 public:
  SolvedBatch(const char* id, Backend backend, const Shape& shape, MatrixKind kind)
      : method(row_of(id)), inputs(make_inputs<T>(method.problem, shape, kind, seed)), backend_(backend) {}
  void solve() {
    staging.emplace(*device, method, defaults(method), inputs.shape, 1);
    staging->upload(inputs);
    staging->reset();
    Operands<T> operands = staging->operands(0);
    method.entry(backend_).template get<T>()(context, operands, defaults(method));
  }
  T* answer() { return const_cast<T*>(staging->answer(0).data); }
  std::optional<SystemRatios> verify(double tolerance, std::int64_t count) {
    return system_ratios(context, method, *staging, 0, inputs.shape, tolerance, seed + 1, count);
  }
  std::vector<double> ratios(double tolerance) {
    return system_ratios(context, method, *staging, 0, inputs.shape, tolerance).value().all();
  }
  std::vector<Findings> by_cpu(double tolerance) {
    return check_systems(method, inputs, staging->download(0), tolerance);
  }

  static constexpr std::uint64_t seed = 7;
  const Method& method;
  Inputs<T> inputs;
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context context{*device};
  std::optional<Staging<T>> staging;

 private:
  Backend backend_;
};

void expect_near(double ratio, double cpu_ratio, const std::string& description) {
  if (!std::isfinite(cpu_ratio) || cpu_ratio == std::numeric_limits<double>::max()) {
    EXPECT_EQ(ratio, cpu_ratio) << description;
  } else {
    EXPECT_NEAR(ratio, cpu_ratio, 1e-3 * std::max(1.0, cpu_ratio)) << description;
  }
}

class SystemRatios : public testing::TestWithParam<Case> {
 protected:
  template <class T>
  void expect_that_of_the_cpu(const Shape& shape) {
    const Problem problem = builtin_problem();
    SolvedBatch<T> batch(GetParam().id, GetParam().backend, shape, kind_for(problem));
    batch.solve();
    // Systems 0 to 2 keep their right answers; the others get errors of all orders of magnitude.
    const Extent one = problem->x(shape.single());
    for (std::int64_t s = 3; s < shape.batch; ++s) {
      T& element =
          batch.answer()[s * one.rows * one.cols + one.rows / 2 * (one.cols > shape.nrhs ? one.rows + 1 : 1)];
      element *= static_cast<T>(1 + std::pow(10.0, static_cast<double>(s % 17) - 16));
    }
    const double tolerance = default_tolerance(problem);
    const std::vector<double> ratios = batch.ratios(tolerance);
    const std::vector<Findings> found = batch.by_cpu(tolerance);
    std::size_t left_to_cpu = 0;
    for (std::size_t s = 0; s < ratios.size(); ++s) {
      const std::string description =
          batch.method.id() + ", n " + std::to_string(shape.n) + ", system " + std::to_string(s);
      if (std::isnan(ratios[s])) {
        ++left_to_cpu;
      } else {
        expect_near(ratios[s], found[s].ratio, description);
      }
    }
    expect_summary(batch, ratios, tolerance);
    // Only products whose ratio is above 1 are left to the CPU.
    EXPECT_TRUE(left_to_cpu == 0 || problem == Problem::named("gemm"))
        << batch.method.id() << ", n " << shape.n;
    EXPECT_FALSE(std::isnan(ratios.front())) << batch.method.id() << ", n " << shape.n;
  }
  template <class T>
  static void expect_summary(SolvedBatch<T>& batch, const std::vector<double>& ratios, double tolerance) {
    const auto answer = batch.staging->download(0);
    std::int64_t others = 0, worst = -1;
    for (std::size_t s = 0; s < ratios.size(); ++s) {
      if (answer.infos[s] != 0 || !(ratios[s] <= tolerance)) {
        ++others;
      } else if (worst < 0 || ratios[s] > ratios[static_cast<std::size_t>(worst)]) {
        worst = static_cast<std::int64_t>(s);
      }
    }
    const RatioSummary summary = batch.verify(tolerance, 2)->summary();
    EXPECT_EQ(summary.not_passed, others);
    EXPECT_EQ(summary.worst, worst);
    ASSERT_EQ(summary.sample.size(), 2u);
    EXPECT_EQ(summary.sample[0], ratios[0]);
    EXPECT_TRUE(summary.sample[1] == ratios[ratios.size() / 2] || std::isnan(summary.sample[1]));
    if (batch.inputs.x_true.empty()) return;
    EXPECT_EQ(summary.forward_error, largest_forward_error(batch.inputs, answer));
  }
  static Problem builtin_problem() {
    const std::string id = GetParam().id;
    return Problem::named(id.substr(0, id.find('/')));
  }
};

TEST_P(SystemRatios, EqualTheCpus) {
  for (const std::int64_t n : {1, 5, 16, 33, 67}) {
    expect_that_of_the_cpu<double>(shape_of(n, 1, n > 33 ? 3 : 21, Uplo::lower));
    expect_that_of_the_cpu<float>(shape_of(n, 1, n > 33 ? 3 : 21, Uplo::lower));
  }
  expect_that_of_the_cpu<double>(shape_of(13, 6, 21, Uplo::upper));
  expect_that_of_the_cpu<double>(shape_of(131, 1, 2, Uplo::lower));
}

INSTANTIATE_TEST_SUITE_P(
    All, SystemRatios,
    testing::Values(Case{"gesv/batched", Backend::emulated}, Case{"getrf/batched", Backend::emulated},
                    Case{"potrf/batched", Backend::emulated}, Case{"posv/batched", Backend::emulated},
                    Case{"geinv/batched", Backend::emulated}, Case{"trsv/openblas", Backend::host},
                    Case{"gemm/openblas", Backend::host}),
    [](const auto& info) { return test_name(info.param.id); });

TEST(SystemRatiosOfFaults, AreInfiniteOrLeftToTheCpu) {
  SolvedBatch<double> batch("getrf/batched", Backend::emulated, shape_of(11, 1, 9, Uplo::lower),
                            MatrixKind::uniform);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  batch.inputs.a(4, 1 * 11 + 6) = std::nan("");
  batch.inputs.a(4, 2 * 11 + 6) = infinity;
  for (std::int64_t j = 0; j < 11; ++j) {
    for (std::int64_t i = 0; i < 11; ++i) batch.inputs.a(i, 3 * 11 + j) *= 1e-100;  // below 2^-200
    // System 4 is singular, but has an LU factorisation.
    batch.inputs.a(j, 4 * 11 + 2) = 0;
  }
  batch.solve();
  Operands<double> operands = batch.staging->operands(0);
  operands.info[5] = 7;              // no pivot is 0
  operands.pivots[6 * 11 + 3] = 11;  // no such row
  std::swap(operands.pivots[7 * 11], operands.pivots[7 * 11 + 1]);
  const std::vector<double> ratios = batch.ratios(30);
  const std::vector<Findings> found = batch.by_cpu(30);
  EXPECT_EQ(ratios[1], infinity);
  EXPECT_EQ(ratios[2], infinity);
  for (const std::size_t s : {3, 5, 6}) EXPECT_TRUE(std::isnan(ratios[s])) << s;
  for (const std::size_t s : {0, 4, 7, 8}) expect_near(ratios[s], found[s].ratio, std::to_string(s));
  EXPECT_LE(ratios[4], 30);
}

/// Inverses that are right from one side only, verified by the lanes of a warp and by blocks.
TEST(SystemRatiosOfInverses, AreThoseOfTheBetterSide) {
  for (const std::int64_t n : {2, 24, 40}) {
    SolvedBatch<double> batch("geinv/batched", Backend::emulated, shape_of(n, 1, 4, Uplo::lower),
                              MatrixKind::identity);
    for (std::int64_t s = 0; s < 4; ++s) batch.inputs.a(1, s * n + 1) = 0x1p-20;
    batch.solve();
    double* const x = batch.answer();
    x[1 * n * n + n] = 0x1p-20;  // changes element (0, 1) of A X
    x[2 * n * n + 1] = 0x1p-20;  // changes X A
    x[3 * n * n + n] = x[3 * n * n + 1] = 0x1p-20;
    const std::vector<double> ratios = batch.ratios(30);
    const std::vector<Findings> found = batch.by_cpu(30);
    for (std::size_t s = 0; s < 4; ++s)
      expect_near(ratios[s], found[s].ratio, std::to_string(n) + ", system " + std::to_string(s));
    EXPECT_EQ(ratios[0], 0);
    EXPECT_LE(ratios[1], 30);
    EXPECT_LE(ratios[2], 30);
    EXPECT_GT(ratios[3], 30);
  }
}

/// Factors with a negative diagonal are left to the CPU, which fails them.
TEST(SystemRatiosOfFactors, NegativeDiagonalsAreLeftToTheCpu) {
  for (const std::int64_t n : {5, 40}) {
    SolvedBatch<double> batch("potrf/batched", Backend::emulated, shape_of(n, 1, 3, Uplo::lower),
                              MatrixKind::spd);
    batch.solve();
    for (std::int64_t i = 0; i < n; ++i) batch.answer()[n * n + (n - 1) * n + i] *= -1;
    const std::vector<double> ratios = batch.ratios(30);
    EXPECT_LE(ratios[0], 30);
    EXPECT_TRUE(std::isnan(ratios[1]));
    EXPECT_LE(ratios[2], 30);
    EXPECT_FALSE(batch.by_cpu(30)[1].flaw.empty());
  }
}

/// The CPU verifies a problem whose check the device does not implement.
TEST(SystemRatiosOfFaults, AnUnknownCheckIsLeftToTheCpu) {
  SolvedBatch<double> batch("getrf/batched", Backend::emulated, shape_of(5, 1, 3, Uplo::lower),
                            MatrixKind::uniform);
  batch.solve();
  ProblemRow problem = batch.method.problem.row();
  problem.verifier.float64 = nullptr;
  Method other = batch.method;
  other.problem = Problem(problem);
  EXPECT_FALSE(system_ratios(batch.context, other, *batch.staging, 0, batch.inputs.shape, 30));
}

}  // namespace
}  // namespace gaussweep
