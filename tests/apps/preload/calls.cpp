/// Calls cuSOLVER's functions as a program does, and compares the answers with LAPACK's. The cuSOLVER is a
/// fake that calls LAPACK. The environment variable ANSWERED_BY is gaussweep if libgaussweep_cusolver is
/// loaded and answers, else cuSOLVER.

#include <cblas.h>
#include <gtest/gtest.h>
#include <lapacke.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/apps/preload/cusolver_declarations.hpp"

extern "C" {
int fake_calls();
void fake_set_capturing(int on);
void fake_set_stream(unsigned long long id);
void fake_set_pointer_mode(int mode);
int fake_allocations();
}

namespace {

const bool by_gaussweep = std::string(std::getenv("ANSWERED_BY")) == "gaussweep";
constexpr int vendors_elements = 7;

cusolverDnHandle_t handle(int number = 0) {
  static char handles[8];
  return reinterpret_cast<cusolverDnHandle_t>(handles + number);
}

#define OVERLOADS(p, l, T)                                                                                   \
  auto getrf_size(int n, T* a, int lda, int* lwork, int h = 0) {                                             \
    return cusolverDn##p##getrf_bufferSize(handle(h), n, n, a, lda, lwork);                                  \
  }                                                                                                          \
  auto getrf(int m, int n, T* a, int lda, T* work, int* pivots, int* info, int h = 0) {                      \
    return cusolverDn##p##getrf(handle(h), m, n, a, lda, work, pivots, info);                                \
  }                                                                                                          \
  auto getrs(cublasOperation_t trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b,        \
             int ldb, int* info) {                                                                           \
    return cusolverDn##p##getrs(handle(), trans, n, nrhs, lu, lda, pivots, b, ldb, info);                    \
  }                                                                                                          \
  auto potrf_size(cublasFillMode_t uplo, int n, T* a, int lda, int* lwork) {                                 \
    return cusolverDn##p##potrf_bufferSize(handle(), uplo, n, a, lda, lwork);                                \
  }                                                                                                          \
  auto potrf(cublasFillMode_t uplo, int n, T* a, int lda, T* work, int lwork, int* info) {                   \
    return cusolverDn##p##potrf(handle(), uplo, n, a, lda, work, lwork, info);                               \
  }                                                                                                          \
  auto potrs(cublasFillMode_t uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb, int* info) {        \
    return cusolverDn##p##potrs(handle(), uplo, n, nrhs, a, lda, b, ldb, info);                              \
  }                                                                                                          \
  auto potri_size(cublasFillMode_t uplo, int n, T* a, int lda, int* lwork) {                                 \
    return cusolverDn##p##potri_bufferSize(handle(), uplo, n, a, lda, lwork);                                \
  }                                                                                                          \
  auto potri(cublasFillMode_t uplo, int n, T* a, int lda, T* work, int lwork, int* info) {                   \
    return cusolverDn##p##potri(handle(), uplo, n, a, lda, work, lwork, info);                               \
  }                                                                                                          \
  int lapack_potri(char uplo, int n, T* a, int lda) {                                                        \
    return LAPACKE_##l##potri(LAPACK_COL_MAJOR, uplo, n, a, lda);                                            \
  }                                                                                                          \
  auto trsm(int kind, int n, int nrhs, const T* a, int lda, T* b, int ldb, T alpha = 1,                      \
            cublasSideMode_t side = CUBLAS_SIDE_LEFT) {                                                      \
    const auto h = reinterpret_cast<cublasHandle_t>(handle());                                               \
    const auto uplo = static_cast<cublasFillMode_t>(kind & 1);                                               \
    const auto op = static_cast<cublasOperation_t>(kind >> 1 & 1);                                           \
    const auto diag = static_cast<cublasDiagType_t>(kind >> 2);                                              \
    return nrhs % 2 == 0 ? cublas##p##trsm_v2(h, side, uplo, op, diag, n, nrhs, &alpha, a, lda, b, ldb)      \
                         : cublas##p##trsm_v2_64(h, side, uplo, op, diag, n, nrhs, &alpha, a, lda, b, ldb);  \
  }                                                                                                          \
  void blas_trsm(int kind, int n, int nrhs, const T* a, int lda, T* b, int ldb) {                            \
    cblas_##l##trsm(CblasColMajor, CblasLeft, (kind & 1) == 0 ? CblasLower : CblasUpper,                     \
                    (kind & 2) == 0 ? CblasNoTrans : CblasTrans, (kind & 4) == 0 ? CblasNonUnit : CblasUnit, \
                    n, nrhs, T(1), a, lda, b, ldb);                                                          \
  }                                                                                                          \
  int lapack_getrf(int n, T* a, int lda, int* pivots) {                                                      \
    return LAPACKE_##l##getrf(LAPACK_COL_MAJOR, n, n, a, lda, pivots);                                       \
  }                                                                                                          \
  int lapack_getrs(char trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b, int ldb) {    \
    return LAPACKE_##l##getrs(LAPACK_COL_MAJOR, trans, n, nrhs, lu, lda, pivots, b, ldb);                    \
  }                                                                                                          \
  int lapack_potrf(char uplo, int n, T* a, int lda) {                                                        \
    return LAPACKE_##l##potrf(LAPACK_COL_MAJOR, uplo, n, a, lda);                                            \
  }                                                                                                          \
  int lapack_potrs(char uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb) {                         \
    return LAPACKE_##l##potrs(LAPACK_COL_MAJOR, uplo, n, nrhs, a, lda, b, ldb);                              \
  }                                                                                                          \
  int lapack_trtri(char uplo, int n, T* a, int lda) {                                                        \
    return LAPACKE_##l##trtri(LAPACK_COL_MAJOR, uplo, 'N', n, a, lda);                                       \
  }
