/// Calls BLAS and LAPACK on the host (OpenBLAS). Only this file uses their names with S (float) and D
/// (double).

#include "kernels/vendor/blas.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/vendor/blas_threads.hpp"

// This file calls LAPACKE's functions that end in _work, because the functions without this suffix scan every
// operand for NaN. The scan would distort timings, and NaN must reach the methods.

namespace gaussweep::vendor {
namespace {

CBLAS_TRANSPOSE cblas(Op op) {
  return op == Op::none ? CblasNoTrans : CblasTrans;
}
CBLAS_SIDE cblas(Side side) {
  return side == Side::left ? CblasLeft : CblasRight;
}
CBLAS_UPLO cblas(Uplo uplo) {
  return uplo == Uplo::lower ? CblasLower : CblasUpper;
}
CBLAS_DIAG cblas(Diagonal diagonal) {
  return diagonal == Diagonal::unit ? CblasUnit : CblasNonUnit;
}
char lapack_option(Op op) {
  return op == Op::none ? 'N' : 'T';
}
char lapack_option(Uplo uplo) {
  return uplo == Uplo::lower ? 'L' : 'U';
}
char lapack_option(Diagonal diagonal) {
  return diagonal == Diagonal::unit ? 'U' : 'N';
}

/// Returns LAPACK's info; throws if it is negative, i.e. reports a wrong argument.
int checked(lapack_int info, const char* call, const char* file, int line) {
  if (info >= 0) return info;
  throw std::logic_error(std::string(call) + ": argument " + std::to_string(-info) + " is not allowed, at " +
                         file + ":" + std::to_string(line));
}
#define GAUSSWEEP_LAPACK(call) checked((call), #call, __FILE__, __LINE__)

}  // namespace

int blas_threads() {
  return openblas_get_num_threads();
}

SingleThreadedBlas::SingleThreadedBlas() : threads_(blas_threads()) {
  openblas_set_num_threads(1);
}
SingleThreadedBlas::~SingleThreadedBlas() {
  openblas_set_num_threads(threads_);
}

int to_int(std::int64_t size) {
  if (size < 0 || size > std::numeric_limits<int>::max()) {
    throw std::invalid_argument("a size for BLAS or LAPACK must be 0 to 2147483647, not " +
                                std::to_string(size));
  }
  return static_cast<int>(size);
}

void gemm(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
          std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  cblas_sgemm(CblasColMajor, cblas(op_a), cblas(op_b), to_int(m), to_int(n), to_int(k), alpha, a, to_int(lda),
              b, to_int(ldb), beta, c, to_int(ldc));
}
void gemm(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a,
          std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
  cblas_dgemm(CblasColMajor, cblas(op_a), cblas(op_b), to_int(m), to_int(n), to_int(k), alpha, a, to_int(lda),
              b, to_int(ldb), beta, c, to_int(ldc));
}

void syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, float alpha, const float* a, std::int64_t lda,
          float beta, float* c, std::int64_t ldc) {
  cblas_ssyrk(CblasColMajor, cblas(uplo), cblas(op), to_int(n), to_int(k), alpha, a, to_int(lda), beta, c,
              to_int(ldc));
}
void syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
          double beta, double* c, std::int64_t ldc) {
  cblas_dsyrk(CblasColMajor, cblas(uplo), cblas(op), to_int(n), to_int(k), alpha, a, to_int(lda), beta, c,
              to_int(ldc));
}

void trmm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, float alpha,
          const float* a, std::int64_t lda, float* b, std::int64_t ldb) {
  cblas_strmm(CblasColMajor, cblas(side), cblas(uplo), cblas(op), cblas(diagonal), to_int(m), to_int(n),
              alpha, a, to_int(lda), b, to_int(ldb));
}
void trmm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, double alpha,
          const double* a, std::int64_t lda, double* b, std::int64_t ldb) {
  cblas_dtrmm(CblasColMajor, cblas(side), cblas(uplo), cblas(op), cblas(diagonal), to_int(m), to_int(n),
              alpha, a, to_int(lda), b, to_int(ldb));
}

void trsv(Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const float* a, std::int64_t lda, float* x) {
  cblas_strsv(CblasColMajor, cblas(uplo), cblas(op), cblas(diagonal), to_int(n), a, to_int(lda), x,
              /*incx=*/1);
}
void trsv(Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const double* a, std::int64_t lda, double* x) {
  cblas_dtrsv(CblasColMajor, cblas(uplo), cblas(op), cblas(diagonal), to_int(n), a, to_int(lda), x,
              /*incx=*/1);
}

void trsm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, float alpha,
          const float* a, std::int64_t lda, float* b, std::int64_t ldb) {
  cblas_strsm(CblasColMajor, cblas(side), cblas(uplo), cblas(op), cblas(diagonal), to_int(m), to_int(n),
              alpha, a, to_int(lda), b, to_int(ldb));
}
void trsm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, double alpha,
          const double* a, std::int64_t lda, double* b, std::int64_t ldb) {
  cblas_dtrsm(CblasColMajor, cblas(side), cblas(uplo), cblas(op), cblas(diagonal), to_int(m), to_int(n),
              alpha, a, to_int(lda), b, to_int(ldb));
}

