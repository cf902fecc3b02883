/* gaussweep in your program: dense linear algebra on an NVIDIA GPU, with a C interface like LAPACK's.
 *
 *   gaussweep_handle handle;
 *   gaussweep_create(&handle, 0);                          device 0, its default stream
 *   gaussweep_dgesv_work(handle, n, nrhs, 1, &bytes);      bytes of `work`, a device buffer of the caller
 *   gaussweep_dgesv(handle, n, nrhs, a, lda, b, ldb, info, 1, work, bytes);
 *   gaussweep_destroy(handle);
 *
 * Matrices are column-major with the leading dimensions lda, ldb and ldc. `a`, `b`, `c`, `pivots`, `info` and
 * `work` are device memory of the caller (host memory with GAUSSWEEP_EMULATED). A call queues its work on the
 * handle's stream; some methods also wait for the stream.
 * The first calls of a handle may allocate device memory for cuBLAS and cuSOLVER. A handle is used by one
 * thread at a time; several threads use several handles. Nothing is printed, and the calling thread's current
 * device stays the same.
 *
 * A batch has `batch` systems of equal shape: system s starts at a + s * n * lda, b + s * nrhs * ldb,
 * pivots + s * n and info + s.
 *
 * `info` receives LAPACK's info per system: 0, or i > 0 if pivot i (from 1) is zero or not positive. Then a
 * solve or an inverse has no defined answer. */
#ifndef GAUSSWEEP_H
#define GAUSSWEEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GAUSSWEEP_API_VERSION 1

typedef struct gaussweep_handle_t* gaussweep_handle;

typedef enum {
  GAUSSWEEP_SUCCESS = 0,
  GAUSSWEEP_INVALID_ARGUMENT = 1, /* nothing was queued; gaussweep_last_error names the argument */
  GAUSSWEEP_OUT_OF_MEMORY = 2,
  GAUSSWEEP_DEVICE_ERROR = 3,  /* CUDA, cuBLAS or cuSOLVER failed; a, b and c are undefined */
  GAUSSWEEP_NOT_SUPPORTED = 4, /* no method for this device */
  GAUSSWEEP_INTERNAL_ERROR = 5
} gaussweep_status;

/* The triangle of a matrix. The type is an integer, so that a call can refuse invalid values. */
typedef int gaussweep_uplo;
enum { GAUSSWEEP_LOWER = 0, GAUSSWEEP_UPPER = 1 };

/* Arguments of trsm: op(A) is A or its transpose; the diagonal of A is stored, or consists of ones that are
 * not read. */
typedef int gaussweep_op;
enum { GAUSSWEEP_NONE = 0, GAUSSWEEP_TRANSPOSE = 1 };
typedef int gaussweep_diagonal;
enum { GAUSSWEEP_STORED = 0, GAUSSWEEP_UNIT = 1 };

/* A value for `device`: the kernels run emulated on the CPU, slowly, with host memory. */
#define GAUSSWEEP_EMULATED (-1)

/* Creates a handle for GPU `device`, bound to the default stream. */
gaussweep_status gaussweep_create(gaussweep_handle* handle, int device);
/* Frees the handle's resources. A null handle is allowed. */
void gaussweep_destroy(gaussweep_handle handle);
/* Binds later calls to a stream (cudaStream_t) of the handle's device. A new stream frees what the handle has
 * cached. */
gaussweep_status gaussweep_set_stream(gaussweep_handle handle, void* stream);
/* Returns GAUSSWEEP_API_VERSION of the library. */
int gaussweep_api_version(void);
/* Returns a short text for a status. */
const char* gaussweep_status_text(gaussweep_status status);
/* Returns the message of the handle's last failed call, valid until the next call. With a null handle,
 * returns the message of the thread's last failed gaussweep_create. */
const char* gaussweep_last_error(gaussweep_handle handle);

/* Copy `count` pivots to 64-bit integers, or back, for callers whose own interface has 64-bit pivots. */
gaussweep_status gaussweep_widen_pivots(gaussweep_handle handle, int64_t count, const int* from, int64_t* to);
gaussweep_status gaussweep_narrow_pivots(gaussweep_handle handle, int64_t count, const int64_t* from,
                                         int* to);

/* Every routine exists for float (s) and double (d). Functions that end in _work return in `bytes` the size
 * of `work` for these sizes. `batch` is 1 for a single system. getrf, potrf and trtri of a single A that is
 * aligned to 256 bytes, with lda = n, need less, because they do not copy A: subtract the bytes of A, rounded
 * up to a multiple of 256.
 *
 * getrf  P A = L U in place; the unit diagonal of L is not stored. pivots[i] = r: row i was exchanged with
 *        row r (both from 1), as in LAPACK
 * getrs  A X = B with factors and pivots of getrf, LAPACK or cuSOLVER: B becomes X. info is 0, as in LAPACK
 * gesv   A X = B: B becomes X; A is destroyed
 * potrf  A = L L^T or U^T U: the factor replaces the triangle `uplo`; the other one is not referenced
 * potrs  A X = B with the factor of potrf: B becomes X. Needs compute capability 9.0 or later
 * potri  the triangle `uplo` of the inverse replaces the factor of potrf. Needs compute capability 9.0 or
 *        later
 * posv   A X = B for symmetric positive definite A: B becomes X; the triangle `uplo` of A becomes undefined
 * trsm   op(A) X = B for the triangle `uplo` of A: B becomes X. Needs compute capability 9.0 or later
 * geinv  A becomes its inverse
 * poinv  a symmetric positive definite A becomes its inverse. Both triangles are read and written
 * trtri  the triangle `uplo` of A becomes its inverse; the other one is not referenced
 * gemm   C = A B; A is m x k, B k x n, C m x n */
