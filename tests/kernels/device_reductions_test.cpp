// Tests the verification kernels on the backend emulated: every result has the bits of the CPU's result.

#include "kernels/check/device_reductions.hpp"
#include "kernels/device/device_group.hpp"
#include "tests/kernels/planted.hpp"
#include "tests/kernels/short_of_memory.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
class DeviceJudge : public testing::Test {
 protected:
  const std::unique_ptr<Device> host = cpu(Backend::host);
  const std::unique_ptr<Device> device = cpu(Backend::emulated);
  Context host_context{*host};
  Context context{*device};
};
TYPED_TEST_SUITE(DeviceJudge, Precisions);

TYPED_TEST(DeviceJudge, EqualsTheCpuOnRightAndDamagedAnswers) {
  using T = TypeParam;
  for (const Problem problem : all_problems()) {
    const Method& vendor = *registry().reference(problem, Backend::host);
    for (const std::int64_t n : {1, 2, 33, 64, 130}) {
      for (const Shape& shape : shapes(vendor, n)) {
        const auto inputs = make_inputs<T>(problem, shape, kind_for(problem));
        const Answer<T> right = run_method(this->host_context, vendor, inputs, defaults(vendor));
        for (const auto& [name, damage] : damages<T>()) {
          Answer<T> answer = right;
          damage(answer.x);
          const std::string what = std::string(to_string(problem)) + ", m " + std::to_string(shape.m) +
                                   ", n " + std::to_string(n) + ", " + name;
          const Findings found = expect_one_verdict(this->context, vendor, inputs, answer, what);
          if (std::string(name) == "as it was") {
            EXPECT_LE(found.ratio, default_tolerance(problem)) << what;
          } else if (std::string(name) == "NaN in a corner" || std::string(name) == "Inf at the start") {
            EXPECT_TRUE(std::isinf(found.ratio)) << what;
          }
        }
      }
    }
  }
}

TYPED_TEST(DeviceJudge, EqualsTheCpuOnSeveralDevices) {
  using T = TypeParam;
  DeviceGroup group(this->context, 3);
  this->context.group = &group;
  for (const char* name : {"getrf", "potrf", "gesv", "geinv"}) {
    const Problem problem = Problem::named(name);
    const Method& vendor = *registry().reference(problem, Backend::host);
    for (const std::int64_t n : {1, 64, 65, 300}) {
      const auto inputs = make_inputs<T>(problem, {n, n, n}, kind_for(problem));
      const Answer<T> right = run_method(this->host_context, vendor, inputs, defaults(vendor));
      expect_one_verdict(this->context, vendor, inputs, right, std::string(name) + " " + std::to_string(n));
    }
  }
}

TEST(ColumnShare, CoversEveryColumnOnce) {
  for (const std::int64_t devices : {1, 2, 3, 8}) {
    for (const std::int64_t cols : {1, 64, 65, 1000, 5000}) {
      std::vector<int> seen(static_cast<std::size_t>(cols), 0);
      for (std::int64_t device = 0; device < devices; ++device) {
        ColumnShare{device, devices}.for_columns(cols, 128, [&](std::int64_t begin, std::int64_t width) {
          EXPECT_EQ(begin % 64, 0);
          for (std::int64_t j = begin; j < begin + width; ++j) ++seen[static_cast<std::size_t>(j)];
        });
      }
      EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << devices << " devices, " << cols << " columns";
    }
  }
}

/// Returns numbers of all exponents of T, including zeros and subnormal numbers.
template <class T>
HostMatrix<T> wild_matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937 generator(seed);
  HostMatrix<T> a(rows, cols);
  const int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const int range = std::numeric_limits<T>::max_exponent - low;
  for (T& value : a.data) {
    const double unit = static_cast<double>(generator()) / 0x1p31 - 1;
    value =
        std::ldexp(static_cast<T>(unit), low + static_cast<int>(generator() % static_cast<unsigned>(range)));
    if (generator() % 16 == 0) value = 0;
    if (!std::isfinite(value)) value = 1;
  }
  return a;
}

