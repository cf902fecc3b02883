// Tests batches on a GPU: every method, every order at which its kernel changes, and injected faults.

#include <array>

#include "kernels/check/check.hpp"
#include "kernels/check/system_ratios.hpp"
#include "kernels/registry/batch.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class BatchOnGpu : public OnGpu {
 protected:
  template <class Visit>
  void for_methods(Visit&& visit) {
    for (const Method& method : registry().all()) {
      const bool runs = method.runs_on(Backend::cuda) && method.capability <= device->info().capability;
      // compute-sanitizer would take minutes in library code.
      if (small() && method.id().find("/batched") == std::string::npos) continue;
      if (method.max_batch > 1 && runs) visit(method);
    }
  }
};

/// Returns true if the method exchanges rows, so that it needs no regular leading blocks.
bool exchanges_rows(const Method& method) {
  return std::count(method.needs.begin(), method.needs.end(), Need::strongly_regular) == 0;
}

TEST_F(BatchOnGpu, EqualsTheCpuToTheBit) {
  MatrixSpec spec;
  spec.rows = spec.cols = 13;
  spec.batch = 1001;
  for (const MatrixKind kind : {MatrixKind::uniform, MatrixKind::spd, MatrixKind::diagonally_dominant}) {
    spec.kind = kind;
    EXPECT_TRUE(generate<double>(spec).data == generate_on<double>(*context, spec).data) << to_string(kind);
  }
}

/// Expects the device's ratios to agree with the CPU's to a thousandth. NaN marks systems that the device
/// leaves to the CPU.
void expect_ratios(const std::vector<double>& ratios, const std::vector<Findings>& by_cpu,
                   const std::string& description) {
  ASSERT_EQ(ratios.size(), by_cpu.size()) << description;
  for (std::size_t s = 0; s < ratios.size(); ++s) {
    const double ratio = by_cpu[s].ratio;
    if (std::isnan(ratios[s]) || ratios[s] == ratio) continue;
    EXPECT_NEAR(ratios[s], ratio, 1e-3 * std::max(1.0, ratio)) << description << ", system " << s;
  }
}

TEST_F(BatchOnGpu, EverySystemIsRight) {
  std::vector<std::int64_t> orders = {1,  2,  4,  5,  8,  9,  12,  13,  16,  17,  24,  25,  32,  33,
                                      48, 49, 64, 65, 96, 97, 128, 129, 160, 200, 257, 300, 385, 512};
  if (small()) orders = {1, 7, 17, 33, 66, 130};
  for_methods([&](const Method& method) {
    constexpr std::array<std::int64_t, 5> nrhs_values{3, 7, 12, 20,
                                                      40};  // cover the work splits of posv/batched
    std::size_t next = 0;
    for (const std::int64_t n : orders) {
      const std::int64_t nrhs = n % 2 == 0 ? 1 : nrhs_values[next++ % nrhs_values.size()];
      const Shape shape = shape_of(n, nrhs, /*batch=*/small() ? 2 : n > 128 ? 20 : 200);
      const bool is_fast = method.vendor || method.variant == "batched";
      if (n > 128 && !is_fast) continue;
      const MatrixKind kind =
          exchanges_rows(method) ? kind_for(method.problem) : MatrixKind::diagonally_dominant;
      const Inputs<double> inputs =
          make_inputs<double>(method.problem, shape, kind, /*seed=*/3, /*threads=*/0);
      for (const Parameters& parameters : parameter_grid(method, {})) {
        if (method.accepts != nullptr && !method.accepts(shape, parameters)) continue;
        const std::string description =
            describe(method, Backend::cuda, shape, parameters, "its kind", "double");
        Staging<double> staging(*device, method, parameters, shape, /*sets=*/1);
        staging.upload(inputs);
        staging.reset();
        Operands<double> operands = staging.operands(0);
        method.cuda.float64(*context, operands, parameters);
        const Answer<double> answer = staging.download(0);
        const double tolerance = default_tolerance(method.problem);
        const std::vector<Findings> by_cpu = check_systems(method, inputs, answer, tolerance);
        for (std::size_t s = 0; s < by_cpu.size(); ++s) {
          EXPECT_LE(by_cpu[s].ratio, tolerance) << description << ", system " << s;
          EXPECT_EQ(answer.infos[s], 0) << description << ", system " << s;
        }
        // Tests on the CPU verify the ratios of the other layouts.
        if (method.layout != Layout::column_major) continue;
        const SystemRatios by_gpu = system_ratios(*context, method, staging, /*set=*/0, shape, tolerance,
                                                  /*solution_seed=*/std::uint64_t{4}, /*count=*/1)
                                        .value();
        expect_ratios(by_gpu.all(), by_cpu, description);
        const RatioSummary summary = by_gpu.summary();
        EXPECT_EQ(summary.not_passed, 0) << description;
        const double error = largest_forward_error(inputs, answer);
        EXPECT_TRUE(summary.forward_error == error || inputs.x_true.empty()) << description << ": " << error;
      }
    }
  });
}

