#pragma once
/// Vendor products for portable methods: cuBLAS on a GPU, OpenBLAS on the CPU.

#include "kernels/simt/simt.hpp"
#ifdef __CUDACC__
#include "kernels/vendor/cuda_blas.hpp"
#else
#include "kernels/vendor/blas.hpp"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Computes C (m x n) = alpha op(A) op(B) + beta C; op(A) is m x k. Asynchronous on a GPU.
template <class T>
void vendor_gemm([[maybe_unused]] Context& context, vendor::Op op_a, vendor::Op op_b, std::int64_t m,
                 std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* b,
                 std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
#ifdef __CUDACC__
  vendor::gemm(vendor_handles(context), op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
  vendor::gemm(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

/// Computes B (m x n) = alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular. Asynchronous on a
/// GPU.
template <class T>
void vendor_trsm([[maybe_unused]] Context& context, vendor::Side side, Uplo uplo, vendor::Op op,
                 vendor::Diagonal diagonal, std::int64_t m, std::int64_t n, T alpha, const T* a,
                 std::int64_t lda, T* b, std::int64_t ldb) {
#ifdef __CUDACC__
  vendor::trsm(vendor_handles(context), side, uplo, op, diagonal, m, n, alpha, a, lda, b, ldb);
#else
  vendor::trsm(side, uplo, op, diagonal, m, n, alpha, a, lda, b, ldb);
#endif
}

/// Computes `count` products C = alpha op(A) B + beta C of one shape. The operands of consecutive products
/// are `a_step`, `b_step` and `c_step` elements apart.
template <class T>
void vendor_gemm_batch([[maybe_unused]] Context& context, vendor::Op op_a, std::int64_t m, std::int64_t n,
                       std::int64_t k, T alpha, const T* a, std::int64_t lda, std::int64_t a_step, const T* b,
                       std::int64_t ldb, std::int64_t b_step, T beta, T* c, std::int64_t ldc,
                       std::int64_t c_step, std::int64_t count) {
#ifdef __CUDACC__
  vendor::gemm_batch(vendor_handles(context), op_a, m, n, k, alpha, a, lda, a_step, b, ldb, b_step, beta, c,
                     ldc, c_step, count);
#else
  for (std::int64_t i = 0; i < count; ++i) {
    vendor::gemm(op_a, vendor::Op::none, m, n, k, alpha, a + i * a_step, lda, b + i * b_step, ldb, beta,
                 c + i * c_step, ldc);
  }
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
