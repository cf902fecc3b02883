/// A fake libcusolver.so.12, which also has cuBLAS's trsm. It calls LAPACK and BLAS on host memory, and
/// counts the calls. Its queries return smaller workspaces than libgaussweep's, so that tests can tell which
/// one answered.

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace {

std::atomic<int> calls{0};
int pointer_mode = 0;
constexpr int invalid_value = 3, workspace_elements = 7;

char letter(int uplo) {
  return uplo == 0 ? 'L' : 'U';
}

#define LAPACK(l, T)                                                                                        \
  int getrf(int m, int n, T* a, int lda, int* pivots) {                                                     \
    return LAPACKE_##l##getrf(LAPACK_COL_MAJOR, m, n, a, lda, pivots);                                      \
  }                                                                                                         \
  int getrs(int trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b, int ldb) {           \
    return LAPACKE_##l##getrs(LAPACK_COL_MAJOR, trans == 0 ? 'N' : 'T', n, nrhs, lu, lda, pivots, b, ldb);  \
  }                                                                                                         \
  int potrf(int uplo, int n, T* a, int lda) {                                                               \
    return LAPACKE_##l##potrf(LAPACK_COL_MAJOR, letter(uplo), n, a, lda);                                   \
  }                                                                                                         \
  int potrs(int uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb) {                                \
    return LAPACKE_##l##potrs(LAPACK_COL_MAJOR, letter(uplo), n, nrhs, a, lda, b, ldb);                     \
  }                                                                                                         \
  int potri(int uplo, int n, T* a, int lda) {                                                               \
    return LAPACKE_##l##potri(LAPACK_COL_MAJOR, letter(uplo), n, a, lda);                                   \
  }                                                                                                         \
  int trtri(int uplo, int diag, int n, T* a, int lda) {                                                     \
    return LAPACKE_##l##trtri(LAPACK_COL_MAJOR, letter(uplo), diag == 0 ? 'N' : 'U', n, a, lda);            \
  }                                                                                                         \
  int trsm(int side, int uplo, int trans, int diag, int m, int n, T alpha, const T* a, int lda, T* b,       \
           int ldb) {                                                                                       \
    ++calls;                                                                                                \
    cblas_##l##trsm(CblasColMajor, side == 0 ? CblasLeft : CblasRight, uplo == 0 ? CblasLower : CblasUpper, \
                    trans == 0 ? CblasNoTrans : CblasTrans, diag == 0 ? CblasNonUnit : CblasUnit, m, n,     \
                    alpha, a, lda, b, ldb);                                                                 \
    return 0;                                                                                               \
  }

LAPACK(s, float)
LAPACK(d, double)
#undef LAPACK

/// Counts a call, stores LAPACK's info, and returns cuSOLVER's status for it.
int finish(int lapack_info, int* info) {
  ++calls;
  *info = lapack_info;
  return lapack_info < 0 ? invalid_value : 0;
}

int to_int(std::int64_t size) {
  return static_cast<int>(size);
}

int small_workspace(std::size_t* bytes, std::size_t* host_bytes) {
  *bytes = workspace_elements;
  *host_bytes = 5;
  return 0;
}

/// Calls `routine` with a pointer to the matrix in its element type. @param type a cudaDataType
template <class Routine>
int call_with_type(int type, void* matrix, Routine routine) {
  return type == 0 ? routine(static_cast<float*>(matrix)) : routine(static_cast<double*>(matrix));
}

}  // namespace