TYPED_TEST(DeviceJudge, EqualsTheCpuOverTheWholeRangeOfExponents) {
  using T = TypeParam;
  for (const Problem problem : all_problems()) {
    for (const std::int64_t n : {3, 40, 70}) {
      const Shape shape = problem == Problem::named("gemm") ? Shape{n + 5, n, 2 * n, 1, Uplo::lower}
                                                            : Shape{n, n, n, 2, Uplo::upper};
      Inputs<T> inputs;
      inputs.shape = shape;
      const bool solve = has_right_hand_sides(problem);
      inputs.a = wild_matrix<T>(shape.m, shape.k, 1);
      if (solve) inputs.b = wild_matrix<T>(n, 2, 2);
      if (problem == Problem::named("gemm")) inputs.b = wild_matrix<T>(shape.k, n, 2);
      Answer<T> answer = answer_of<T>(wild_matrix<T>(shape.m, solve ? 2 : n, 3));
      if (problem == Problem::named("getrf")) {
        for (int i = 0; i < n; ++i) answer.pivots.push_back(static_cast<int>(n) - 1 - i / 2);
      }
      const std::string what = std::string(to_string(problem)) + ", n " + std::to_string(n);
      expect_one_verdict(this->context, method_of(problem), inputs, answer, what);
      Method crout = method_of(problem);
      crout.unit_diagonal = UnitDiagonal::upper;
      if (problem == Problem::named("getrf"))
        expect_one_verdict(this->context, crout, inputs, answer, what + ", Crout");
    }
  }
}

// Verifies answers in all buffers and layouts in which methods leave them.
TYPED_TEST(DeviceJudge, VerifiesInPlace) {
  using T = TypeParam;
  int layouts[3] = {};
  for (const Method& method : registry().all()) {
    if (!method.runs_on(Backend::emulated) || !method.has(precision_of<T>)) continue;
    const Parameters parameters = defaults(method);
    for (const Shape& shape : shapes(method, 37)) {
      if (method.accepts != nullptr && !method.accepts(shape, parameters)) continue;
      const auto inputs = make_inputs<T>(method.problem, shape, fit_kinds(method, parameters).front());
      Staging<T> staging(*this->device, method, parameters, shape, 1);
      staging.upload(inputs);
      staging.reset();
      Operands<T> operands = staging.operands(0);
      this->context.report = {};
      const std::uint64_t before =
          device_digest(this->context, staging.pristine().data(), staging.pristine().bytes());
      method.entry(Backend::emulated).template get<T>()(this->context, operands, parameters);
      const Answer<T> answer = staging.download(0);
      expect_one_verdict(this->context, method, inputs, answer, method.id(),
                         device_copies(staging, inputs, answer, 0));
      Inputs<T> released = inputs;
      released.b.data = {};
      EXPECT_EQ(device_copies(staging, released, answer, 0).size(), inputs.b.empty() ? 2 : 3);
      EXPECT_EQ(device_digest(this->context, staging.pristine().data(), staging.pristine().bytes()), before);
      ++layouts[static_cast<int>(method.layout)];
    }
  }
  for (const int count : layouts) EXPECT_GT(count, 0);
}

TYPED_TEST(DeviceJudge, WorksInStripsIfMemoryIsShort) {
  using T = TypeParam;
  const Shape shape{150, 150, 150, 1, Uplo::lower};
  const auto inputs = make_inputs<T>(Problem::named("geinv"), shape, MatrixKind::uniform);
  const Method& lapack = *registry().reference(Problem::named("geinv"), Backend::host);
  const Answer<T> answer = run_method(this->host_context, lapack, inputs, defaults(lapack));
  for (const std::size_t workspace : {std::size_t{1}, std::size_t{128 * 3 * 16}}) {
    expect_one_verdict(this->context, lapack, inputs, answer, "in strips", {}, workspace);
  }
}

// The full workspace does not fit next to the operands; narrower strips do.
TYPED_TEST(DeviceJudge, UsesNarrowerStripsIfTheWorkspaceDoesNotFit) {
  using T = TypeParam;
  const Shape shape{300, 300, 300, 1, Uplo::lower};
  const auto inputs = make_inputs<T>(Problem::named("geinv"), shape, MatrixKind::uniform);
  Answer<T> answer = answer_of<T>(inputs.a);
  LimitedAllocation device(cpu(Backend::emulated), 20000);  // 2 of the 5 tile columns fit, rounded up
  Context context(device);
  expect_one_verdict(
      context, method_of(Problem::named("geinv")), inputs, answer, "short of memory",
      {{&inputs.a, {inputs.a.data.data(), 1, 300}}, {&answer.x, {answer.x.data.data(), 1, 300}}});
  EXPECT_EQ(device.refused, 2) << "once for A X and once for X A";
}

