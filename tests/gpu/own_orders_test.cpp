// Runs each of gaussweep's own methods once at four orders: one tile (37), a few tiles (290), several groups
// of tiles (1101), and an order at which methods copy the matrix (4101). The orders are small enough for
// compute-sanitizer; tests/gpu/sanitize.sh runs them one by one.

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

std::vector<std::string> own_methods() {
  std::vector<std::string> ids;
  for (const Method& method : registry().all()) {
    const bool is_own = method.source.rfind("gaussweep", 0) == 0;
    if (is_own && std::count(method.backends.begin(), method.backends.end(), Backend::cuda) > 0)
      ids.push_back(method.id());
  }
  return ids;
}

class OwnMethods : public OnGpu, public testing::WithParamInterface<std::tuple<std::string, std::int64_t>> {
 protected:
  /// The largest order at which answers are verified on the CPU; larger ones are compared with the vendor's.
  static constexpr std::int64_t max_verified_order = 1101;

  void SetUp() override { require(method_.capability); }

  template <class T>
  void run() {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      for (const std::int64_t nrhs : {1, 3, 19}) {
        const Problem problem = method_.problem;
        // Methods for symmetric problems first copy an upper triangle to a lower one, so small orders
        // suffice.
        const bool is_redundant = uplo == Uplo::upper && n_ > 300 && !needs(method_, Need::triangular);
        if (uplo == Uplo::upper && (!problem->has_axis("uplo") || is_redundant)) continue;
        if (nrhs > 1 && (!has_right_hand_sides(problem) || method_.max_nrhs < nrhs)) continue;
        const Shape shape{n_, n_, n_, nrhs, uplo};
        if (method_.accepts != nullptr && !method_.accepts(shape, defaults(method_))) continue;
        expect_right<T>(shape);
      }
    }
  }

 private:
  template <class T>
  void expect_right(const Shape& shape) {
    // In float the pivots may differ from the vendor's, and with them the factors. Diagonal dominance
    // prevents that.
    const bool any_matrix = kind_for(method_.problem) == MatrixKind::uniform;
    const bool needs_dominance =
        any_matrix && n_ > max_verified_order && precision_of<T> == Precision::float32;
    const MatrixKind kind = needs_dominance ? MatrixKind::diagonally_dominant : kind_for(method_.problem);
    const Inputs<T> inputs = make_inputs<T>(method_.problem, shape, kind);
    const Answer<T> ours = run_method(*context, method_, inputs, defaults(method_));
    SCOPED_TRACE(describe_run<T>(*context, method_, shape, defaults(method_), to_string(kind)));
    EXPECT_EQ(ours.info, 0);
    if (n_ <= max_verified_order) {
      EXPECT_TRUE(is_right(method_, inputs, ours));
      return;
    }
    const std::string problem(to_string(method_.problem));
    const bool is_in_blas = problem == "gemm" || problem == "trsv";
    const Method& vendor = row_of(problem + (is_in_blas ? "/cublas" : "/cusolver"));
    const Answer<T> reference = run_method(*context, vendor, inputs, defaults(vendor));
    EXPECT_LT(difference(method_.problem, shape, ours, reference).largest,
              precision_of<T> == Precision::float32 ? 1e-3 : 1e-8);
  }

 protected:
  const std::int64_t n_ = std::get<1>(GetParam());
  /// The method, with parameters that make it use lower precisions at every order.
  const Method method_ = [] {
    Method method = row_of(std::get<0>(GetParam()));
    for (Parameter& parameter : method.parameters) {
      if (parameter.name == "float_from") parameter.default_value = std::int64_t{1};
      if (parameter.name == "least_inner") parameter.default_value = std::int64_t{256};
    }
    return method;
  }();
};

TEST_P(OwnMethods, AreAccurateAtOrder) {
  if (method_.cuda.float32 != nullptr) run<float>();
  if (method_.cuda.float64 != nullptr) run<double>();
}

INSTANTIATE_TEST_SUITE_P(All, OwnMethods,
                         testing::Combine(testing::ValuesIn(own_methods()),
                                          testing::Values<std::int64_t>(37, 290, 1101, 4101)),
                         [](const testing::TestParamInfo<OwnMethods::ParamType>& info) {
                           return test_name(std::get<0>(info.param)) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace gaussweep
