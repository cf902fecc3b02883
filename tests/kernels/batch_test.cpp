// Tests batches: many systems in one matrix, their verification, and the methods that solve them.
#include "kernels/registry/batch.hpp"
#include "kernels/check/check.hpp"
#include "kernels/matrix/system.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class BatchOfKind : public testing::TestWithParam<MatrixKind> {};

TEST_P(BatchOfKind, HasTheBitsOfItsSingleMatrices) {
  MatrixSpec spec;
  spec.kind = GetParam();
  spec.rows = spec.cols = 9;
  spec.seed = 40;
  spec.batch = 5;
  if (spec.kind == MatrixKind::blur) spec.blur.width = spec.blur.height = 3;
  const HostMatrix<float> all = generate<float>(spec);
  CpuContext context;
  EXPECT_TRUE(same_bits(all, generate_on<float>(context, spec)));
  const System<float> systems = make_systems(all, 2, spec.seed, spec.batch);
  for (std::int64_t s = 0; s < spec.batch; ++s) {
    MatrixSpec alone = spec;
    alone.batch = 1;
    alone.seed = 40 + static_cast<std::uint64_t>(s);
    const HostMatrix<float> a = generate<float>(alone);
    EXPECT_TRUE(same_bits(system_of(all, spec.batch, s), a)) << s;
    const System<float> system = make_system(a, 2, alone.seed);
    EXPECT_TRUE(same_bits(system_of(systems.b, spec.batch, s), system.b)) << s;
    EXPECT_TRUE(same_bits(system_of(systems.x_true, spec.batch, s), system.x_true)) << s;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BatchOfKind,
                         testing::Values(MatrixKind::uniform, MatrixKind::spd,
                                         MatrixKind::diagonally_dominant, MatrixKind::triangular,
                                         MatrixKind::condition, MatrixKind::cauchy, MatrixKind::wilkinson,
                                         MatrixKind::kernel, MatrixKind::blur));

TEST(Batch, RefusesTooManyColumns) {
  MatrixSpec spec;
  spec.rows = spec.cols = 1000;
  spec.batch = 3000000;
  EXPECT_THROW(generate<float>(spec), std::invalid_argument);
}

/// Runs a method on a batch and verifies each system separately.
std::vector<Findings> findings_of_systems(const Method& method, Backend backend, const Inputs<double>& inputs,
                                          const Parameters& parameters) {
  const auto device = cpu(backend);
  Context context(*device);
  const Answer<double> answer = run_method(context, method, inputs, parameters);
  return check_systems(method, inputs, answer, default_tolerance(method.problem));
}
/// Returns the largest residual ratio over the systems of a batch (error / bound, check.hpp).
double worst_ratio(const Method& method, Backend backend, const Inputs<double>& inputs,
                   const Parameters& parameters) {
  double worst = 0;
  for (const Findings& one : findings_of_systems(method, backend, inputs, parameters))
    worst = std::max(worst, one.ratio);
  return worst;
}
double mean_ratio(const Method& method, Backend backend, const Inputs<double>& inputs) {
  double sum = 0;
  for (const Findings& one : findings_of_systems(method, backend, inputs, defaults(method))) sum += one.ratio;
  return sum / static_cast<double>(inputs.shape.batch);
}

/// Residual ratios over the systems of a batch.
struct Ratios {
  double worst = 0, mean = 0;
};
/// Returns the ratios (error / bound, check.hpp) of a method that solves the systems one by one. The tests
/// compare accuracy with a textbook elimination and not with LAPACK, because OpenBLAS has different kernels,
/// and thus different roundings, on different CPUs.
Ratios ratios_one_by_one(const Method& method, Backend backend, const Inputs<double>& inputs) {
  const auto device = cpu(backend);
  Context context(*device);
  Ratios ratios;
  for (std::int64_t s = 0; s < inputs.shape.batch; ++s) {
    const Inputs<double> one = system_of(inputs, s);
    const double ratio = check(method, one, run_method(context, method, one, defaults(method))).ratio;
    ratios.worst = std::max(ratios.worst, ratio);
    ratios.mean += ratio / static_cast<double>(inputs.shape.batch);
  }
  return ratios;
}

/// Expects the batched method's worst ratio to be at most `max_factor` times the worst ratio of `textbook`.
/// @param textbook the reference method, which runs on `backend`
void expect_as_accurate_as(const std::string& textbook, Backend backend, double max_factor, std::int64_t nrhs,
                           std::initializer_list<MatrixKind> kinds) {
  const Method& reference = row_of(textbook);
  const Method& batched = row_of(reference.problem->name + "/batched");
  for (const MatrixKind kind : kinds) {
    for (const std::int64_t n : {16, 40}) {
      const Inputs<double> inputs = make_inputs<double>(batched.problem, shape_of(n, nrhs, 20), kind, 36);
      const double allowed = max_factor * ratios_one_by_one(reference, backend, inputs).worst;
      for (const Parameters& parameters : parameter_grid(batched, {})) {
        if (!batched.accepts(inputs.shape, parameters)) continue;
        EXPECT_LE(worst_ratio(batched, Backend::emulated, inputs, parameters), allowed)
            << describe(batched, Backend::emulated, inputs.shape, parameters, to_string(kind), "double");
      }
    }
  }
}

/// Products with inverses of diagonal blocks of U would multiply the error by the condition of a block.
/// (gesv/batched has ratios of up to 1.52 times the textbook's.)
TEST(Batch, SeveralRightHandSidesAreAsAccurateAsElimination) {
  expect_as_accurate_as("gesv/gauss_pivot_serial", Backend::host, 1.6, 4,
                        {MatrixKind::uniform, MatrixKind::cauchy, MatrixKind::condition});
}

/// If the products were subtracted from the right-hand side one by one, with a rounding each, the ratio would
/// be at least 0.9 times the textbook's. (The method's is 0.28 to 0.37 times.)
TEST(Batch, IllConditionedSystemsAreTwiceAsAccurateAsElimination) {
  const Method& batched = row_of("gesv/batched");
  const Method& textbook = row_of("gesv/gauss_pivot_serial");
  MatrixSpec spec;
  spec.kind = MatrixKind::condition;
  spec.condition = 1e10;
  spec.seed = 3;
  for (const std::int64_t n : {96, 200}) {
    spec.rows = spec.cols = n;
    spec.batch = n < 100 ? 8 : 4;
    Inputs<double> inputs;
    inputs.a = generate<double>(spec);
    for (const std::int64_t nrhs : {1, 4}) {
      inputs.shape = shape_of(n, nrhs, spec.batch);
      System<double> systems = make_systems(inputs.a, nrhs, spec.seed, spec.batch);
      inputs.x_true = std::move(systems.x_true);
      inputs.b = std::move(systems.b);
      const double allowed = 0.5 * ratios_one_by_one(textbook, Backend::host, inputs).mean;
      EXPECT_LE(mean_ratio(batched, Backend::emulated, inputs), allowed) << n << ", " << nrhs;
    }
  }
}

/// All systems have the same matrix, so that the ratio of a reference would depend on the rounding errors of
/// one factorisation. Therefore the bound is a constant.
TEST(Batch, CauchySystemsAreAccurate) {
  const Method& batched = row_of("gesv/batched");
  const Inputs<double> inputs =
      make_inputs<double>(batched.problem, shape_of(64, 1, 16), MatrixKind::cauchy, 1);
  EXPECT_LE(worst_ratio(batched, Backend::emulated, inputs, defaults(batched)), 0.0012);
}

/// The right-hand side cancels to 0. If it were divided by a pivot of 2^-1000 before, it would overflow.
TEST(Batch, CancellingRightHandSidesDoNotOverflowOverTinyPivots) {
  const Method& batched = row_of("gesv/batched");
  for (const std::int64_t n : {40, 70}) {
    Inputs<double> inputs = make_inputs<double>(batched.problem, shape_of(n, 1, 2), MatrixKind::identity, 1);
    for (std::int64_t s = 0; s < 2; ++s) {
      inputs.a(0, s * n) = 0x1p-1000;
      inputs.a(0, s * n + 1) = 0x1p30;
      for (std::int64_t i = 0; i < n; ++i) inputs.b(i, s) = i == 0 ? 0x1p30 : 1;
    }
    EXPECT_EQ(worst_ratio(batched, Backend::emulated, inputs, defaults(batched)), 0) << n;
  }
}

TEST(Batch, InversesAreAsAccurateAsElimination) {
  expect_as_accurate_as("geinv/gauss_jordan_pivot", Backend::emulated, 1, 1,
                        {MatrixKind::uniform, MatrixKind::condition});
}

/// The remainder of an identity column grows to 2^29 before it cancels; divided by pivots of 2^-1000 it would
/// overflow.
TEST(Batch, InversesOfTinyMatricesDoNotOverflow) {
  const Method& batched = row_of("geinv/batched");
  for (const std::int64_t n : {31, 32}) {
    Inputs<double> inputs =
        make_inputs<double>(batched.problem, shape_of(n, 1, 2), MatrixKind::wilkinson, 36);
    fill(inputs.a, [&](std::int64_t i, std::int64_t j) { return inputs.a(i, j) * 0x1p-1000; });
    EXPECT_LE(worst_ratio(batched, Backend::emulated, inputs, defaults(batched)), 1) << n;
  }
}

/// Back substitution with U has errors proportional to U's condition, and would fail from order 32 on.
TEST(Batch, InversesOfCauchyMatricesAreAccurate) {
  const Method& batched = row_of("geinv/batched");
  CpuContext context;
  for (const std::int64_t n : {2, 8, 9, 16, 20, 32, 33, 48, 64, 65, 128}) {
    const Inputs<double> inputs =
        make_inputs<double>(batched.problem, shape_of(n, 1, 2), MatrixKind::cauchy, 36);
    const double max_ratio = n > 16 ? 0.05 : 0.5;  // products with 8 x 8 inverses of U give 0.1 at order 20
    for (const Parameters& parameters : parameter_grid(batched, {})) {
      if (!batched.accepts(inputs.shape, parameters)) continue;
      const Answer<double> answer = run_method(context, batched, inputs, parameters);
      for (const Findings& one : check_systems(batched, inputs, answer, default_tolerance(batched.problem))) {
        EXPECT_LE(one.ratio, max_ratio)
            << describe(batched, Backend::emulated, inputs.shape, parameters, "cauchy", "double");
      }
    }
  }
}

/// A method, a backend without a GPU, and a kind of matrix.
struct BatchCase {
  const char* id;
  Backend backend;
  MatrixKind kind;
};
std::string name_of(const testing::TestParamInfo<BatchCase>& info) {
  std::string name = info.param.id;
  for (char& c : name) c = c == '/' ? '_' : c;
  return name + "_" + std::string(to_string(info.param.kind));
}

class MethodOnBatches : public testing::TestWithParam<BatchCase> {
 protected:
  void SetUp() override { device = cpu(GetParam().backend); }
  template <class T>
  void expect_all_right(const Shape& shape) {
    const Method& method = row_of(GetParam().id);
    for (const Parameters& parameters : parameter_grid(method, {}))
      expect_all_right<T>(shape, method, parameters);
  }
  template <class T>
  void expect_all_right(const Shape& shape, const Method& method, const Parameters& parameters) {
    // at order 1 the condition is always 1
    if (shape.n == 1 && GetParam().kind == MatrixKind::condition) return;
    // The last pivot of a Wilkinson matrix is 2^(n - 1), which overflows in float.
    if (shape.n > 128 && GetParam().kind == MatrixKind::wilkinson && sizeof(T) == 4) return;
    if (method.accepts != nullptr && !method.accepts(shape, parameters)) return;
    Context context(*device);
    context.emulation.shared_bytes = shared_bytes;
    const Inputs<T> inputs = make_inputs<T>(method.problem, shape, GetParam().kind, 3);
    const Answer<T> answer = run_method(context, method, inputs, parameters);
    const std::string description = describe(method, GetParam().backend, shape, parameters,
                                             to_string(GetParam().kind), to_string(precision_of<T>));
    if (shape.batch == 1) {
      EXPECT_LE(check(method, inputs, answer).ratio, method.problem->tolerance) << description;
      return;
    }
    const std::vector<Findings> all =
        check_systems(method, inputs, answer, default_tolerance(method.problem));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(shape.batch));
    for (std::size_t s = 0; s < all.size(); ++s) {
      EXPECT_LE(all[s].ratio, method.problem->tolerance) << description << ", system " << s << all[s].flaw;
      EXPECT_EQ(answer.infos[s], 0) << description << ", system " << s;
    }
  }
  std::unique_ptr<Device> device;
  std::size_t shared_bytes = Emulation().shared_bytes;
};