OVERLOADS(S, s, float)
OVERLOADS(D, d, double)

/// Checks how many calls the fake cuSOLVER has answered since the last check. @param by_vendor_alone calls
/// that the vendor answers in any case @param by_either calls that gaussweep answers if it is loaded
void expect_answers(int by_vendor_alone, int by_either) {
  EXPECT_EQ(fake_calls(), by_vendor_alone + (by_gaussweep ? 0 : by_either));
}

template <class T>
class Preload : public testing::Test {
 protected:
  using Matrix = std::vector<T>;
  static constexpr cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
  static constexpr cudaDataType other_type = sizeof(T) == 4 ? CUDA_R_64F : CUDA_R_32F;
  static constexpr T unit = sizeof(T) == 4 ? T(6e-8) : T(1.2e-16);

  void SetUp() override { fake_calls(); }

  static Matrix random(int rows, int columns) {
    Matrix a(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    std::uint32_t state = 12345;
    for (T& each : a) {
      state = state * 1664525u + 1013904223u;
      each = T(state) / T(4294967296.0) - T(0.5);
    }
    return a;
  }
  /// A positive definite matrix, whose last pivot is negative if `breaks`.
  static Matrix definite(int n, int lda, bool breaks = false) {
    Matrix a = random(lda, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i) a[j + i * lda] = a[i + j * lda];
      a[j + j * lda] = T(n);
    }
    if (breaks) a[(n - 1) * (lda + 1)] = T(-1);
    return a;
  }
  static void expect_near(const Matrix& a, const Matrix& b, int n) {
    ASSERT_EQ(a.size(), b.size());
    T largest = 1;
    for (const T each : b) largest = std::max(largest, std::abs(each));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1000 * T(n) * unit * largest) << "element " << i;
  }
  /// Factors with cusolverDn<t>getrf.
  static void factor(int n, Matrix& a, int lda, std::vector<int>& pivots, int* info) {
    int lwork = 0;
    ASSERT_EQ(getrf_size(n, a.data(), lda, &lwork), CUSOLVER_STATUS_SUCCESS);
    Matrix work(static_cast<std::size_t>(lwork));
    pivots.assign(static_cast<std::size_t>(n), 0);
    ASSERT_EQ(getrf(n, n, a.data(), lda, work.data(), pivots.data(), info), CUSOLVER_STATUS_SUCCESS);
  }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Preload, Precisions);

