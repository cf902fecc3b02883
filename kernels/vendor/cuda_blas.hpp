#pragma once
/// cuBLAS and cuSOLVER, one name for both precisions: the only place where their S and D names are spelt. The
/// same functions as blas.hpp, with the handles first and every pointer on the device. Only in builds with
/// CUDA.
///
/// All are asynchronous on the device's stream. Memory that cuSOLVER wants beside the operands comes from
/// VendorHandles::scratch. `info` is an int on the device. @throws DeviceError, OutOfMemory,
/// std::invalid_argument (sizes beyond 2^31 - 1)

#include <cstdint>

#include "kernels/core/enums.hpp"
#include "kernels/vendor/enums.hpp"
#include "kernels/vendor/handles.hpp"

namespace gaussweep::vendor {

/// C (m x n) = alpha op(A) op(B) + beta C, with k the inner size.
void gemm(VendorHandles& handles, Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
          float* c, std::int64_t ldc);
void gemm(VendorHandles& handles, Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta,
          double* c, std::int64_t ldc);

/// `count` products C = alpha op(A) B + beta C of one shape, the operands of each `step` elements behind the
/// last.
void gemm_batch(VendorHandles& handles, Op op_a, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                const float* a, std::int64_t lda, std::int64_t a_step, const float* b, std::int64_t ldb,
                std::int64_t b_step, float beta, float* c, std::int64_t ldc, std::int64_t c_step,
                std::int64_t count);
void gemm_batch(VendorHandles& handles, Op op_a, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                const double* a, std::int64_t lda, std::int64_t a_step, const double* b, std::int64_t ldb,
                std::int64_t b_step, double beta, double* c, std::int64_t ldc, std::int64_t c_step,
                std::int64_t count);

/// The same as `gemm` without transposes for A and B in half precision (__half), summed up in float, on
/// tensor cores. Fastest where lda and ldb are multiples of 8.
void gemm_of_halves(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                    const void* a, std::int64_t lda, const void* b, std::int64_t ldb, float beta, float* c,
                    std::int64_t ldc);
/// `count` products C = alpha A B^T + beta C of the same kind, n x k the shape of B. The operands of each lie
/// so many elements behind those of the one before.
void gemm_batch_of_halves(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                          const void* a, std::int64_t lda, std::int64_t a_step, const void* b,
                          std::int64_t ldb, std::int64_t b_step, float beta, float* c, std::int64_t ldc,
                          std::int64_t c_step, std::int64_t count);

/// The triangle `uplo` of C (n x n) = alpha op(A) op(A)^T + beta C, with k the inner size.
void syrk(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t k, float alpha,
          const float* a, std::int64_t lda, float beta, float* c, std::int64_t ldc);
void syrk(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha,
          const double* a, std::int64_t lda, double beta, double* c, std::int64_t ldc);

/// C = A B by the library's own emulation in lower precisions, whether or not that is faster. Floats take
/// nine products of bfloat16, doubles fixed point of `mantissa_bits` bits; with 0 the library chooses their
/// number. @throws NotOffered where the library has none, or none for this GPU
void gemm_emulated(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, int mantissa_bits,
                   const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                   std::int64_t ldc);
void gemm_emulated(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, int mantissa_bits,
                   const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double* c,
                   std::int64_t ldc);

/// C (m x n) = A^T B of bytes, summed up exactly in ints on tensor cores. A is k x m and B k x n, all without
/// gaps between columns. @pre all sizes are multiples of 16
void gemm_of_bytes(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k,
                   const signed char* a, const signed char* b, int* c);

/// x = op(A)^-1 x, A triangular. A zero on the diagonal is not looked for.
void trsv(VendorHandles& handles, Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const float* a,
          std::int64_t lda, float* x);
void trsv(VendorHandles& handles, Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const double* a,
          std::int64_t lda, double* x);

/// B (m x n) = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
void trsm(VendorHandles& handles, Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m,
          std::int64_t n, float alpha, const float* a, std::int64_t lda, float* b, std::int64_t ldb);
void trsm(VendorHandles& handles, Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m,
          std::int64_t n, double alpha, const double* a, std::int64_t lda, double* b, std::int64_t ldb);

/// A (m x n) = P L U in place. `pivots`: min(m, n) entries, from 1.
void getrf(VendorHandles& handles, std::int64_t m, std::int64_t n, float* a, std::int64_t lda, int* pivots,
           int* info);
void getrf(VendorHandles& handles, std::int64_t m, std::int64_t n, double* a, std::int64_t lda, int* pivots,
           int* info);

/// B = op(A)^-1 B from getrf's factors. Has no info of its own, so that getrf's is kept.
void getrs(VendorHandles& handles, Op op, std::int64_t n, std::int64_t nrhs, const float* lu,
           std::int64_t lda, const int* pivots, float* b, std::int64_t ldb);
void getrs(VendorHandles& handles, Op op, std::int64_t n, std::int64_t nrhs, const double* lu,
           std::int64_t lda, const int* pivots, double* b, std::int64_t ldb);

/// The Cholesky factor of the symmetric A in its triangle `uplo`: A = L L^T or U^T U.
void potrf(VendorHandles& handles, Uplo uplo, std::int64_t n, float* a, std::int64_t lda, int* info);
void potrf(VendorHandles& handles, Uplo uplo, std::int64_t n, double* a, std::int64_t lda, int* info);

/// B = A^-1 B from potrf's factor. Has no info of its own, so that potrf's is kept.
void potrs(VendorHandles& handles, Uplo uplo, std::int64_t n, std::int64_t nrhs, const float* factor,
           std::int64_t lda, float* b, std::int64_t ldb);
void potrs(VendorHandles& handles, Uplo uplo, std::int64_t n, std::int64_t nrhs, const double* factor,
           std::int64_t lda, double* b, std::int64_t ldb);

/// A^-1 in place of potrf's factor; the triangle `uplo` of it. Has no info of its own, so that potrf's is
/// kept.
void potri(VendorHandles& handles, Uplo uplo, std::int64_t n, float* a, std::int64_t lda);
void potri(VendorHandles& handles, Uplo uplo, std::int64_t n, double* a, std::int64_t lda);

/// The inverse of a triangular matrix in place.
void trtri(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, float* a, std::int64_t lda,
           int* info);
void trtri(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, double* a, std::int64_t lda,
           int* info);

}  // namespace gaussweep::vendor
