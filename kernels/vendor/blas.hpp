#pragma once
/// BLAS and LAPACK on the host (OpenBLAS). Functions are overloaded for float and double; only blas.cpp uses
/// the names with S and D. Matrices are column-major, and operands are as in LAPACK's documentation. Sizes
/// beyond 2^31 - 1 throw std::invalid_argument. Functions return `info` >= 0; a negative `info`, which means
/// a wrong argument, throws std::logic_error.

#include <cstdint>

#include "kernels/core/enums.hpp"
#include "kernels/vendor/enums.hpp"

namespace gaussweep::vendor {

/// Converts `size` to the int that these libraries take. @throws std::invalid_argument
int to_int(std::int64_t size);

/// While an object of this class lives, OpenBLAS uses only the calling thread.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;

 private:
  int threads_;
};

/// Computes C (m x n) = alpha op(A) op(B) + beta C; op(A) is m x k.
void gemm(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
          std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);
void gemm(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a,
          std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc);

/// Computes the triangle `uplo` of C (n x n) = alpha op(A) op(A)^T + beta C; op(A) is n x k.
void syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, float alpha, const float* a, std::int64_t lda,
          float beta, float* c, std::int64_t ldc);
void syrk(Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
          double beta, double* c, std::int64_t ldc);

/// Computes B (m x n) = alpha op(A) B (left) or alpha B op(A) (right), A triangular.
void trmm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, float alpha,
          const float* a, std::int64_t lda, float* b, std::int64_t ldb);
void trmm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, double alpha,
          const double* a, std::int64_t lda, double* b, std::int64_t ldb);

/// Computes x = op(A)^-1 x, A triangular. Does not check for zeros on the diagonal.
void trsv(Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const float* a, std::int64_t lda, float* x);
void trsv(Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const double* a, std::int64_t lda, double* x);

/// Computes B (m x n) = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
void trsm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, float alpha,
          const float* a, std::int64_t lda, float* b, std::int64_t ldb);
void trsm(Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m, std::int64_t n, double alpha,
          const double* a, std::int64_t lda, double* b, std::int64_t ldb);

/// Factors A = P L U and computes B = A^-1 B (n x nrhs). `pivots` has n entries, counted from 1.
int gesv(std::int64_t n, std::int64_t nrhs, float* a, std::int64_t lda, int* pivots, float* b,
         std::int64_t ldb);
int gesv(std::int64_t n, std::int64_t nrhs, double* a, std::int64_t lda, int* pivots, double* b,
         std::int64_t ldb);

/// Factors A (m x n) = P L U in place. `pivots` has min(m, n) entries, counted from 1.
int getrf(std::int64_t m, std::int64_t n, float* a, std::int64_t lda, int* pivots);
int getrf(std::int64_t m, std::int64_t n, double* a, std::int64_t lda, int* pivots);

/// Computes B = op(A)^-1 B from getrf's factors.
int getrs(Op op, std::int64_t n, std::int64_t nrhs, const float* lu, std::int64_t lda, const int* pivots,
          float* b, std::int64_t ldb);
int getrs(Op op, std::int64_t n, std::int64_t nrhs, const double* lu, std::int64_t lda, const int* pivots,
          double* b, std::int64_t ldb);

/// Replaces getrf's factors by A^-1. `work` has `lwork` >= n elements. With 64 n elements, LAPACK uses blocks
/// of 64 columns.
int getri(std::int64_t n, float* a, std::int64_t lda, const int* pivots, float* work, std::int64_t lwork);
int getri(std::int64_t n, double* a, std::int64_t lda, const int* pivots, double* work, std::int64_t lwork);

/// Replaces the triangle `uplo` of the symmetric A by its Cholesky factor: A = L L^T or U^T U.
int potrf(Uplo uplo, std::int64_t n, float* a, std::int64_t lda);
int potrf(Uplo uplo, std::int64_t n, double* a, std::int64_t lda);

/// Computes B = A^-1 B from potrf's factor.
int potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const float* factor, std::int64_t lda, float* b,
          std::int64_t ldb);
int potrs(Uplo uplo, std::int64_t n, std::int64_t nrhs, const double* factor, std::int64_t lda, double* b,
          std::int64_t ldb);

/// Replaces potrf's factor by the triangle `uplo` of A^-1.
int potri(Uplo uplo, std::int64_t n, float* a, std::int64_t lda);
int potri(Uplo uplo, std::int64_t n, double* a, std::int64_t lda);

/// Inverts a triangular matrix in place.
int trtri(Uplo uplo, Diagonal diagonal, std::int64_t n, float* a, std::int64_t lda);
int trtri(Uplo uplo, Diagonal diagonal, std::int64_t n, double* a, std::int64_t lda);

/// Return LAPACK's estimate of 1 / (|A|_1 |A^-1|_1), or 0 if A is singular to working precision. Their inputs
/// are getrf's factors (gecon), potrf's factor (pocon) or a triangular matrix (trcon). `norm` is |A|_1 of the
/// matrix before its factorization. They allocate workspace.
double gecon(std::int64_t n, const double* lu, std::int64_t lda, double norm);
double pocon(Uplo uplo, std::int64_t n, const double* factor, std::int64_t lda, double norm);
double trcon(Uplo uplo, std::int64_t n, const double* a, std::int64_t lda);

}  // namespace gaussweep::vendor