/// Up to order 16 a warp has several systems; 19 systems leave the last warp partly filled.
std::int64_t systems_of(std::int64_t n) {
  return n > 16 ? 2 : 19;
}

TEST_P(MethodOnBatches, EverySystemIsRight) {
  const Method& method = row_of(GetParam().id);
  for (const std::int64_t n : {1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 48, 49, 64, 65, 96, 97, 128})
    expect_all_right<double>(shape_of(n, 1, systems_of(n)), method, defaults(method));
  for (const std::int64_t n : {5, 24, 40, 80, 129}) {  // each kernel, in both precisions
    expect_all_right<double>(shape_of(n, 1, systems_of(n)));
    expect_all_right<float>(shape_of(n, 1, systems_of(n)));
  }
  const Problem problem = row_of(GetParam().id).problem;
  if (problem->has_axis("uplo")) {
    Shape upper = shape_of(13, 1, 7);
    upper.uplo = Uplo::upper;
    expect_all_right<double>(upper);
  }
  if (has_right_hand_sides(problem)) {
    for (const std::int64_t nrhs : {2, 4, 5, 9}) expect_all_right<double>(shape_of(13, nrhs, 7));
    expect_all_right<double>(shape_of(70, 5, 2));
  }
}

/// The work splits of methods for several right-hand sides, on GPUs with little and with much shared memory.
TEST_P(MethodOnBatches, AnyNumberOfRightHandSidesIsRight) {
  if (!has_right_hand_sides(row_of(GetParam().id).problem)) return;
  for (const std::size_t bytes : {shared_bytes, std::size_t{227} * 1024}) {
    shared_bytes = bytes;
    for (const std::int64_t nrhs : {3, 7, 11, 19, 37, 65}) {
      for (const std::int64_t n : {5, 20, 33, 70}) {
        Shape shape = shape_of(n, nrhs, 3);
        expect_all_right<float>(shape);
        shape.uplo = Uplo::upper;  // methods without a triangle ignore this
        expect_all_right<double>(shape);
      }
    }
  }
}

