/// A libcusolver.so.12 on host memory, computed by LAPACK, with cuBLAS's trsm. It counts its calls, and its
/// workspaces are small.

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace {

std::atomic<int> calls{0};
int pointer_mode = 0;
constexpr int invalid_value = 3, vendors_elements = 7;

char letter(int uplo) {
  return uplo == 0 ? 'L' : 'U';
}

int getrf(int m, int n, float* a, int lda, int* pivots) {
  return LAPACKE_sgetrf(LAPACK_COL_MAJOR, m, n, a, lda, pivots);
}
int getrf(int m, int n, double* a, int lda, int* pivots) {
  return LAPACKE_dgetrf(LAPACK_COL_MAJOR, m, n, a, lda, pivots);
}
int getrs(int trans, int n, int nrhs, const float* lu, int lda, const int* pivots, float* b, int ldb) {
  return LAPACKE_sgetrs(LAPACK_COL_MAJOR, trans == 0 ? 'N' : 'T', n, nrhs, lu, lda, pivots, b, ldb);
}
int getrs(int trans, int n, int nrhs, const double* lu, int lda, const int* pivots, double* b, int ldb) {
  return LAPACKE_dgetrs(LAPACK_COL_MAJOR, trans == 0 ? 'N' : 'T', n, nrhs, lu, lda, pivots, b, ldb);
}
int potrf(int uplo, int n, float* a, int lda) {
  return LAPACKE_spotrf(LAPACK_COL_MAJOR, letter(uplo), n, a, lda);
}
int potrf(int uplo, int n, double* a, int lda) {
  return LAPACKE_dpotrf(LAPACK_COL_MAJOR, letter(uplo), n, a, lda);
}
int potrs(int uplo, int n, int nrhs, const float* a, int lda, float* b, int ldb) {
  return LAPACKE_spotrs(LAPACK_COL_MAJOR, letter(uplo), n, nrhs, a, lda, b, ldb);
}
int potrs(int uplo, int n, int nrhs, const double* a, int lda, double* b, int ldb) {
  return LAPACKE_dpotrs(LAPACK_COL_MAJOR, letter(uplo), n, nrhs, a, lda, b, ldb);
}
int potri(int uplo, int n, float* a, int lda) {
  return LAPACKE_spotri(LAPACK_COL_MAJOR, letter(uplo), n, a, lda);
}
int potri(int uplo, int n, double* a, int lda) {
  return LAPACKE_dpotri(LAPACK_COL_MAJOR, letter(uplo), n, a, lda);
}
int trtri(int uplo, int diag, int n, float* a, int lda) {
  return LAPACKE_strtri(LAPACK_COL_MAJOR, letter(uplo), diag == 0 ? 'N' : 'U', n, a, lda);
}
int trtri(int uplo, int diag, int n, double* a, int lda) {
  return LAPACKE_dtrtri(LAPACK_COL_MAJOR, letter(uplo), diag == 0 ? 'N' : 'U', n, a, lda);
}

template <class T>
int trsm(int side, int uplo, int trans, int diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb) {
  ++calls;
  const auto on = side == 0 ? CblasLeft : CblasRight;
  const auto triangle = uplo == 0 ? CblasLower : CblasUpper;
  const auto op = trans == 0 ? CblasNoTrans : CblasTrans;
  const auto diagonal = diag == 0 ? CblasNonUnit : CblasUnit;
  if constexpr (sizeof(T) == 4) {
    cblas_strsm(CblasColMajor, on, triangle, op, diagonal, m, n, alpha, a, lda, b, ldb);
  } else {
    cblas_dtrsm(CblasColMajor, on, triangle, op, diagonal, m, n, alpha, a, lda, b, ldb);
  }
  return 0;
}

/// Counts a call, and returns cuSOLVER's status for LAPACK's info, which it stores.
int finish(int lapack_info, int* info) {
  ++calls;
  *info = lapack_info;
  return lapack_info < 0 ? invalid_value : 0;
}

std::vector<int> narrow(const std::int64_t* pivots, std::int64_t n) {
  return {pivots, pivots + n};
}

}  // namespace

extern "C" {
/// Returns the number of calls since the last time, except queries.
int fake_calls() {
  return calls.exchange(0);
}

/// For the test: the pointer mode of all cuBLAS handles.
void fake_set_pointer_mode(int mode) {
  pointer_mode = mode;
}

int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = pointer_mode;
  return 0;
}

int cublasGetStream_v2(void*, void** stream) {
  *stream = nullptr;
  return 0;
}

int cusolverDnGetStream(void*, void** stream) {
  *stream = nullptr;
  return 0;
}