TYPED_TEST(Preload, FactorsAndSolvesLikeLapack) {
  for (const int n : {1, 5, 33, 70}) {
    for (const int lda : {n, n + 3}) {
      auto a = this->random(lda, n), wanted = a;
      std::vector<int> pivots, wanted_pivots(static_cast<std::size_t>(n));
      int info = -99, lwork = 0;
      getrf_size(n, a.data(), lda, &lwork);
      EXPECT_EQ(lwork > vendors_elements, by_gaussweep);
      this->factor(n, a, lda, pivots, &info);
      expect_answers(0, 1);
      EXPECT_EQ(info, lapack_getrf(n, wanted.data(), lda, wanted_pivots.data()));
      EXPECT_EQ(pivots, wanted_pivots);
      this->expect_near(a, wanted, n);
      for (const int nrhs : {1, 3, 9}) {
        auto b = this->random(lda, nrhs), wanted_b = b;
        EXPECT_EQ(getrs(CUBLAS_OP_N, n, nrhs, a.data(), lda, pivots.data(), b.data(), lda, &info), 0);
        EXPECT_EQ(info, 0);
        expect_answers(nrhs > 8 ? 1 : 0, nrhs > 8 ? 0 : 1);
        lapack_getrs('N', n, nrhs, a.data(), lda, pivots.data(), wanted_b.data(), lda);
        this->expect_near(b, wanted_b, n * n);
        EXPECT_EQ(getrs(CUBLAS_OP_T, n, nrhs, a.data(), lda, pivots.data(), b.data(), lda, &info), 0);
        expect_answers(1, 0);  // transposed
      }
    }
  }
}

TYPED_TEST(Preload, ReportsZeroPivots) {
  const int n = 20;
  auto a = this->random(n, n);
  for (int i = 0; i < n; ++i) a[i + 6 * n] = 0;
  auto wanted = a;
  std::vector<int> pivots, wanted_pivots(n);
  int info = 0;
  this->factor(n, a, n, pivots, &info);
  expect_answers(0, 1);
  EXPECT_EQ(info, lapack_getrf(n, wanted.data(), n, wanted_pivots.data()));
  EXPECT_EQ(info, 7);
  EXPECT_EQ(pivots, wanted_pivots);
  this->expect_near(a, wanted, n);
}

TYPED_TEST(Preload, FactorsDefiniteMatrices) {
  for (const int n : {1, 5, 33, 70}) {
    for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      for (const bool breaks : {false, true}) {
        const int lda = n + 2;
        auto a = this->definite(n, lda, breaks), wanted = a;
        int info = -99, lwork = 0;
        ASSERT_EQ(potrf_size(uplo, n, a.data(), lda, &lwork), 0);
        EXPECT_EQ(lwork > vendors_elements, by_gaussweep);
        std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
        EXPECT_EQ(potrf(uplo, n, a.data(), lda, work.data(), lwork, &info), 0);
        expect_answers(0, 1);
        EXPECT_EQ(info, lapack_potrf(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, wanted.data(), lda));
        EXPECT_EQ(info, breaks ? n : 0);
        if (!breaks) this->expect_near(a, wanted, n);
      }
    }
  }
}

TYPED_TEST(Preload, SolvesWithTriangles) {
  for (const int n : {5, 70, 300}) {
    const int lda = n + 1;
    const auto a = this->definite(n, lda);
    for (int kind = 0; kind < 8; ++kind) {
      for (const int nrhs : {1, 9, 10}) {
        auto b = this->random(lda, nrhs), wanted = b;
        auto scaled = a;  // as a unit triangle with small elements
        if (kind >= 4) {
          for (TypeParam& each : scaled) each /= TypeParam(n);
        }
        EXPECT_EQ(trsm(kind, n, nrhs, scaled.data(), lda, b.data(), lda), 0);
        blas_trsm(kind, n, nrhs, scaled.data(), lda, wanted.data(), lda);
        this->expect_near(b, wanted, n);
        expect_answers(0, 1);
      }
    }
    auto b = this->random(lda, n);
    EXPECT_EQ(trsm(0, n, n, a.data(), lda, b.data(), lda, 2), 0);
    EXPECT_EQ(trsm(0, n, n, a.data(), lda, b.data(), lda, 1, CUBLAS_SIDE_RIGHT), 0);
    fake_set_pointer_mode(1);
    EXPECT_EQ(trsm(0, n, n, a.data(), lda, b.data(), lda), 0);
    fake_set_pointer_mode(0);
    expect_answers(3, 0);
  }
}