/// Orders at which a block has 256 and 512 rows.
TEST_P(MethodOnBatches, LargerSystemsAreAccurate) {
  const Method& method = row_of(GetParam().id);
  Shape shape = shape_of(150, has_right_hand_sides(method.problem) ? 3 : 1, 2);
  expect_all_right<double>(shape, method, defaults(method));
  if (method.problem->has_axis("uplo")) shape.uplo = Uplo::upper;
  expect_all_right<float>(shape, method, defaults(method));
  const MatrixKind kind = GetParam().kind;
  if (kind == MatrixKind::uniform || kind == MatrixKind::spd)
    expect_all_right<double>(shape_of(261, 1, 1), method, defaults(method));
}

/// In float, batches that a GPU cannot hold at once have other work splits. The emulated GPU has four
/// multiprocessors.
TEST_P(MethodOnBatches, BatchesThatFillTheGpuAreRight) {
  const MatrixKind kind = GetParam().kind;
  if (GetParam().backend != Backend::emulated || (kind != MatrixKind::uniform && kind != MatrixKind::spd))
    return;
  using OrderAndBatch = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [n, batch] :
       std::vector<OrderAndBatch>{{70, 21}, {150, 13}, {200, 9}, {300, 5}, {400, 5}}) {
    Shape shape = shape_of(n, 1, batch);
    expect_all_right<float>(shape);
    shape.uplo = Uplo::upper;
    if (row_of(GetParam().id).problem->has_axis("uplo")) expect_all_right<float>(shape);
  }
}

