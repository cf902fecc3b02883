/// Tests libgaussweep_cusolver: calls cuSOLVER's functions as a program does, and compares the answers with
/// LAPACK's. The vendor's cuSOLVER is a fake that calls LAPACK (fake_cusolver.cpp).
///
/// The same tests run with and without libgaussweep_cusolver. The environment variable ANSWERED_BY names the
/// library that must answer: gaussweep if libgaussweep_cusolver is loaded and on, otherwise cuSOLVER.

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

const bool answered_by_gaussweep = std::string(std::getenv("ANSWERED_BY")) == "gaussweep";
constexpr int vendor_elements = 7;  // the workspace that the fake asks for

/// Returns one of 8 handles. The fake accepts any address as a handle.
cusolverDnHandle_t handle(int number = 0) {
  static char handles[8];
  return reinterpret_cast<cusolverDnHandle_t>(handles + number);
}

// Functions that are the same for float and double, from those of cuSOLVER, LAPACK and BLAS. p and l are the
// letters of the precision in their names. `kind` of a triangle: bit 0: upper, 1: transposed, 2: unit
// diagonal.
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

/// Checks how many calls the fake cuSOLVER has answered since the last check.
/// @param by_vendor the number of calls that it answers in any case
/// @param by_gaussweep the number of calls that gaussweep answers if it is loaded, otherwise the fake
void expect_answers(int by_vendor, int by_gaussweep) {
  EXPECT_EQ(fake_calls(), by_vendor + (answered_by_gaussweep ? 0 : by_gaussweep));
}

template <class T>
class Preload : public testing::Test {
 protected:
  using Matrix = std::vector<T>;
  static constexpr cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
  static constexpr cudaDataType other_type = sizeof(T) == 4 ? CUDA_R_64F : CUDA_R_32F;
  static constexpr T roundoff = sizeof(T) == 4 ? T(6e-8) : T(1.2e-16);

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
  /// Returns a positive definite matrix, or, if `is_indefinite`, one whose last pivot is negative.
  static Matrix definite(int n, int lda, bool is_indefinite = false) {
    Matrix a = random(lda, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i) a[j + i * lda] = a[i + j * lda];
      a[j + j * lda] = T(n);
    }
    if (is_indefinite) a[(n - 1) * (lda + 1)] = T(-1);
    return a;
  }
  static void expect_near(const Matrix& a, const Matrix& b, int n) {
    ASSERT_EQ(a.size(), b.size());
    T largest = 1;
    for (const T each : b) largest = std::max(largest, std::abs(each));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1000 * T(n) * roundoff * largest) << "element " << i;
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
      auto a = this->random(lda, n), expected = a;
      std::vector<int> pivots, expected_pivots(static_cast<std::size_t>(n));
      int info = -99, lwork = 0;
      getrf_size(n, a.data(), lda, &lwork);
      EXPECT_EQ(lwork > vendor_elements, answered_by_gaussweep);
      this->factor(n, a, lda, pivots, &info);
      expect_answers(0, 1);
      EXPECT_EQ(info, lapack_getrf(n, expected.data(), lda, expected_pivots.data()));
      EXPECT_EQ(pivots, expected_pivots);
      this->expect_near(a, expected, n);
      for (const int nrhs : {1, 9, 97}) {
        auto b = this->random(lda, nrhs), expected_b = b;
        EXPECT_EQ(getrs(CUBLAS_OP_N, n, nrhs, a.data(), lda, pivots.data(), b.data(), lda, &info), 0);
        EXPECT_EQ(info, 0);
        expect_answers(nrhs > 96 ? 1 : 0, nrhs > 96 ? 0 : 1);
        lapack_getrs('N', n, nrhs, a.data(), lda, pivots.data(), expected_b.data(), lda);
        this->expect_near(b, expected_b, n * n);
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
  auto expected = a;
  std::vector<int> pivots, expected_pivots(n);
  int info = 0;
  this->factor(n, a, n, pivots, &info);
  expect_answers(0, 1);
  EXPECT_EQ(info, lapack_getrf(n, expected.data(), n, expected_pivots.data()));
  EXPECT_EQ(info, 7);
  EXPECT_EQ(pivots, expected_pivots);
  this->expect_near(a, expected, n);
}