// Tests both bounds of an element's error (check.hpp): sums whose rounding errors have one sign, and products
// that underflow.
TYPED_TEST(DeviceJudge, BoundsProductErrorsAsTheCpuDoes) {
  using T = TypeParam;
  const T tiny = std::is_same_v<T, float> ? static_cast<T>(1e-30) : static_cast<T>(1e-200);
  for (const T value : {static_cast<T>(0.1), tiny}) {
    Inputs<T> inputs =
        inputs_of<T>({70, 66, 3000, 1, Uplo::lower}, HostMatrix<T>(70, 3000), HostMatrix<T>(3000, 66));
    for (auto* operand : {&inputs.a, &inputs.b}) std::fill(operand->data.begin(), operand->data.end(), value);
    Answer<T> answer = answer_of<T>(HostMatrix<T>(70, 66));
    T sum = 0;
    for (int k = 0; k < 3000; ++k) sum += value * value;
    for (T& element : answer.x.data) element = sum * (1 + 100 * std::numeric_limits<T>::epsilon());
    answer.x(5, 65) = value == tiny ? tiny : sum * (1 + 1000 * std::numeric_limits<T>::epsilon());
    for (const std::size_t workspace : {std::size_t{1}, std::size_t{1} << 20}) {
      const Findings found = expect_one_verdict(this->context, method_of(Problem::named("gemm")), inputs,
                                                answer, "gemm", {}, workspace);
      EXPECT_GT(found.ratio, 1);
    }
  }
}

TYPED_TEST(DeviceJudge, DigestSeesAChangedBit) {
  std::vector<std::uint64_t> words(1000, 7);
  const auto digest = [&] { return device_digest(this->context, words.data(), words.size() * 8); };
  const std::uint64_t before = digest();
  EXPECT_EQ(digest(), before);
  words[999] ^= std::uint64_t{1} << 63;
  EXPECT_NE(digest(), before);
  words[999] = 8;
  words[998] = 6;
  EXPECT_NE(digest(), before);
}

/// Counts the reductions that run on the device.
template <class T>
class Counted final : public ForwardingReductions<T> {
 public:
  explicit Counted(int& calls) : calls_(calls) {}

 private:
  Reductions<T>& delegate_for(const HostMatrix<T>*) override {
    ++calls_;
    return host_;
  }
  int& calls_;
  HostReductions<T> host_;
};

TYPED_TEST(DeviceJudge, OnlyTheProductOfSmallMatricesUsesTheDevice) {
  using T = TypeParam;
  const Problem problem = Problem::named("gesv");
  const Method& vendor = *registry().reference(problem, Backend::host);
  // At order 6 only products run on the device; at order 20 A has more than 300 elements, b and x do not.
  for (const auto& [n, most] : {std::pair{6, 1}, std::pair{20, 4}}) {
    const auto inputs = make_inputs<T>(problem, {n, n, n, 2, Uplo::lower}, MatrixKind::uniform);
    const Answer<T> answer = run_method(this->host_context, vendor, inputs, defaults(vendor));
    int calls = 0;
    const auto reductions = small_on_host<T>(std::make_unique<Counted<T>>(calls), 300);
    const double tolerance = default_tolerance(problem);
    const Findings found = check(vendor, inputs, answer, tolerance, *reductions);
    expect_same(found, check(vendor, inputs, answer, tolerance), "n " + std::to_string(n));
    EXPECT_GE(calls, 1) << n;
    EXPECT_LE(calls, most) << n;
    EXPECT_EQ(calls > 1, n == 20) << "A of order 20 is reduced on the device";
  }
}

TYPED_TEST(DeviceJudge, CpuComparesSmallAnswers) {
  using T = TypeParam;
  const Problem problem = Problem::named("geinv");
  for (const std::int64_t n : {10, 11}) {
    Answer<T> answer, reference;
    reference.x = wild_matrix<T>(n, n, 1);
    answer.x = wild_matrix<T>(n, n, 2);
    int calls = 0;
    const auto reductions = small_on_host<T>(std::make_unique<Counted<T>>(calls), 100);
    const Shape shape{n, n, n, 1, Uplo::lower};
    const double norm = norm_of_answer(problem, shape, reference, *reductions);
    const Difference found = difference(problem, shape, answer, reference, norm, *reductions);
    const Difference expected = difference(problem, shape, answer, reference);
    EXPECT_TRUE(same_number(found.mean_relative, expected.mean_relative)) << n;
    EXPECT_EQ(calls, n == 10 ? 0 : 3) << "two norms and a difference";
  }
}

}  // namespace
}  // namespace gaussweep