TYPED_TEST(Preload, SolvesWithCholeskysFactor) {
  const int n = 70, nrhs = 9;
  const auto type = this->type;
  for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    auto a = this->definite(n, n);
    int info = 0, lwork = 0;
    ASSERT_EQ(potrf_size(uplo, n, a.data(), n, &lwork), 0);  // prepares the stream
    lapack_potrf(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, a.data(), n);
    const auto b = this->random(n, nrhs);
    auto x = b, wide = b, wanted = b;
    lapack_potrs(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, nrhs, a.data(), n, wanted.data(), n);
    EXPECT_EQ(potrs(uplo, n, nrhs, a.data(), n, x.data(), n, &info), 0);
    EXPECT_EQ(info, 0);
    EXPECT_EQ(
        cusolverDnXpotrs(handle(), nullptr, uplo, n, nrhs, type, a.data(), n, type, wide.data(), n, &info),
        0);
    this->expect_near(x, wanted, n);
    this->expect_near(wide, wanted, n);
    expect_answers(0, 2);
    for (const bool is_singular : {false, true}) {
      auto inverse = a;
      if (is_singular) inverse[5 * (n + 1)] = 0;
      auto wanted_inverse = inverse;
      ASSERT_EQ(potri_size(uplo, n, inverse.data(), n, &lwork), 0);
      EXPECT_EQ(lwork > vendors_elements, by_gaussweep);
      std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
      EXPECT_EQ(potri(uplo, n, inverse.data(), n, work.data(), lwork, &info), 0);
      expect_answers(0, 1);
      EXPECT_EQ(info, lapack_potri(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, wanted_inverse.data(), n));
      if (!is_singular) this->expect_near(inverse, wanted_inverse, n);
    }
    wanted = x = b;
    lapack_potrs(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, 1, a.data(), n, wanted.data(), n);
    EXPECT_EQ(potrs(uplo, n, 1, a.data(), n, x.data(), n, &info), 0);
    this->expect_near(x, wanted, n);
    expect_answers(0, 1);
  }
}

TYPED_TEST(Preload, AnswersThe64BitInterface) {
  const auto type = this->type;
  for (const int n : {1, 33, 70}) {
    std::size_t bytes = 0, host_bytes = 0;
    int info = -99;
    auto a = this->random(n, n), wanted = a;
    ASSERT_EQ(
        cusolverDnXgetrf_bufferSize(handle(), nullptr, n, n, type, a.data(), n, type, &bytes, &host_bytes),
        0);
    EXPECT_EQ(host_bytes, 5u);
    EXPECT_EQ(bytes > vendors_elements, by_gaussweep);
    std::vector<char> work(bytes);
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    std::vector<int> wanted_pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(cusolverDnXgetrf(handle(), nullptr, n, n, type, a.data(), n, pivots.data(), type, work.data(),
                               bytes, nullptr, 0, &info),
              0);
    EXPECT_EQ(info, lapack_getrf(n, wanted.data(), n, wanted_pivots.data()));
    EXPECT_EQ(std::vector<int>(pivots.begin(), pivots.end()), wanted_pivots);
    this->expect_near(a, wanted, n);
    auto b = this->random(n, 2), wanted_b = b;
    ASSERT_EQ(cusolverDnXgetrs(handle(), nullptr, CUBLAS_OP_N, n, 2, type, a.data(), n, pivots.data(), type,
                               b.data(), n, &info),
              0);
    lapack_getrs('N', n, 2, a.data(), n, wanted_pivots.data(), wanted_b.data(), n);
    this->expect_near(b, wanted_b, n * n);
    expect_answers(0, 2);

    const auto uplo = CUBLAS_FILL_MODE_UPPER;
    a = wanted = this->definite(n, n);
    ASSERT_EQ(
        cusolverDnXpotrf_bufferSize(handle(), nullptr, uplo, n, type, a.data(), n, type, &bytes, &host_bytes),
        0);
    EXPECT_EQ(bytes > vendors_elements, by_gaussweep);
    work.resize(bytes);
    ASSERT_EQ(cusolverDnXpotrf(handle(), nullptr, uplo, n, type, a.data(), n, type, work.data(), bytes,
                               nullptr, 0, &info),
              0);
    EXPECT_EQ(info, lapack_potrf('U', n, wanted.data(), n));
    this->expect_near(a, wanted, n);
    expect_answers(0, 1);

    ASSERT_EQ(cusolverDnXtrtri_bufferSize(handle(), uplo, CUBLAS_DIAG_NON_UNIT, n, type, a.data(), n, &bytes,
                                          &host_bytes),
              0);
    EXPECT_EQ(bytes > vendors_elements, by_gaussweep);
    work.resize(bytes);
    ASSERT_EQ(cusolverDnXtrtri(handle(), uplo, CUBLAS_DIAG_NON_UNIT, n, type, a.data(), n, work.data(), bytes,
                               nullptr, 0, &info),
              0);
    EXPECT_EQ(info, lapack_trtri('U', n, wanted.data(), n));
    this->expect_near(a, wanted, n);
    expect_answers(0, 1);
    ASSERT_EQ(cusolverDnXtrtri(handle(), uplo, CUBLAS_DIAG_UNIT, n, type, a.data(), n, work.data(), bytes,
                               nullptr, 0, &info),
              0);
    expect_answers(1, 0);  // unit diagonal
  }
}

