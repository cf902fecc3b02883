#pragma once
/// The routines of cuBLAS and cuSOLVER for many small systems, as cuda_blas.hpp has those for one. They take
/// pointers on the device to `count` matrices of one shape, with n pivots and an info each.

#include <cstdint>

#include "kernels/core/enums.hpp"
#include "kernels/vendor/enums.hpp"
#include "kernels/vendor/handles.hpp"

namespace gaussweep::vendor {

/// A = P L U in place. `pivots`: from 1.
void getrf_batch(VendorHandles& handles, std::int64_t n, float** a, std::int64_t lda, int* pivots, int* infos,
                 std::int64_t count);
void getrf_batch(VendorHandles& handles, std::int64_t n, double** a, std::int64_t lda, int* pivots,
                 int* infos, std::int64_t count);

/// B = A^-1 B from getrf_batch's factors.
void getrs_batch(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, float** lu, std::int64_t lda,
                 const int* pivots, float** b, std::int64_t ldb, std::int64_t count);
void getrs_batch(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, double** lu, std::int64_t lda,
                 const int* pivots, double** b, std::int64_t ldb, std::int64_t count);

/// X = A^-1 from getrf_batch's factors.
void getri_batch(VendorHandles& handles, std::int64_t n, float** lu, std::int64_t lda, const int* pivots,
                 float** x, std::int64_t ldx, int* infos, std::int64_t count);
void getri_batch(VendorHandles& handles, std::int64_t n, double** lu, std::int64_t lda, const int* pivots,
                 double** x, std::int64_t ldx, int* infos, std::int64_t count);

/// X = A^-1 in one call. @pre n <= 32
void matinv_batch(VendorHandles& handles, std::int64_t n, float** a, std::int64_t lda, float** x,
                  std::int64_t ldx, int* infos, std::int64_t count);
void matinv_batch(VendorHandles& handles, std::int64_t n, double** a, std::int64_t lda, double** x,
                  std::int64_t ldx, int* infos, std::int64_t count);

/// The Cholesky factor in the triangle `uplo`.
void potrf_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, float** a, std::int64_t lda, int* infos,
                 std::int64_t count);
void potrf_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, double** a, std::int64_t lda, int* infos,
                 std::int64_t count);

/// B = op(A)^-1 B, of A the triangle `uplo`.
void trsm_batch(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t nrhs, float** a,
                std::int64_t lda, float** b, std::int64_t ldb, std::int64_t count);
void trsm_batch(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t nrhs, double** a,
                std::int64_t lda, double** b, std::int64_t ldb, std::int64_t count);

/// b = A^-1 b from potrf_batch's factor, one right-hand side.
void potrs_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, float** factor, std::int64_t lda,
                 float** b, std::int64_t ldb, std::int64_t count);
void potrs_batch(VendorHandles& handles, Uplo uplo, std::int64_t n, double** factor, std::int64_t lda,
                 double** b, std::int64_t ldb, std::int64_t count);

}  // namespace gaussweep::vendor
