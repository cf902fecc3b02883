#pragma once
/// cuBLAS and cuSOLVER. Functions are overloaded for float and double; only the *_cuda.cpp files use the
/// names with S and D. The functions are those of blas.hpp, with the handles as first argument and all
/// pointers on the device. They exist only in builds with CUDA.
///
/// All functions are asynchronous on the device's stream. cuSOLVER's workspace comes from
/// VendorHandles::scratch. `info` is an int on the device. @throws DeviceError, OutOfMemory,
/// std::invalid_argument (sizes beyond 2^31 - 1)

#include <cstdint>
#include <string>

#include "kernels/core/enums.hpp"
#include "kernels/vendor/enums.hpp"
#include "kernels/vendor/handles.hpp"

namespace gaussweep::vendor {

/// Computes C (m x n) = alpha op(A) op(B) + beta C; op(A) is m x k.
void gemm(VendorHandles& handles, Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
          float* c, std::int64_t ldc);
void gemm(VendorHandles& handles, Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta,
          double* c, std::int64_t ldc);

/// Computes `count` products C = alpha op(A) B + beta C of one shape. The operands of consecutive products
/// are `a_step`, `b_step` and `c_step` elements apart.
void gemm_batch(VendorHandles& handles, Op op_a, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                const float* a, std::int64_t lda, std::int64_t a_step, const float* b, std::int64_t ldb,
                std::int64_t b_step, float beta, float* c, std::int64_t ldc, std::int64_t c_step,
                std::int64_t count);
void gemm_batch(VendorHandles& handles, Op op_a, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                const double* a, std::int64_t lda, std::int64_t a_step, const double* b, std::int64_t ldb,
                std::int64_t b_step, double beta, double* c, std::int64_t ldc, std::int64_t c_step,
                std::int64_t count);

/// Computes C = alpha A B + beta C for A and B in half precision (__half), accumulated in float on tensor
/// cores. It is fastest if lda and ldb are multiples of 8.
void gemm_fp16(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
               const void* a, std::int64_t lda, const void* b, std::int64_t ldb, float beta, float* c,
               std::int64_t ldc);
/// Computes `count` products of this kind, but with B transposed: C = alpha A B^T + beta C, where B is n x k.
/// The operands of consecutive products are `a_step`, `b_step` and `c_step` elements apart.
void gemm_batch_fp16(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                     const void* a, std::int64_t lda, std::int64_t a_step, const void* b, std::int64_t ldb,
                     std::int64_t b_step, float beta, float* c, std::int64_t ldc, std::int64_t c_step,
                     std::int64_t count);

/// Computes the triangle `uplo` of C (n x n) = alpha op(A) op(A)^T + beta C; op(A) is n x k.
void syrk(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t k, float alpha,
          const float* a, std::int64_t lda, float beta, float* c, std::int64_t ldc);
void syrk(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha,
          const double* a, std::int64_t lda, double beta, double* c, std::int64_t ldc);

/// Computes `count` products C = A B by cuBLASLt. `candidate` is the index in the list of algorithms that
/// cuBLASLt's heuristic proposes (0: the one that it expects to be fastest). Matrices of consecutive products
/// are `a_step`, `b_step` and `c_step` elements apart.
/// @throws NotOffered if the heuristic proposes fewer algorithms
void gemm_lt(VendorHandles& handles, int candidate, std::int64_t m, std::int64_t n, std::int64_t k,
             const float* a, std::int64_t lda, std::int64_t a_step, const float* b, std::int64_t ldb,
             std::int64_t b_step, float* c, std::int64_t ldc, std::int64_t c_step, std::int64_t count);
void gemm_lt(VendorHandles& handles, int candidate, std::int64_t m, std::int64_t n, std::int64_t k,
             const double* a, std::int64_t lda, std::int64_t a_step, const double* b, std::int64_t ldb,
             std::int64_t b_step, double* c, std::int64_t ldc, std::int64_t c_step, std::int64_t count);

/// Computes C = A B by cuBLAS's emulation in lower precisions, even if that is slower. A float product is
/// emulated by nine bfloat16 products; a double product is emulated in fixed point with `mantissa_bits` bits
/// (0: cuBLAS chooses).
/// @throws NotOffered if the library has no emulation, or none for this GPU
void gemm_emulated(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, int mantissa_bits,
                   const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                   std::int64_t ldc);
void gemm_emulated(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, int mantissa_bits,
                   const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double* c,
                   std::int64_t ldc);

/// Computes C (m x n) = A^T B for 8-bit integers, accumulated exactly in 32 bits on tensor cores. A is k x m
/// and B is k x n, all with contiguous columns. @pre all sizes are multiples of 16
void gemm_int8(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, const signed char* a,
               const signed char* b, int* c);

/// Computes x = op(A)^-1 x, A triangular. Does not check for zeros on the diagonal.
void trsv(VendorHandles& handles, Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const float* a,
          std::int64_t lda, float* x);
void trsv(VendorHandles& handles, Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const double* a,
          std::int64_t lda, double* x);

/// Computes B (m x n) = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
void trsm(VendorHandles& handles, Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m,
          std::int64_t n, float alpha, const float* a, std::int64_t lda, float* b, std::int64_t ldb);
void trsm(VendorHandles& handles, Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m,
          std::int64_t n, double alpha, const double* a, std::int64_t lda, double* b, std::int64_t ldb);

/// Factors A (m x n) = P L U in place. `pivots` has min(m, n) entries, counted from 1.
void getrf(VendorHandles& handles, std::int64_t m, std::int64_t n, float* a, std::int64_t lda, int* pivots,
           int* info);
void getrf(VendorHandles& handles, std::int64_t m, std::int64_t n, double* a, std::int64_t lda, int* pivots,
           int* info);

/// Computes B = op(A)^-1 B from getrf's factors. Leaves getrf's info unchanged.
void getrs(VendorHandles& handles, Op op, std::int64_t n, std::int64_t nrhs, const float* lu,
           std::int64_t lda, const int* pivots, float* b, std::int64_t ldb);
void getrs(VendorHandles& handles, Op op, std::int64_t n, std::int64_t nrhs, const double* lu,
           std::int64_t lda, const int* pivots, double* b, std::int64_t ldb);

/// Solves A x = b by LU in the precision `lowest` (float, tf32, bfloat16, half) and iterative refinement
/// (gmres, gmres_gmres, classical, classical_gmres): cusolverDnIRSXgesv. Waits for the device. Returns the
/// number of iterations, or a negative number if refinement failed; A is then unchanged and x undefined.
/// @throws NotOffered if cuSOLVER lacks this combination for this GPU
int gesv_refined(VendorHandles& handles, std::int64_t n, const std::string& lowest,
                 const std::string& refinement, float* a, std::int64_t lda, float* b, std::int64_t ldb,
                 float* x, std::int64_t ldx, int* info);
int gesv_refined(VendorHandles& handles, std::int64_t n, const std::string& lowest,
                 const std::string& refinement, double* a, std::int64_t lda, double* b, std::int64_t ldb,
                 double* x, std::int64_t ldx, int* info);

/// Replaces the triangle `uplo` of the symmetric A by its Cholesky factor: A = L L^T or U^T U.
void potrf(VendorHandles& handles, Uplo uplo, std::int64_t n, float* a, std::int64_t lda, int* info);
void potrf(VendorHandles& handles, Uplo uplo, std::int64_t n, double* a, std::int64_t lda, int* info);

/// Computes B = A^-1 B from potrf's factor. Leaves potrf's info unchanged.
void potrs(VendorHandles& handles, Uplo uplo, std::int64_t n, std::int64_t nrhs, const float* factor,
           std::int64_t lda, float* b, std::int64_t ldb);
void potrs(VendorHandles& handles, Uplo uplo, std::int64_t n, std::int64_t nrhs, const double* factor,
           std::int64_t lda, double* b, std::int64_t ldb);

/// Replaces potrf's factor by the triangle `uplo` of A^-1. Leaves potrf's info unchanged.
void potri(VendorHandles& handles, Uplo uplo, std::int64_t n, float* a, std::int64_t lda);
void potri(VendorHandles& handles, Uplo uplo, std::int64_t n, double* a, std::int64_t lda);

/// Inverts a triangular matrix in place.
void trtri(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, float* a, std::int64_t lda,
           int* info);
void trtri(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, double* a, std::int64_t lda,
           int* info);

}  // namespace gaussweep::vendor