extern "C" {
/// For tests: returns the number of calls, without queries, since the last call of this function.
int fake_calls() {
  return calls.exchange(0);
}

/// For tests: sets the pointer mode of all cuBLAS handles.
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
    *lwork = workspace_elements;                                                                             \
    return 0;                                                                                                \
  }                                                                                                          \
  int cusolverDn##p##getrf(void*, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {            \
    std::fill(work, work + workspace_elements, T(1));                                                        \
    std::vector<int> unused(static_cast<std::size_t>(std::max(1, std::min(m, n))));                          \
    return finish(getrf(m, n, a, lda, pivots == nullptr ? unused.data() : pivots), info);                    \
  }                                                                                                          \
  int cusolverDn##p##getrs(void*, int trans, int n, int nrhs, const T* lu, int lda, const int* pivots, T* b, \
                           int ldb, int* info) {                                                             \
    return finish(getrs(trans, n, nrhs, lu, lda, pivots, b, ldb), info);                                     \
  }                                                                                                          \
  int cusolverDn##p##potrf_bufferSize(void*, int, int, T*, int, int* lwork) {                                \
    *lwork = workspace_elements;                                                                             \
    return 0;                                                                                                \
  }                                                                                                          \
  int cusolverDn##p##potrf(void*, int uplo, int n, T* a, int lda, T*, int lwork, int* info) {                \
    return finish(lwork < workspace_elements ? -7 : potrf(uplo, n, a, lda), info);                           \
  }                                                                                                          \
  int cusolverDn##p##potrs(void*, int uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb,             \
                           int* info) {                                                                      \
    return finish(potrs(uplo, n, nrhs, a, lda, b, ldb), info);                                               \
  }                                                                                                          \
  int cusolverDn##p##potri_bufferSize(void*, int, int, T*, int, int* lwork) {                                \
    *lwork = workspace_elements;                                                                             \
    return 0;                                                                                                \
  }                                                                                                          \
  int cusolverDn##p##potri(void*, int uplo, int n, T* a, int lda, T*, int lwork, int* info) {                \
    return finish(lwork < workspace_elements ? -7 : potri(uplo, n, a, lda), info);                           \
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
  return small_workspace(bytes, host_bytes);
}

int cusolverDnXgetrf(void*, void*, std::int64_t m, std::int64_t n, int type, void* a, std::int64_t lda,
                     std::int64_t* pivots, int, void*, std::size_t, void*, std::size_t, int* info) {
  std::vector<int> pivots32(static_cast<std::size_t>(std::min(m, n)));
  const int result = call_with_type(type, a, [&](auto* matrix) {
    return getrf(to_int(m), to_int(n), matrix, to_int(lda), pivots32.data());
  });
  std::copy(pivots32.begin(), pivots32.end(), pivots);
  return finish(result, info);
}

int cusolverDnXgetrs(void*, void*, int trans, std::int64_t n, std::int64_t nrhs, int type, const void* lu,
                     std::int64_t lda, const std::int64_t* pivots, int, void* b, std::int64_t ldb,
                     int* info) {
  const std::vector<int> pivots32(pivots, pivots + n);
  return finish(call_with_type(type, b,
                               [&](auto* x) {
                                 return getrs(trans, to_int(n), to_int(nrhs),
                                              static_cast<decltype(x)>(const_cast<void*>(lu)), to_int(lda),
                                              pivots32.data(), x, to_int(ldb));
                               }),
                info);
}

int cusolverDnXpotrf_bufferSize(void*, void*, int, std::int64_t, int, const void*, std::int64_t, int,
                                std::size_t* bytes, std::size_t* host_bytes) {
  return small_workspace(bytes, host_bytes);
}

int cusolverDnXpotrf(void*, void*, int uplo, std::int64_t n, int type, void* a, std::int64_t lda, int, void*,
                     std::size_t, void*, std::size_t, int* info) {
  return finish(
      call_with_type(type, a, [&](auto* matrix) { return potrf(uplo, to_int(n), matrix, to_int(lda)); }),
      info);
}

int cusolverDnXpotrs(void*, void*, int uplo, std::int64_t n, std::int64_t nrhs, int type, const void* a,
                     std::int64_t lda, int, void* b, std::int64_t ldb, int* info) {
  return finish(call_with_type(type, b,
                               [&](auto* x) {
                                 return potrs(uplo, to_int(n), to_int(nrhs),
                                              static_cast<decltype(x)>(const_cast<void*>(a)), to_int(lda), x,
                                              to_int(ldb));
                               }),
                info);
}

int cusolverDnXtrtri_bufferSize(void*, int, int, std::int64_t, int, void*, std::int64_t, std::size_t* bytes,
                                std::size_t* host_bytes) {
  return small_workspace(bytes, host_bytes);
}

int cusolverDnXtrtri(void*, int uplo, int diag, std::int64_t n, int type, void* a, std::int64_t lda, void*,
                     std::size_t, void*, std::size_t, int* info) {
  return finish(call_with_type(
                    type, a, [&](auto* matrix) { return trtri(uplo, diag, to_int(n), matrix, to_int(lda)); }),
                info);
}
}