#define GAUSSWEEP_ROUTINES_(p, T)                                                                            \
  gaussweep_status gaussweep_##p##getrf_work(gaussweep_handle, int64_t n, int64_t batch, size_t* bytes);     \
  gaussweep_status gaussweep_##p##getrf(gaussweep_handle, int64_t n, T* a, int64_t lda, int* pivots,         \
                                        int* info, int64_t batch, void* work, size_t bytes);                 \
  gaussweep_status gaussweep_##p##getrs_work(gaussweep_handle, int64_t n, int64_t nrhs, size_t* bytes);      \
  gaussweep_status gaussweep_##p##getrs(gaussweep_handle, int64_t n, int64_t nrhs, const T* lu, int64_t lda, \
                                        const int* pivots, T* b, int64_t ldb, int* info, void* work,         \
                                        size_t bytes);                                                       \
  gaussweep_status gaussweep_##p##trsm_work(gaussweep_handle, int64_t n, int64_t nrhs, size_t* bytes);       \
  gaussweep_status gaussweep_##p##trsm(gaussweep_handle, gaussweep_uplo, gaussweep_op, gaussweep_diagonal,   \
                                       int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb,  \
                                       void* work, size_t bytes);                                            \
  gaussweep_status gaussweep_##p##potrs_work(gaussweep_handle, int64_t n, int64_t nrhs, size_t* bytes);      \
  gaussweep_status gaussweep_##p##potrs(gaussweep_handle, gaussweep_uplo, int64_t n, int64_t nrhs,           \
                                        const T* a, int64_t lda, T* b, int64_t ldb, int* info, void* work,   \
                                        size_t bytes);                                                       \
  gaussweep_status gaussweep_##p##potri_work(gaussweep_handle, int64_t n, size_t* bytes);                    \
  gaussweep_status gaussweep_##p##potri(gaussweep_handle, gaussweep_uplo, int64_t n, T* a, int64_t lda,      \
                                        int* info, void* work, size_t bytes);                                \
  gaussweep_status gaussweep_##p##gesv_work(gaussweep_handle, int64_t n, int64_t nrhs, int64_t batch,        \
                                            size_t* bytes);                                                  \
  gaussweep_status gaussweep_##p##gesv(gaussweep_handle, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b,   \
                                       int64_t ldb, int* info, int64_t batch, void* work, size_t bytes);     \
  gaussweep_status gaussweep_##p##potrf_work(gaussweep_handle, gaussweep_uplo, int64_t n, int64_t batch,     \
                                             size_t* bytes);                                                 \
  gaussweep_status gaussweep_##p##potrf(gaussweep_handle, gaussweep_uplo, int64_t n, T* a, int64_t lda,      \
                                        int* info, int64_t batch, void* work, size_t bytes);                 \
  gaussweep_status gaussweep_##p##posv_work(gaussweep_handle, gaussweep_uplo, int64_t n, int64_t nrhs,       \
                                            int64_t batch, size_t* bytes);                                   \
  gaussweep_status gaussweep_##p##posv(gaussweep_handle, gaussweep_uplo, int64_t n, int64_t nrhs, T* a,      \
                                       int64_t lda, T* b, int64_t ldb, int* info, int64_t batch, void* work, \
                                       size_t bytes);                                                        \
  gaussweep_status gaussweep_##p##geinv_work(gaussweep_handle, int64_t n, int64_t batch, size_t* bytes);     \
  gaussweep_status gaussweep_##p##geinv(gaussweep_handle, int64_t n, T* a, int64_t lda, int* info,           \
                                        int64_t batch, void* work, size_t bytes);                            \
  gaussweep_status gaussweep_##p##poinv_work(gaussweep_handle, int64_t n, size_t* bytes);                    \
  gaussweep_status gaussweep_##p##poinv(gaussweep_handle, int64_t n, T* a, int64_t lda, int* info,           \
                                        void* work, size_t bytes);                                           \
  gaussweep_status gaussweep_##p##trtri_work(gaussweep_handle, gaussweep_uplo, int64_t n, size_t* bytes);    \
  gaussweep_status gaussweep_##p##trtri(gaussweep_handle, gaussweep_uplo, int64_t n, T* a, int64_t lda,      \
                                        int* info, void* work, size_t bytes);                                \
  gaussweep_status gaussweep_##p##gemm_work(gaussweep_handle, int64_t m, int64_t n, int64_t k,               \
                                            size_t* bytes);                                                  \
  gaussweep_status gaussweep_##p##gemm(gaussweep_handle, int64_t m, int64_t n, int64_t k, const T* a,        \
                                       int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, void* work,  \
                                       size_t bytes);

GAUSSWEEP_ROUTINES_(s, float)
GAUSSWEEP_ROUTINES_(d, double)

#ifdef __cplusplus
}
#endif

#endif
