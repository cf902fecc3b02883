// Tests methods on matrices on which fast methods lost digits: kernel matrices, matrices with a chosen
// condition number, and elements near both ends of the exponent range.

#include "tests/kernels/stable_matrices.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
class StableMethods : public testing::Test {
 protected:
  /// Expects at most max(1, 3 x LAPACK's ratio), for both triangles.
  static void expect_as_good(const char* problem, const char* variant, const HostMatrix<double>& a,
                             std::int64_t nrhs = 1, const ParameterChanges& changes = {}) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      if (uplo == Uplo::upper && !Problem::named(problem)->has_axis("uplo")) continue;
      const Inputs<T> inputs = inputs_of<T>(Problem::named(problem), a, uplo, nrhs);
      const RatioComparison found = compare_with_lapack(Problem::named(problem), variant, inputs, changes);
      EXPECT_LE(found.loss(), 1) << problem << "/" << variant << ", n " << a.rows << ", " << to_string(uplo)
                                 << ": ratio " << found.ratio << ", LAPACK's " << found.lapack_ratio;
    }
  }
  /// Tests kernel matrices and matrices with a chosen condition at these orders.
  static void expect_as_good(const char* problem, const char* variant, std::initializer_list<int> orders,
                             std::int64_t nrhs = 1, const ParameterChanges& changes = {}) {
    for (const int n : orders) {
      SCOPED_TRACE(n);
      for (const HostMatrix<double>& a : hard_definite_matrices<T>(n))
        expect_as_good(problem, variant, a, nrhs, changes);
    }
  }
};
TYPED_TEST_SUITE(StableMethods, Precisions);

TYPED_TEST(StableMethods, CholeskyOfSmallMatricesByRows) {
  this->expect_as_good("potrf", "batched", {3, 4, 5, 8, 12, 13, 16, 24, 33, 40, 64, 90, 128}, 1,
                       {{"kernel", std::string("rows")}});
}
TYPED_TEST(StableMethods, CholeskyOfSmallMatricesByPanels) {
  this->expect_as_good("potrf", "batched", {5, 16, 33, 40, 64, 100}, 1, {{"kernel", std::string("panels")}});
}
/// Three roundings add up in the last pivot of a matrix of order 2: the residual is 3 u, and its ratio 3/2.
/// Methods may round like LAPACK, but not more often.
TYPED_TEST(StableMethods, LapacksCholeskyReachesItsBound) {
  const double u = std::numeric_limits<TypeParam>::epsilon() / 2;
  HostMatrix<double> a(2, 2);
  a(0, 0) = 1;
  a(1, 0) = a(0, 1) = static_cast<TypeParam>(1.001 * std::sqrt(u));
  a(1, 1) = 1 + 8 * u;
  const Inputs<TypeParam> inputs = inputs_of<TypeParam>(Problem::named("potrf"), a, Uplo::lower, 1);
  for (const char* const variant : {"batched", "recursive"}) {
    const RatioComparison found = compare_with_lapack(Problem::named("potrf"), variant, inputs);
    EXPECT_NEAR(found.lapack_ratio, 1.5, 0.01);
    EXPECT_LE(found.ratio, 1.5) << variant;
  }
}
TYPED_TEST(StableMethods, DefiniteSystemsByRows) {
  this->expect_as_good("posv", "batched", {3, 5, 12, 16, 24, 33, 96}, 5, {{"kernel", std::string("rows")}});
}
TYPED_TEST(StableMethods, DefiniteSystemsByPanels) {
  for (const int nrhs : {2, 35})
    this->expect_as_good("posv", "batched", {8, 16, 33}, nrhs, {{"kernel", std::string("panels")}});
}

TYPED_TEST(StableMethods, InversesOfDefiniteMatrices) {
  this->expect_as_good("poinv", "recursive", {3, 20, 66, 130});
}
TYPED_TEST(StableMethods, InversesOfTriangles) {
  for (const std::int64_t n : {20, 33, 66, 130, 200}) {
    for (const double lambda : {1e-10, 1e-12})
      this->expect_as_good("trtri", "levels", mirrored_factor(kernel_matrix(n, 4, lambda)));
  }
}

TYPED_TEST(StableMethods, InversesOfRowsThatAreFarApart) {
  for (const std::int64_t n : {2, 5, 16, 17, 33, 64}) {
    this->expect_as_good("geinv", "batched", rows_far_apart<TypeParam>(n));
    this->expect_as_good("trtri", "levels", rows_far_apart<TypeParam>(n));
  }
}

