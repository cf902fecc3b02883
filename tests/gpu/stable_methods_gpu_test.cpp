// Runs the ill-conditioned matrices of tests/kernels/stable_methods_test.cpp on a GPU, and compares with
// LAPACK.

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/stable_matrices.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

template <class T>
class StableOnGpu : public OnGpu {
 protected:
  void SetUp() override { require(/*needed=*/90); }

  void expect_as_accurate_as_lapack(const char* name, const char* variant, const HostMatrix<double>& a,
                                    std::int64_t nrhs = 1) {
    const Problem problem = Problem::named(name);
    CpuContext on_host(Backend::host);
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      if (uplo == Uplo::upper && !problem->has_axis("uplo")) continue;
      const Inputs<T> inputs = inputs_of<T>(problem, a, uplo, nrhs);
      const double ratio = ratio_of(*context, *registry().find(problem, variant), inputs);
      const double lapack_ratio = ratio_of(on_host, *registry().find(problem, "lapack"), inputs);
      EXPECT_LE(ratio, std::max(1.0, 3 * lapack_ratio)) << name << "/" << variant << ", n " << a.rows << ", "
                                                        << to_string(uplo) << ", LAPACK's " << lapack_ratio;
    }
  }
};
TYPED_TEST_SUITE(StableOnGpu, Precisions);

TYPED_TEST(StableOnGpu, DefiniteMatricesAndTrianglesAreAsAccurateAsLapack) {
  for (const std::int64_t n : {3, 8, 16, 20, 33, 40, 66}) {
    for (const HostMatrix<double>& a : hard_definite_matrices<TypeParam>(n)) {
      this->expect_as_accurate_as_lapack("potrf", "batched", a);
      this->expect_as_accurate_as_lapack("posv", "batched", a);
      this->expect_as_accurate_as_lapack("posv", "batched", a, /*nrhs=*/3);
      this->expect_as_accurate_as_lapack("poinv", "recursive", a);
    }
    for (const double lambda : {1e-10, 1e-12})
      this->expect_as_accurate_as_lapack("trtri", "levels",
                                         mirrored_factor(kernel_matrix(n, /*s=*/4, lambda)));
  }
}
/// Orders at which blocks are joined by small tiles, by large ones and by the vendor's products, and with a
/// border: a few rows that are added last.
TYPED_TEST(StableOnGpu, JoinedInversesAreAsAccurateAsLapacks) {
  for (const std::int64_t n : {97, 130, 330, 700, 1030, 1300}) {
    for (const double lambda : {1e-6, 1e-10})
      this->expect_as_accurate_as_lapack("trtri", "levels",
                                         mirrored_factor(kernel_matrix(n, /*s=*/4, lambda)));
    const double lambda = sizeof(TypeParam) == 8 ? 1e-10 : 1e-4;
    this->expect_as_accurate_as_lapack("poinv", "recursive", kernel_matrix(n, /*s=*/10, lambda));
  }
}
TYPED_TEST(StableOnGpu, DistantRowScalesAreAsAccurateAsLapack) {
  for (const std::int64_t n : {2, 16, 17, 33, 64}) {
    this->expect_as_accurate_as_lapack("geinv", "batched", rows_far_apart<TypeParam>(n));
    this->expect_as_accurate_as_lapack("trtri", "levels", rows_far_apart<TypeParam>(n));
  }
}
TYPED_TEST(StableOnGpu, SubnormalPivotsAreAsAccurateAsLapack) {
  for (const std::int64_t n : {1, 9, 70}) {
    for (const char* problem : {"potrf", "posv", "poinv"})
      this->expect_as_accurate_as_lapack(problem, "recursive", subnormal_pivot<TypeParam>(n, n - 1));
  }
}

}  // namespace
}  // namespace gaussweep