TYPED_TEST(Preload, PassesOnWhatItDoesNotSupport) {
  const int n = 12;
  auto a = this->definite(n, n);
  std::vector<int> pivots;
  int info = 0, lwork = 0;
  this->factor(n, a, n, pivots, &info);
  expect_answers(0, 1);
  std::vector<TypeParam> work(1 << 16);
  EXPECT_EQ(getrf(n - 1, n, a.data(), n, work.data(), pivots.data(), &info), 0);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), nullptr, &info), 0);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), pivots.data(), &info, 1), 0);  // no query with this handle
  expect_answers(3, 0);
  EXPECT_EQ(getrf(n, n, a.data(), n - 1, work.data(), pivots.data(), &info), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_LT(info, 0);
  expect_answers(1, 0);
  a = this->definite(n, n);
  EXPECT_EQ(potrf(CUBLAS_FILL_MODE_LOWER, n, a.data(), n, work.data(), vendors_elements, &info), 0);
  expect_answers(1, 0);  // the vendor's workspace
  std::vector<std::int64_t> wide(n);
  EXPECT_EQ(cusolverDnXgetrf(handle(), nullptr, n, n, this->type, a.data(), n, wide.data(), this->other_type,
                             work.data(), work.size() * sizeof work[0], nullptr, 0, &info),
            0);
  EXPECT_EQ(cusolverDnXgetrf(handle(), nullptr, n, n, this->type, a.data(), n, wide.data(), this->type,
                             work.data(), vendors_elements, nullptr, 0, &info),
            0);
  expect_answers(2, 0);

  fake_set_stream(2);  // not prepared
  auto b = this->random(n, 1);
  EXPECT_EQ(getrs(CUBLAS_OP_N, n, 1, a.data(), n, pivots.data(), b.data(), n, &info), 0);
  expect_answers(1, 0);
  fake_set_stream(1);
  EXPECT_EQ(getrs(CUBLAS_OP_N, n, 1, a.data(), n, pivots.data(), b.data(), n, &info), 0);
  expect_answers(0, 1);
  EXPECT_EQ(getrf_size(n, a.data(), n, &lwork), 0);
}

TYPED_TEST(Preload, PassesOnWhileAGraphIsRecorded) {
  const int n = 12;
  auto a = this->random(n, n);
  std::vector<int> pivots;
  int info = 0, lwork = 0;
  std::vector<TypeParam> work(1 << 16);
  this->factor(n, a, n, pivots, &info);
  expect_answers(0, 1);
  fake_set_capturing(1);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), pivots.data(), &info), 0);
  expect_answers(1, 0);
  EXPECT_EQ(getrf_size(n, a.data(), n, &lwork), 0);
  EXPECT_EQ(lwork, vendors_elements);
  fake_set_capturing(0);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), pivots.data(), &info), 0);
  expect_answers(1, 0);  // the last query returned the vendor's size
}