#define FAKE_DN(p, T)                                                                                        \
  int cusolverDn##p##getrf_bufferSize(void*, int, int, T*, int, int* lwork) {                                \
    *lwork = vendors_elements;                                                                               \
    return 0;                                                                                                \
  }                                                                                                          \
  int cusolverDn##p##getrf(void*, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {            \
    std::fill(work, work + vendors_elements, T(1));                                                          \
    std::vector<int> unused(static_cast<std::size_t>(std::max(1, std::min(m, n))));                          \
    return finish(getrf(m, n, a, lda, pivots == nullptr ? unused.data() : pivots), info);                    \
  }                                                                                                          \
  int cusolverDn##p##getrs(void*, int trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b, \
                           int ldb, int* info) {                                                             \
    return finish(getrs(trans, n, nrhs, lu, lda, pivots, b, ldb), info);                                     \
  }                                                                                                          \
  int cusolverDn##p##potrf_bufferSize(void*, int, int, T*, int, int* lwork) {                                \
    *lwork = vendors_elements;                                                                               \
    return 0;                                                                                                \
  }                                                                                                          \
  int cusolverDn##p##potrf(void*, int uplo, int n, T* a, int lda, T*, int lwork, int* info) {                \
    return finish(lwork < vendors_elements ? -7 : potrf(uplo, n, a, lda), info);                             \
  }                                                                                                          \
  int cusolverDn##p##potrs(void*, int uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb,             \
                           int* info) {                                                                      \
    return finish(potrs(uplo, n, nrhs, a, lda, b, ldb), info);                                               \
  }                                                                                                          \
  int cusolverDn##p##potri_bufferSize(void*, int, int, T*, int, int* lwork) {                                \
    *lwork = vendors_elements;                                                                               \
    return 0;                                                                                                \
  }                                                                                                          \
  int cusolverDn##p##potri(void*, int uplo, int n, T* a, int lda, T*, int lwork, int* info) {                \
    return finish(lwork < vendors_elements ? -7 : potri(uplo, n, a, lda), info);                             \
  }                                                                                                          \
  int cublas##p##trsm_v2(void*, int side, int uplo, int trans, int diag, int m, int n, const T* alpha,       \
                         const T* a, int lda, T* b, int ldb) {                                               \
    return trsm(side, uplo, trans, diag, m, n, *alpha, a, lda, b, ldb);                                      \
  }                                                                                                          \
  int cublas##p##trsm_v2_64(void*, int side, int uplo, int trans, int diag, std::int64_t m, std::int64_t n,  \
                            const T* alpha, const T* a, std::int64_t lda, T* b, std::int64_t ldb) {          \
    return trsm(side, uplo, trans, diag, static_cast<int>(m), static_cast<int>(n), *alpha, a,                \
                static_cast<int>(lda), b, static_cast<int>(ldb));                                            \
  }

FAKE_DN(S, float)
FAKE_DN(D, double)

int cusolverDnXgetrf_bufferSize(void*, void*, std::int64_t, std::int64_t, int, const void*, std::int64_t, int,
                                std::size_t* bytes, std::size_t* host_bytes) {
  *bytes = vendors_elements;
  *host_bytes = 5;
  return 0;
}

int cusolverDnXgetrf(void*, void*, std::int64_t m, std::int64_t n, int type, void* a, std::int64_t lda,
                     std::int64_t* pivots, int, void*, std::size_t, void*, std::size_t, int* info) {
  std::vector<int> narrow_pivots(static_cast<std::size_t>(std::min(m, n)));
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), ld = static_cast<int>(lda);
  const int result = type == 0 ? getrf(rows, columns, static_cast<float*>(a), ld, narrow_pivots.data())
                               : getrf(rows, columns, static_cast<double*>(a), ld, narrow_pivots.data());
  std::copy(narrow_pivots.begin(), narrow_pivots.end(), pivots);
  return finish(result, info);
}

int cusolverDnXgetrs(void*, void*, int trans, std::int64_t n, std::int64_t nrhs, int type, const void* lu,
                     std::int64_t lda, const std::int64_t* pivots, int, void* b, std::int64_t ldb,
                     int* info) {
  const std::vector<int> narrow_pivots = narrow(pivots, n);
  const int order = static_cast<int>(n), columns = static_cast<int>(nrhs);
  const int ld = static_cast<int>(lda), ld_b = static_cast<int>(ldb);
  return finish(type == 0 ? getrs(trans, order, columns, static_cast<const float*>(lu), ld,
                                  narrow_pivots.data(), static_cast<float*>(b), ld_b)
                          : getrs(trans, order, columns, static_cast<const double*>(lu), ld,
                                  narrow_pivots.data(), static_cast<double*>(b), ld_b),
                info);
}

int cusolverDnXpotrf_bufferSize(void*, void*, int, std::int64_t, int, const void*, std::int64_t, int,
                                std::size_t* bytes, std::size_t* host_bytes) {
  *bytes = vendors_elements;
  *host_bytes = 5;
  return 0;
}

int cusolverDnXpotrf(void*, void*, int uplo, std::int64_t n, int type, void* a, std::int64_t lda, int, void*,
                     std::size_t, void*, std::size_t, int* info) {
  const int order = static_cast<int>(n), ld = static_cast<int>(lda);
  return finish(type == 0 ? potrf(uplo, order, static_cast<float*>(a), ld)
                          : potrf(uplo, order, static_cast<double*>(a), ld),
                info);
}

int cusolverDnXpotrs(void*, void*, int uplo, std::int64_t n, std::int64_t nrhs, int type, const void* a,
                     std::int64_t lda, int, void* b, std::int64_t ldb, int* info) {
  const int order = static_cast<int>(n), columns = static_cast<int>(nrhs);
  const int ld = static_cast<int>(lda), ld_b = static_cast<int>(ldb);
  return finish(
      type == 0
          ? potrs(uplo, order, columns, static_cast<const float*>(a), ld, static_cast<float*>(b), ld_b)
          : potrs(uplo, order, columns, static_cast<const double*>(a), ld, static_cast<double*>(b), ld_b),
      info);
}

int cusolverDnXtrtri_bufferSize(void*, int, int, std::int64_t, int, void*, std::int64_t, std::size_t* bytes,
                                std::size_t* host_bytes) {
  *bytes = vendors_elements;
  *host_bytes = 5;
  return 0;
}

int cusolverDnXtrtri(void*, int uplo, int diag, std::int64_t n, int type, void* a, std::int64_t lda, void*,
                     std::size_t, void*, std::size_t, int* info) {
  const int order = static_cast<int>(n), ld = static_cast<int>(lda);
  return finish(type == 0 ? trtri(uplo, diag, order, static_cast<float*>(a), ld)
                          : trtri(uplo, diag, order, static_cast<double*>(a), ld),
                info);
}
}