/// The substitution with Cholesky factors in float and in the upper triangle, with all work splits.
TEST_F(BatchOnGpu, SeveralRightHandSidesInFloatAreRight) {
  const Method& method = *registry().find(Problem::named("posv"), "batched");
  for (const std::int64_t n : {20, 70, 257}) {
    for (const std::int64_t nrhs : {3, 7, 12, 20, 40}) {
      Shape shape = shape_of(n, nrhs, /*batch=*/3);
      shape.uplo = nrhs % 2 == 0 ? Uplo::lower : Uplo::upper;
      const Inputs<float> inputs =
          make_inputs<float>(method.problem, shape, MatrixKind::spd, /*seed=*/3, /*threads=*/0);
      Staging<float> staging(*device, method, defaults(method), shape, /*sets=*/1);
      staging.upload(inputs);
      staging.reset();
      Operands<float> operands = staging.operands(0);
      method.cuda.float32(*context, operands, defaults(method));
      for (const Findings& findings :
           check_systems(method, inputs, staging.download(0), default_tolerance(method.problem)))
        EXPECT_LE(findings.ratio, default_tolerance(method.problem))
            << "n = " << n << ", nrhs = " << nrhs << " " << findings.flaw;
    }
  }
}

TEST_F(BatchOnGpu, FaultsAreReportedAndDoNotChangeOtherSystems) {
  for_methods([&](const Method& method) {
    if (method.problem != Problem::named("gesv") || !exchanges_rows(method)) return;
    constexpr double tolerance = 16;
    const Shape shape = shape_of(/*n=*/16, /*nrhs=*/1, /*batch=*/small() ? 2500 : 100000);
    Inputs<double> inputs =
        make_inputs<double>(method.problem, shape, MatrixKind::uniform, /*seed=*/5, /*threads=*/0);
    const auto is_singular = [](std::int64_t s) { return s % 2000 == 17; };
    const auto has_nan = [](std::int64_t s) { return s % 2000 == 1203; };
    const auto is_damaged = [](std::int64_t s) { return s % 2500 == 99; };
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      if (has_nan(s)) inputs.a(4, s * 16 + 6) = std::nan("");
      for (std::int64_t i = 0; is_singular(s) && i < 16; ++i) inputs.a(i, s * 16 + 2) = 0;
    }
    Staging<double> staging(*device, method, defaults(method), shape, /*sets=*/1);
    staging.upload(inputs);
    staging.reset();
    Operands<double> operands = staging.operands(0);
    method.cuda.float64(*context, operands, defaults(method));
    Answer<double> answer = staging.download(0);
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      if (is_damaged(s)) answer.x(5, s) *= 1 + 1e-8;
    }
    if (method.layout == Layout::column_major)
      device->to_device(const_cast<double*>(staging.answer(0).data), answer.x.data.data(),
                        answer.x.data.size() * sizeof(double));
    const std::vector<Findings> by_cpu = check_systems(method, inputs, answer, tolerance);
    std::vector<double> ratios;
    for (const Findings& findings : by_cpu) ratios.push_back(findings.ratio);
    if (method.layout == Layout::column_major) {
      ratios = system_ratios(*context, method, staging, /*set=*/0, shape, tolerance).value().all();
      expect_ratios(ratios, by_cpu, method.id());
    }
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      const auto at = static_cast<std::size_t>(s);
      const bool is_right = !is_singular(s) && !has_nan(s) && !is_damaged(s);
      // Column 2 is 0, so that pivot 3 is 0.
      EXPECT_EQ(answer.infos[at] == 3, is_singular(s)) << method.id() << ", system " << s;
      EXPECT_EQ(ratios[at] <= tolerance, is_right) << method.id() << ", system " << s;
      EXPECT_EQ(by_cpu[at].ratio <= tolerance, is_right) << method.id() << ", system " << s;
    }
  });
}

}  // namespace
}  // namespace gaussweep
