// Compares the verification on a GPU with the CPU's: every number must have the same bits, for correct and
// damaged answers. GAUSSWEEP_SMALL limits the sizes to n <= 100 and uses the CPU's answers, so that
// compute-sanitizer checks our kernels and not the vendor's.

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/planted.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

struct JudgeCase {
  Problem problem;
  Precision precision;
  std::int64_t n;
};

std::string judge_name_of(const testing::TestParamInfo<JudgeCase>& info) {
  return std::string(to_string(info.param.problem)) + "_" + std::string(to_string(info.param.precision)) +
         "_" + std::to_string(info.param.n);
}

/// Returns true if the CPU takes seconds to verify the answer, which costs 2 n^3 operations.
bool is_large(const JudgeCase& c) {
  return c.n > 2048 && !has_right_hand_sides(c.problem);
}

std::vector<JudgeCase> judge_cases() {
  std::vector<JudgeCase> all;
  for (const Problem problem : {Problem::named("gemm"), Problem::named("trsv"), Problem::named("gesv"),
                                Problem::named("getrf"), Problem::named("potrf"), Problem::named("posv"),
                                Problem::named("trtri"), Problem::named("geinv"), Problem::named("poinv")}) {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      for (const std::int64_t n : {100, 513, 2048, 8192}) {
        const JudgeCase c{problem, precision, n};
        const bool is_cheap = problem == Problem::named("getrf") || problem == Problem::named("trtri");
        if (!is_large(c) || is_cheap) all.push_back(c);
      }
    }
  }
  return all;
}

class JudgeOnGpu : public OnGpu, public testing::WithParamInterface<JudgeCase> {
 protected:
  void SetUp() override {
    if (small() && GetParam().n > 100) GTEST_SKIP() << "small sizes only";
    require(/*needed=*/0);
  }
  template <class T>
  void compare(const Shape& shape);
  const std::unique_ptr<Device> host = cpu(Backend::host);
};

template <class T>
void JudgeOnGpu::compare(const Shape& shape) {
  const Problem problem = GetParam().problem;
  Context context(*device), host_context(*host);
  const Method& vendor = *registry().reference(problem, small() ? Backend::host : Backend::cuda);
  Context& vendor_context = vendor.runs_on(Backend::cuda) ? context : host_context;
  const Parameters parameters = defaults(vendor);
  const auto inputs = make_inputs<T>(problem, shape, kind_for(problem), /*seed=*/1, /*threads=*/0);
  Staging<T> staging(vendor_context.device, vendor, parameters, shape, /*sets=*/1);
  staging.upload(inputs);
  staging.reset();
  Operands<T> operands = staging.operands(0);
  vendor.entry(vendor_context.device.backend()).template get<T>()(vendor_context, operands, parameters);
  const Answer<T> correct = staging.download(0);
  const std::string what = vendor.id() + ", n " + std::to_string(shape.n) + ", ";
  const bool is_on_gpu = &vendor_context == &context;
  const Findings found = expect_one_verdict(
      context, vendor, inputs, correct, what + "undamaged",
      is_on_gpu ? device_copies(staging, inputs, correct, /*set=*/0) : std::vector<DeviceCopy<T>>{});
  EXPECT_LE(found.ratio, default_tolerance(problem)) << what;
  for (const auto& [name, damage] : damages<T>()) {
    if (is_large(GetParam()) && std::string(name) != "one element off by 1e-8") continue;
    Answer<T> answer = correct;
    damage(answer.x);
    expect_one_verdict(context, vendor, inputs, answer, what + name);
  }
}

TEST_P(JudgeOnGpu, EqualsTheCpu) {
  const auto [problem, precision, n] = GetParam();
  const std::int64_t nrhs = has_right_hand_sides(problem) && n <= 513 ? 3 : 1;
  std::vector<Shape> all{problem == Problem::named("gemm") ? Shape{n - 1, n, n + 37, 1, Uplo::lower}
                                                           : Shape{n, n, n, nrhs, Uplo::lower}};
  const bool has_triangle = problem == Problem::named("trsv") || problem == Problem::named("trtri") ||
                            problem == Problem::named("potrf");
  if (has_triangle && !is_large(GetParam())) all.push_back({n, n, n, nrhs, Uplo::upper});
  for (const Shape& shape : all) {
    precision == Precision::float32 ? compare<float>(shape) : compare<double>(shape);
  }
}

INSTANTIATE_TEST_SUITE_P(All, JudgeOnGpu, testing::ValuesIn(judge_cases()), judge_name_of);

}  // namespace
}  // namespace gaussweep
