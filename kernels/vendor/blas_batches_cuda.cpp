// Implements cuda_batches.hpp.

#include <stdexcept>
#include <string>

#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep::vendor {
namespace {

cublasFillMode_t triangle(Uplo uplo) {
  return uplo == Uplo::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

/// Checks getrsBatched's info, which is on the host and only reports wrong arguments.
void require_valid_arguments(int info) {
  if (info != 0)
    throw std::logic_error("getrsBatched: argument " + std::to_string(-info) + " is not allowed");
}

}  // namespace

#define GAUSSWEEP_BATCHES(T, S)                                                                              \
  void getrf_batch(VendorHandles& handles, std::int64_t n, T** a, std::int64_t lda, int* pivots, int* infos, \
                   std::int64_t count) {                                                                     \
    GAUSSWEEP_CUBLAS(                                                                                        \
        cublas##S##getrfBatched(handles.blas(), to_int(n), a, to_int(lda), pivots, infos, to_int(count)));   \
  }                                                                                                          \
  void getrs_batch(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, T** lu, std::int64_t lda,      \
                   const int* pivots, T** b, std::int64_t ldb, std::int64_t count) {                         \
    int info = 0;                                                                                            \
    GAUSSWEEP_CUBLAS(cublas##S##getrsBatched(handles.blas(), CUBLAS_OP_N, to_int(n), to_int(nrhs), lu,       \
                                             to_int(lda), pivots, b, to_int(ldb), &info, to_int(count)));    \
    require_valid_arguments(info);                                                                           \
  }                                                                                                          \
  void getri_batch(VendorHandles& handles, std::int64_t n, T** lu, std::int64_t lda, const int* pivots,      \
                   T** x, std::int64_t ldx, int* infos, std::int64_t count) {                                \
    GAUSSWEEP_CUBLAS(cublas##S##getriBatched(handles.blas(), to_int(n), lu, to_int(lda), pivots, x,          \
                                             to_int(ldx), infos, to_int(count)));                            \
  }                                                                                                          \
  void matinv_batch(VendorHandles& handles, std::int64_t n, T** a, std::int64_t lda, T** x,                  \
                    std::int64_t ldx, int* infos, std::int64_t count) {                                      \
    GAUSSWEEP_CUBLAS(cublas##S##matinvBatched(handles.blas(), to_int(n), a, to_int(lda), x, to_int(ldx),     \
                                              infos, to_int(count)));                                        \
  }                                                                                                          \
  void trsm_batch(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t nrhs, T** a,        \
                  std::int64_t lda, T** b, std::int64_t ldb, std::int64_t count) {                           \
    const T one = 1;                                                                                         \
    const cublasOperation_t trans = op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T;                              \
    GAUSSWEEP_CUBLAS(cublas##S##trsmBatched(handles.blas(), CUBLAS_SIDE_LEFT, triangle(uplo), trans,         \
                                            CUBLAS_DIAG_NON_UNIT, to_int(n), to_int(nrhs), &one, a,          \
                                            to_int(lda), b, to_int(ldb), to_int(count)));                    \
  }                                                                                                          \
  void potrf_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, T** a, std::int64_t lda, int* infos,   \
                   std::int64_t count) {                                                                     \
    GAUSSWEEP_CUSOLVER(cusolverDn##S##potrfBatched(handles.solver(), triangle(uplo), to_int(n), a,           \
                                                   to_int(lda), infos, to_int(count)));                      \
  }                                                                                                          \
  void potrs_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, T** factor, std::int64_t lda, T** b,   \
                   std::int64_t ldb, std::int64_t count) {                                                   \
    GAUSSWEEP_CUSOLVER(cusolverDn##S##potrsBatched(handles.solver(), triangle(uplo), to_int(n), /*nrhs=*/1,  \
                                                   factor, to_int(lda), b, to_int(ldb),                      \
                                                   handles.spare_info(), to_int(count)));                    \
  }
GAUSSWEEP_BATCHES(float, S)
GAUSSWEEP_BATCHES(double, D)
#undef GAUSSWEEP_BATCHES

}  // namespace gaussweep::vendor