TYPED_TEST(StableMethods, SubnormalPivots) {
  for (const std::int64_t n : {1, 9, 70}) {
    for (const std::int64_t index : {std::int64_t{0}, n - 1}) {
      for (const char* problem : {"potrf", "posv", "poinv"})
        this->expect_as_good(problem, "recursive", subnormal_pivot<TypeParam>(n, index));
      for (const char* problem : {"potrf", "posv"})
        this->expect_as_good(problem, "batched", subnormal_pivot<TypeParam>(n, index));
    }
  }
}

/// The solve with U meets ill-conditioned diagonal tiles.
TYPED_TEST(StableMethods, InversesOfIllConditionedMatrices) {
  this->expect_as_good("geinv", "recursive", {16, 25, 31, 47});
}

/// Well-conditioned matrices near both ends of the exponent range.
TYPED_TEST(StableMethods, EndsOfTheRange) {
  constexpr int max_exponent = std::numeric_limits<TypeParam>::max_exponent - 10;
  const std::vector<std::pair<const char*, const char*>> methods{
      {"potrf", "batched"}, {"potrf", "recursive"}, {"posv", "batched"}, {"posv", "recursive"},
      {"getrf", "batched"}, {"getrf", "recursive"}, {"gesv", "batched"}, {"gesv", "recursive"},
      {"geinv", "batched"}, {"geinv", "recursive"}, {"trtri", "levels"}, {"poinv", "recursive"}};
  for (const std::int64_t n : {5, 33}) {
    for (const int exponent : {max_exponent, -max_exponent}) {
      HostMatrix<double> a = kernel_matrix(n, 4, 1);
      for (double& value : a.data) value = std::ldexp(value, exponent);
      for (const auto& [problem, variant] : methods) this->expect_as_good(problem, variant, a);
    }
  }
}

/// The ratio stays below a fixed bound for every number of moduli.
TYPED_TEST(StableMethods, EveryNumberOfModuliIsAccurate) {
  const Problem gemm = Problem::named("gemm");
  std::mt19937_64 random(5);
  for (const double decades : {0, 8, 20}) {
    Inputs<TypeParam> inputs;
    inputs.shape = {9, 9, 9, 1, Uplo::lower};
    for (HostMatrix<TypeParam>* matrix : {&inputs.a, &inputs.b}) {
      *matrix = HostMatrix<TypeParam>(9, 9);
      for (TypeParam& value : matrix->data) {
        const double unit = std::uniform_real_distribution<double>(-1, 1)(random);
        value = static_cast<TypeParam>(unit * std::pow(10.0, -decades * std::fabs(unit)));
      }
    }
    for (std::int64_t moduli = 5; moduli <= 18; ++moduli) {
      const Answer<TypeParam> answer = try_method(gemm, "residues", inputs, {{"moduli", moduli}}).answer;
      const double ratio = check(*registry().find(gemm, "residues"), inputs, answer).ratio;
      EXPECT_LE(ratio, 0.3) << moduli << " moduli, " << decades << " decades";
    }
  }
}

TYPED_TEST(StableMethods, ProductsWithEveryNumberOfModuli) {
  Inputs<TypeParam> inputs;
  inputs.shape = {2, 2, 2, 1, Uplo::lower};
  inputs.a = inputs.b = HostMatrix<TypeParam>(2, 2);
  inputs.a.data = {1, 1, 0x1p-40, 1};
  inputs.b.data = {0x1p-40, 1, 1, 0};
  const Problem gemm = Problem::named("gemm");
  for (std::int64_t moduli = 5; moduli <= 18; ++moduli) {
    const Answer<TypeParam> answer = try_method(gemm, "residues", inputs, {{"moduli", moduli}}).answer;
    EXPECT_LE(check(*registry().find(gemm, "residues"), inputs, answer).ratio, 0.01) << moduli;
  }
}

TEST(StableProducts, ProductsByHalvesOfFewTerms) {
  const Problem gemm = Problem::named("gemm");
  for (const std::int64_t k : {1, 2, 5, 8, 17, 33, 256, 257}) {
    Inputs<float> inputs =
        inputs_of<float>({1, 1, k, 1, Uplo::lower}, HostMatrix<float>(1, k), HostMatrix<float>(k, 1));
    for (HostMatrix<float>* matrix : {&inputs.a, &inputs.b})
      std::fill(matrix->data.begin(), matrix->data.end(), 1 + 0x1p-11f - 0x1.8p-22f);
    const Answer<float> answer = try_method(gemm, "halves", inputs).answer;
    EXPECT_LE(check(*registry().find(gemm, "halves"), inputs, answer).ratio, 0.6) << k;
  }
}

}  // namespace
}  // namespace gaussweep