TEST_P(MethodOnBatches, OneSystemIsAccurate) {
  for (const std::int64_t n : {1, 5, 16, 33, 100}) expect_all_right<double>(shape_of(n, 1, 1));
}

/// The sign changes between runs and the read and write limits apply to each system.
TEST_P(MethodOnBatches, RunsAreGuardedPerSystem) {
  const Method& method = row_of(GetParam().id);
  Context context(*device);
  const Shape shape = shape_of(5, 1, 4);
  const Inputs<double> inputs = make_inputs<double>(method.problem, shape, GetParam().kind, 3);
  MethodRun<double> run(context, method, GetParam().backend, defaults(method), shape);
  run.upload(inputs);
  run.timed_run();
  const auto digests = run.answer_digests();
  run.timed_run();
  EXPECT_EQ(run.answer_digests(), digests);
  const Answer<double> answer = run.download();
  for (const Findings& found : check_systems(method, inputs, answer, default_tolerance(method.problem)))
    EXPECT_LE(found.ratio, default_tolerance(method.problem)) << found.flaw;
  run.timed_run();
  EXPECT_EQ(run.forbidden_writes(), "");
}

/// A batch of one, and each system of a batch, has the vendor's answer within rounding.
TEST_P(MethodOnBatches, AnswersEqualLapacksWithinRounding) {
  const Method& method = row_of(GetParam().id);
  const Method& vendor = *registry().reference(method.problem, Backend::host);
  const auto host = cpu(Backend::host);
  Context context(*device), on_host(*host);
  for (const std::int64_t batch : {1, 6}) {
    const Shape shape = shape_of(24, 1, batch);
    const MatrixKind kind = kind_for(method.problem);
    const Inputs<double> inputs = make_inputs<double>(
        method.problem, shape, kind == MatrixKind::uniform ? MatrixKind::diagonally_dominant : kind, 8);
    const Answer<double> answer = run_method(context, method, inputs, defaults(method));
    for (std::int64_t s = 0; s < batch; ++s) {
      const Inputs<double> one = batch == 1 ? inputs : system_of(inputs, s);
      const Answer<double> reference = run_method(on_host, vendor, one, defaults(vendor));
      const Answer<double> batched = batch == 1 ? answer : system_of(answer, shape, s);
      EXPECT_LT(difference(method.problem, one.shape, batched, reference).largest, 1e-13) << s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MethodOnBatches,
    testing::Values(BatchCase{"gesv/batched", Backend::emulated, MatrixKind::uniform},
                    BatchCase{"gesv/batched", Backend::emulated, MatrixKind::cauchy},
                    BatchCase{"gesv/batched", Backend::emulated, MatrixKind::condition},
                    BatchCase{"gesv/gauss_block", Backend::emulated, MatrixKind::diagonally_dominant},
                    BatchCase{"gesv/gauss_jordan_shared", Backend::emulated, MatrixKind::uniform},
                    BatchCase{"gesv/crout", Backend::host, MatrixKind::diagonally_dominant},
                    BatchCase{"gesv/lapack", Backend::host, MatrixKind::uniform},
                    BatchCase{"geinv/lapack", Backend::host, MatrixKind::uniform},
                    BatchCase{"getrf/batched", Backend::emulated, MatrixKind::uniform},
                    BatchCase{"getrf/batched", Backend::emulated, MatrixKind::wilkinson},
                    BatchCase{"potrf/batched", Backend::emulated, MatrixKind::spd},
                    BatchCase{"posv/batched", Backend::emulated, MatrixKind::spd},
                    BatchCase{"geinv/batched", Backend::emulated, MatrixKind::uniform},
                    BatchCase{"getrf/lapack", Backend::host, MatrixKind::uniform},
                    BatchCase{"potrf/lapack", Backend::host, MatrixKind::spd},
                    BatchCase{"posv/lapack", Backend::host, MatrixKind::spd},
                    BatchCase{"trsv/openblas", Backend::host, MatrixKind::triangular},
                    BatchCase{"gemm/openblas", Backend::host, MatrixKind::uniform}),
    name_of);

/// Panels of right-hand sides are multiplied by reciprocal pivots, unless these are infinite.
TEST(BatchOfSeveralRightHandSides, DividesByTinyPivots) {
  const Method& method = row_of("gesv/batched");
  Parameters parameters = defaults(method);
  parameters.set("kernel", std::string("panels"));
  CpuContext context;
  Inputs<double> inputs = make_inputs<double>(method.problem, shape_of(5, 3, 2), MatrixKind::uniform, 5);
  for (double& element : inputs.a.data) element = 0;
  for (double& element : inputs.b.data) element = 0x3p-1040;
  for (std::int64_t j = 0; j < 10; ++j) inputs.a(j % 5, j) = 0x1p-1040;
  const Answer<double> answer = run_method(context, method, inputs, parameters);
  for (const double x : answer.x.data) EXPECT_EQ(x, 3);
}

/// A is 2^-1040 times the identity, so that elements of A and B are subnormal numbers.
TEST(BatchOfSeveralRightHandSides, AcceptsSubnormalSystems) {
  const Method& method = row_of("posv/batched");
  Parameters parameters = defaults(method);
  parameters.set("kernel", std::string("panels"));
  CpuContext context;
  Inputs<double> inputs = make_inputs<double>(method.problem, shape_of(40, 3, 2), MatrixKind::spd, 5);
  for (double& element : inputs.a.data) element = 0;
  for (double& element : inputs.b.data) element = 0x3p-1040;
  for (std::int64_t j = 0; j < 80; ++j) inputs.a(j % 40, j) = 0x1p-1040;
  const Answer<double> answer = run_method(context, method, inputs, parameters);
  for (const double x : answer.x.data) EXPECT_EQ(x, 3);
}

TEST(BatchDifference, ComparesTheTriangleOfEachSystem) {
  const Problem potrf = Problem::named("potrf");
  const Shape shape = shape_of(3, 1, 2);
  Answer<double> one, other;
  one.x = HostMatrix<double>(3, 6);
  for (std::int64_t j = 0; j < 6; ++j) {
    for (std::int64_t i = 0; i < 3; ++i) one.x(i, j) = 1 + static_cast<double>(i + j);
  }
  other.x = one.x;
  other.x(0, 5) = std::nan("");  // above the diagonal of the second system
  EXPECT_EQ(norm_of_answer(potrf, shape, other), 8);
  EXPECT_EQ(difference(potrf, shape, other, one).largest, 0);
  other.x(2, 3) += 2;  // the element is 6
  const Difference found = difference(potrf, shape, other, one);
  EXPECT_EQ(found.largest, 2.0 / 8);
  EXPECT_EQ(found.largest_relative, 2.0 / 6);
  EXPECT_EQ(found.mean_absolute, 2.0 / 12);
}

/// Injects faults into 4 of 1,000 systems. Exactly these must report a fault.
class FaultsInABatch : public testing::TestWithParam<BatchCase> {};

TEST_P(FaultsInABatch, SpoilNoOtherSystem) {
  const Method& method = row_of(GetParam().id);
  const auto device = cpu(GetParam().backend);
  Context context(*device);
  const Shape shape = shape_of(11, 1, 1000);
  Inputs<double> inputs = make_inputs<double>(method.problem, shape, MatrixKind::uniform, 5);
  const Answer<double> without_faults = run_method(context, method, inputs, defaults(method));
  for (const std::int64_t s : {17, 500, 999}) {  // singular: column 2 is 0
    for (std::int64_t i = 0; i < shape.n; ++i) inputs.a(i, s * shape.n + 2) = 0;
  }
  inputs.a(4, 3 * shape.n + 6) = std::numeric_limits<double>::quiet_NaN();
  const Answer<double> answer = run_method(context, method, inputs, defaults(method));
  const std::vector<Findings> found = check_systems(method, inputs, answer, 16);
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    const bool singular = s == 17 || s == 500 || s == 999;
    EXPECT_EQ(answer.infos[static_cast<std::size_t>(s)], singular ? 3 : 0) << s;
    // Factors of a singular matrix can still be right.
    const bool right = s != 3 && (!singular || method.problem->zero_pivot == ZeroPivot::singular);
    EXPECT_EQ(found[static_cast<std::size_t>(s)].ratio <= method.problem->tolerance, right) << s;
    if (singular || s == 3) continue;
    EXPECT_TRUE(same_bits(system_of(answer.x, shape.batch, s), system_of(without_faults.x, shape.batch, s)))
        << s;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FaultsInABatch,
                         testing::Values(BatchCase{"gesv/batched", Backend::emulated, MatrixKind::uniform},
                                         BatchCase{"gesv/gauss_jordan_shared", Backend::emulated,
                                                   MatrixKind::uniform},
                                         BatchCase{"getrf/batched", Backend::emulated, MatrixKind::uniform},
                                         BatchCase{"geinv/batched", Backend::emulated, MatrixKind::uniform}),
                         name_of);

}  // namespace
}  // namespace gaussweep
