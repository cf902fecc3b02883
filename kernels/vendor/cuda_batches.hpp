#pragma once
/// The batched routines of cuBLAS and cuSOLVER, the counterparts of cuda_blas.hpp for many small systems.
/// Their operands are arrays on the device with pointers to `count` matrices of one shape. There are n pivots
/// and one info per matrix.

#include <cstdint>

#include "kernels/core/enums.hpp"
#include "kernels/vendor/enums.hpp"
#include "kernels/vendor/handles.hpp"

namespace gaussweep::vendor {

/// Factors A = P L U in place. Pivots are counted from 1.
void getrf_batch(VendorHandles& handles, std::int64_t n, float** a, std::int64_t lda, int* pivots, int* infos,
                 std::int64_t count);
void getrf_batch(VendorHandles& handles, std::int64_t n, double** a, std::int64_t lda, int* pivots,
                 int* infos, std::int64_t count);

/// Computes B = A^-1 B from getrf_batch's factors.
void getrs_batch(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, float** lu, std::int64_t lda,
                 const int* pivots, float** b, std::int64_t ldb, std::int64_t count);
void getrs_batch(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, double** lu, std::int64_t lda,
                 const int* pivots, double** b, std::int64_t ldb, std::int64_t count);

/// Computes X = A^-1 from getrf_batch's factors.
void getri_batch(VendorHandles& handles, std::int64_t n, float** lu, std::int64_t lda, const int* pivots,
                 float** x, std::int64_t ldx, int* infos, std::int64_t count);
void getri_batch(VendorHandles& handles, std::int64_t n, double** lu, std::int64_t lda, const int* pivots,
                 double** x, std::int64_t ldx, int* infos, std::int64_t count);

/// Computes X = A^-1 in one call. @pre n <= 32
void matinv_batch(VendorHandles& handles, std::int64_t n, float** a, std::int64_t lda, float** x,
                  std::int64_t ldx, int* infos, std::int64_t count);
void matinv_batch(VendorHandles& handles, std::int64_t n, double** a, std::int64_t lda, double** x,
                  std::int64_t ldx, int* infos, std::int64_t count);

/// Replaces the triangle `uplo` by the Cholesky factor.
void potrf_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, float** a, std::int64_t lda, int* infos,
                 std::int64_t count);
void potrf_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, double** a, std::int64_t lda, int* infos,
                 std::int64_t count);

/// Computes B = op(A)^-1 B from the triangle `uplo` of A.
void trsm_batch(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t nrhs, float** a,
                std::int64_t lda, float** b, std::int64_t ldb, std::int64_t count);
void trsm_batch(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t nrhs, double** a,
                std::int64_t lda, double** b, std::int64_t ldb, std::int64_t count);

/// Computes b = A^-1 b from potrf_batch's factor, for one right-hand side.
void potrs_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, float** factor, std::int64_t lda,
                 float** b, std::int64_t ldb, std::int64_t count);
void potrs_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, double** factor, std::int64_t lda,
                 double** b, std::int64_t ldb, std::int64_t count);

}  // namespace gaussweep::vendor