TYPED_TEST(Preload, IsSwitchedOffAtAnyTime) {
  const int n = 12;
  auto a = this->random(n, n);
  std::vector<int> pivots;
  int info = 0;
  setenv("GAUSSWEEP_CUSOLVER", "off", 1);
  this->factor(n, a, n, pivots, &info);
  expect_answers(1, 0);
  setenv("GAUSSWEEP_CUSOLVER", by_gaussweep ? "on" : "off", 1);
  std::vector<TypeParam> work(1 << 16);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), pivots.data(), &info), 0);
  expect_answers(1, 0);  // the query was answered while it was off
  this->factor(n, a, n, pivots, &info);
  expect_answers(0, 1);
}

TYPED_TEST(Preload, AllocatesOnlyInQueries) {
  const int n = 12;
  auto a = this->random(n, n);
  int info = 0, lwork = 0;
  fake_set_stream(100 + sizeof(TypeParam));
  const int before = fake_allocations();
  ASSERT_EQ(getrf_size(n, a.data(), n, &lwork), 0);
  EXPECT_EQ(fake_allocations() - before, by_gaussweep ? 1 : 0);
  std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
  std::vector<int> pivots(n);
  auto b = this->random(n, 1);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), pivots.data(), &info), 0);
  EXPECT_EQ(getrs(CUBLAS_OP_N, n, 1, a.data(), n, pivots.data(), b.data(), n, &info), 0);
  EXPECT_EQ(fake_allocations() - before, by_gaussweep ? 1 : 0);
  expect_answers(0, 2);
  fake_set_stream(1);
}

TYPED_TEST(Preload, NeedsNoRoomForACopyOfAlignedMatrices) {
  const int n = 64;
  const auto values = this->random(n, n);
  const std::size_t bytes = values.size() * sizeof(TypeParam);
  const std::unique_ptr<TypeParam[], decltype(&std::free)> a(
      static_cast<TypeParam*>(std::aligned_alloc(256, bytes + 256)), &std::free);
  std::copy(values.begin(), values.end(), a.get());
  a[values.size()] = 1;
  int info = -99, lwork = 0, lwork_of_copy = 0;
  getrf_size(n, a.get() + 1, n, &lwork_of_copy);
  getrf_size(n, a.get(), n, &lwork);
  EXPECT_EQ(lwork_of_copy - lwork, by_gaussweep ? n * n : 0);
  std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
  std::vector<int> pivots(n);
  EXPECT_EQ(getrf(n, n, a.get(), n, work.data(), pivots.data(), &info), 0);
  EXPECT_EQ(info, 0);
  expect_answers(0, 1);
  EXPECT_EQ(getrf(n, n, a.get() + 1, n, work.data(), pivots.data(), &info), 0);
  expect_answers(1, 0);  // not aligned, unlike the queried matrix
}

TYPED_TEST(Preload, ServesSeveralThreads) {
  const int n = 40;
  auto wanted = this->random(n, n);
  const auto a = wanted;
  std::vector<int> wanted_pivots(n);
  lapack_getrf(n, wanted.data(), n, wanted_pivots.data());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      fake_set_stream(static_cast<unsigned long long>(200 + t / 2));  // two threads share a stream
      for (int round = 0; round < 3; ++round) {
        auto own = a;
        std::vector<int> pivots(n);
        int info = -99, lwork = 0;
        EXPECT_EQ(getrf_size(n, own.data(), n, &lwork, 2 + t), 0);
        std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
        EXPECT_EQ(getrf(n, n, own.data(), n, work.data(), pivots.data(), &info, 2 + t), 0);
        EXPECT_EQ(info, 0);
        EXPECT_EQ(pivots, wanted_pivots);
        Preload<TypeParam>::expect_near(own, wanted, n);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  expect_answers(0, 12);
}

}  // namespace