int gesv(std::int64_t n, std::int64_t nrhs, float* a, std::int64_t lda, int* pivots, float* b,
         std::int64_t ldb) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_sgesv_work(LAPACK_COL_MAJOR, to_int(n), to_int(nrhs), a, to_int(lda), pivots, b, to_int(ldb)));
}
int gesv(std::int64_t n, std::int64_t nrhs, double* a, std::int64_t lda, int* pivots, double* b,
         std::int64_t ldb) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_dgesv_work(LAPACK_COL_MAJOR, to_int(n), to_int(nrhs), a, to_int(lda), pivots, b, to_int(ldb)));
}

int getrf(std::int64_t m, std::int64_t n, float* a, std::int64_t lda, int* pivots) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, to_int(m), to_int(n), a, to_int(lda), pivots));
}
int getrf(std::int64_t m, std::int64_t n, double* a, std::int64_t lda, int* pivots) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, to_int(m), to_int(n), a, to_int(lda), pivots));
}

int getrs(Op op, std::int64_t n, std::int64_t nrhs, const float* lu, std::int64_t lda, const int* pivots,
          float* b, std::int64_t ldb) {
  return GAUSSWEEP_LAPACK(LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, lapack_option(op), to_int(n), to_int(nrhs),
                                              lu, to_int(lda), pivots, b, to_int(ldb)));
}
int getrs(Op op, std::int64_t n, std::int64_t nrhs, const double* lu, std::int64_t lda, const int* pivots,
          double* b, std::int64_t ldb) {
  return GAUSSWEEP_LAPACK(LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, lapack_option(op), to_int(n), to_int(nrhs),
                                              lu, to_int(lda), pivots, b, to_int(ldb)));
}

int getri(std::int64_t n, float* a, std::int64_t lda, const int* pivots, float* work, std::int64_t lwork) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_sgetri_work(LAPACK_COL_MAJOR, to_int(n), a, to_int(lda), pivots, work, to_int(lwork)));
}
int getri(std::int64_t n, double* a, std::int64_t lda, const int* pivots, double* work, std::int64_t lwork) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_dgetri_work(LAPACK_COL_MAJOR, to_int(n), a, to_int(lda), pivots, work, to_int(lwork)));
}

int potrf(Uplo uplo, std::int64_t n, float* a, std::int64_t lda) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_spotrf_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), a, to_int(lda)));
}
int potrf(Uplo uplo, std::int64_t n, double* a, std::int64_t lda) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), a, to_int(lda)));
}

int potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const float* factor, std::int64_t lda, float* b,
          std::int64_t ldb) {
  return GAUSSWEEP_LAPACK(LAPACKE_spotrs_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), to_int(nrhs),
                                              factor, to_int(lda), b, to_int(ldb)));
}
int potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const double* factor, std::int64_t lda, double* b,
          std::int64_t ldb) {
  return GAUSSWEEP_LAPACK(LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), to_int(nrhs),
                                              factor, to_int(lda), b, to_int(ldb)));
}

int potri(Uplo uplo, std::int64_t n, float* a, std::int64_t lda) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_spotri_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), a, to_int(lda)));
}
int potri(Uplo uplo, std::int64_t n, double* a, std::int64_t lda) {
  return GAUSSWEEP_LAPACK(
      LAPACKE_dpotri_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), a, to_int(lda)));
}

int trtri(Uplo uplo, Diagonal diagonal, std::int64_t n, float* a, std::int64_t lda) {
  return GAUSSWEEP_LAPACK(LAPACKE_strtri_work(LAPACK_COL_MAJOR, lapack_option(uplo), lapack_option(diagonal),
                                              to_int(n), a, to_int(lda)));
}
int trtri(Uplo uplo, Diagonal diagonal, std::int64_t n, double* a, std::int64_t lda) {
  return GAUSSWEEP_LAPACK(LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, lapack_option(uplo), lapack_option(diagonal),
                                              to_int(n), a, to_int(lda)));
}

namespace {

/// LAPACK's workspace for a condition estimate: `reals` * n doubles and n integers.
struct ConditionWork {
  ConditionWork(std::int64_t n, std::int64_t reals)
      : real(static_cast<std::size_t>(reals * n)), integer(static_cast<std::size_t>(n)) {}
  std::vector<double> real;
  std::vector<lapack_int> integer;
};

}  // namespace

double gecon(std::int64_t n, const double* lu, std::int64_t lda, double norm) {
  ConditionWork work(n, /*reals=*/4);
  double rcond = 0;
  GAUSSWEEP_LAPACK(LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', to_int(n), lu, to_int(lda), norm, &rcond,
                                       work.real.data(), work.integer.data()));
  return rcond;
}

double pocon(Uplo uplo, std::int64_t n, const double* factor, std::int64_t lda, double norm) {
  ConditionWork work(n, /*reals=*/3);
  double rcond = 0;
  GAUSSWEEP_LAPACK(LAPACKE_dpocon_work(LAPACK_COL_MAJOR, lapack_option(uplo), to_int(n), factor, to_int(lda),
                                       norm, &rcond, work.real.data(), work.integer.data()));
  return rcond;
}

double trcon(Uplo uplo, std::int64_t n, const double* a, std::int64_t lda) {
  ConditionWork work(n, /*reals=*/3);
  double rcond = 0;
  GAUSSWEEP_LAPACK(LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', lapack_option(uplo), 'N', to_int(n), a,
                                       to_int(lda), &rcond, work.real.data(), work.integer.data()));
  return rcond;
}

}  // namespace gaussweep::vendor