TYPED_TEST(Preload, FactorsDefiniteMatrices) {
  for (const int n : {1, 5, 33, 70}) {
    for (const auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      for (const bool is_indefinite : {false, true}) {
        const int lda = n + 2;
        auto a = this->definite(n, lda, is_indefinite), expected = a;
        int info = -99, lwork = 0;
        ASSERT_EQ(potrf_size(uplo, n, a.data(), lda, &lwork), 0);
        EXPECT_EQ(lwork > vendor_elements, answered_by_gaussweep);
        std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
        EXPECT_EQ(potrf(uplo, n, a.data(), lda, work.data(), lwork, &info), 0);
        expect_answers(0, 1);
        EXPECT_EQ(info, lapack_potrf(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, expected.data(), lda));
        EXPECT_EQ(info, is_indefinite ? n : 0);
        if (!is_indefinite) this->expect_near(a, expected, n);
      }
    }
  }
}

TYPED_TEST(Preload, SolvesWithTriangles) {
  for (const int n : {5, 70, 300}) {
    const int lda = n + 1;
    const auto a = this->definite(n, lda);
    for (int kind = 0; kind < 8; ++kind) {
      for (const int nrhs : {1, 9, 130}) {
        auto b = this->random(lda, nrhs), expected = b;
        auto scaled = a;  // for unit triangles, whose elements must be small
        if (kind >= 4) {
          for (TypeParam& each : scaled) each /= TypeParam(n);
        }
        EXPECT_EQ(trsm(kind, n, nrhs, scaled.data(), lda, b.data(), lda), 0);
        blas_trsm(kind, n, nrhs, scaled.data(), lda, expected.data(), lda);
        this->expect_near(b, expected, n);
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
    auto x = b, wide = b, expected = b;
    lapack_potrs(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, nrhs, a.data(), n, expected.data(), n);
    EXPECT_EQ(potrs(uplo, n, nrhs, a.data(), n, x.data(), n, &info), 0);
    EXPECT_EQ(info, 0);
    EXPECT_EQ(
        cusolverDnXpotrs(handle(), nullptr, uplo, n, nrhs, type, a.data(), n, type, wide.data(), n, &info),
        0);
    this->expect_near(x, expected, n);
    this->expect_near(wide, expected, n);
    expect_answers(0, 2);
    for (const bool is_singular : {false, true}) {
      auto inverse = a;
      if (is_singular) inverse[5 * (n + 1)] = 0;
      auto expected_inverse = inverse;
      ASSERT_EQ(potri_size(uplo, n, inverse.data(), n, &lwork), 0);
      EXPECT_EQ(lwork > vendor_elements, answered_by_gaussweep);
      std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
      EXPECT_EQ(potri(uplo, n, inverse.data(), n, work.data(), lwork, &info), 0);
      expect_answers(0, 1);
      EXPECT_EQ(info,
                lapack_potri(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, expected_inverse.data(), n));
      if (!is_singular) this->expect_near(inverse, expected_inverse, n);
    }
    expected = x = b;
    lapack_potrs(uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U', n, 1, a.data(), n, expected.data(), n);
    EXPECT_EQ(potrs(uplo, n, 1, a.data(), n, x.data(), n, &info), 0);
    this->expect_near(x, expected, n);
    expect_answers(0, 1);
  }
}

TYPED_TEST(Preload, AnswersThe64BitInterface) {
  const auto type = this->type;
  for (const int n : {1, 33, 70}) {
    std::size_t bytes = 0, host_bytes = 0;
    int info = -99;
    auto a = this->random(n, n), expected = a;
    ASSERT_EQ(
        cusolverDnXgetrf_bufferSize(handle(), nullptr, n, n, type, a.data(), n, type, &bytes, &host_bytes),
        0);
    EXPECT_EQ(host_bytes, 5u);
    EXPECT_EQ(bytes > vendor_elements, answered_by_gaussweep);
    std::vector<char> work(bytes);
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    std::vector<int> expected_pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(cusolverDnXgetrf(handle(), nullptr, n, n, type, a.data(), n, pivots.data(), type, work.data(),
                               bytes, nullptr, 0, &info),
              0);
    EXPECT_EQ(info, lapack_getrf(n, expected.data(), n, expected_pivots.data()));
    EXPECT_EQ(std::vector<int>(pivots.begin(), pivots.end()), expected_pivots);
    this->expect_near(a, expected, n);
    auto b = this->random(n, 2), expected_b = b;
    ASSERT_EQ(cusolverDnXgetrs(handle(), nullptr, CUBLAS_OP_N, n, 2, type, a.data(), n, pivots.data(), type,
                               b.data(), n, &info),
              0);
    lapack_getrs('N', n, 2, a.data(), n, expected_pivots.data(), expected_b.data(), n);
    this->expect_near(b, expected_b, n * n);
    expect_answers(0, 2);

    const auto uplo = CUBLAS_FILL_MODE_UPPER;
    a = expected = this->definite(n, n);
    ASSERT_EQ(
        cusolverDnXpotrf_bufferSize(handle(), nullptr, uplo, n, type, a.data(), n, type, &bytes, &host_bytes),
        0);
    EXPECT_EQ(bytes > vendor_elements, answered_by_gaussweep);
    work.resize(bytes);
    ASSERT_EQ(cusolverDnXpotrf(handle(), nullptr, uplo, n, type, a.data(), n, type, work.data(), bytes,
                               nullptr, 0, &info),
              0);
    EXPECT_EQ(info, lapack_potrf('U', n, expected.data(), n));
    this->expect_near(a, expected, n);
    expect_answers(0, 1);

    ASSERT_EQ(cusolverDnXtrtri_bufferSize(handle(), uplo, CUBLAS_DIAG_NON_UNIT, n, type, a.data(), n, &bytes,
                                          &host_bytes),
              0);
    EXPECT_EQ(bytes > vendor_elements, answered_by_gaussweep);
    work.resize(bytes);
    ASSERT_EQ(cusolverDnXtrtri(handle(), uplo, CUBLAS_DIAG_NON_UNIT, n, type, a.data(), n, work.data(), bytes,
                               nullptr, 0, &info),
              0);
    EXPECT_EQ(info, lapack_trtri('U', n, expected.data(), n));
    this->expect_near(a, expected, n);
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
  EXPECT_EQ(potrf(CUBLAS_FILL_MODE_LOWER, n, a.data(), n, work.data(), vendor_elements, &info), 0);
  expect_answers(1, 0);  // the workspace is of the vendor's size
  std::vector<std::int64_t> wide(n);
  EXPECT_EQ(cusolverDnXgetrf(handle(), nullptr, n, n, this->type, a.data(), n, wide.data(), this->other_type,
                             work.data(), work.size() * sizeof work[0], nullptr, 0, &info),
            0);
  EXPECT_EQ(cusolverDnXgetrf(handle(), nullptr, n, n, this->type, a.data(), n, wide.data(), this->type,
                             work.data(), vendor_elements, nullptr, 0, &info),
            0);
  expect_answers(2, 0);

  fake_set_stream(2);  // no query was made on this stream
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
  EXPECT_EQ(lwork, vendor_elements);
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
  setenv("GAUSSWEEP_CUSOLVER", answered_by_gaussweep ? "on" : "off", 1);
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
  EXPECT_EQ(fake_allocations() - before, answered_by_gaussweep ? 1 : 0);
  std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
  std::vector<int> pivots(n);
  auto b = this->random(n, 1);
  EXPECT_EQ(getrf(n, n, a.data(), n, work.data(), pivots.data(), &info), 0);
  EXPECT_EQ(getrs(CUBLAS_OP_N, n, 1, a.data(), n, pivots.data(), b.data(), n, &info), 0);
  EXPECT_EQ(fake_allocations() - before, answered_by_gaussweep ? 1 : 0);
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
  EXPECT_EQ(lwork_of_copy - lwork, answered_by_gaussweep ? n * n : 0);
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
  auto expected = this->random(n, n);
  const auto a = expected;
  std::vector<int> expected_pivots(n);
  lapack_getrf(n, expected.data(), n, expected_pivots.data());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      fake_set_stream(static_cast<unsigned long long>(200 + t / 2));  // two threads share a stream
      for (int round = 0; round < 3; ++round) {
        auto factors = a;
        std::vector<int> pivots(n);
        int info = -99, lwork = 0;
        EXPECT_EQ(getrf_size(n, factors.data(), n, &lwork, 2 + t), 0);
        std::vector<TypeParam> work(static_cast<std::size_t>(lwork));
        EXPECT_EQ(getrf(n, n, factors.data(), n, work.data(), pivots.data(), &info, 2 + t), 0);
        EXPECT_EQ(info, 0);
        EXPECT_EQ(pivots, expected_pivots);
        Preload<TypeParam>::expect_near(factors, expected, n);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  expect_answers(0, 12);
}

}  // namespace
