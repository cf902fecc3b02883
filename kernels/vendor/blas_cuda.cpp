// Implements cuda_blas.hpp.

#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep::vendor {
namespace {

cublasOperation_t cublas(Op op) {
  return op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T;
}
cublasSideMode_t cublas(Side side) {
  return side == Side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}
cublasFillMode_t cublas(Uplo uplo) {
  return uplo == Uplo::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
cublasDiagType_t cublas(Diagonal diagonal) {
  return diagonal == Diagonal::unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

/// Computes trtri with cuSOLVER's generic function, because cuSOLVER has no versions for float (S) and double
/// (D).
void trtri_of_type(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, cudaDataType type,
                   void* a, std::int64_t lda, int* info) {
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  GAUSSWEEP_CUSOLVER(cusolverDnXtrtri_bufferSize(handles.solver(), cublas(uplo), cublas(diagonal), n, type, a,
                                                 lda, &device_bytes, &host_bytes));
  GAUSSWEEP_CUSOLVER(cusolverDnXtrtri(handles.solver(), cublas(uplo), cublas(diagonal), n, type, a, lda,
                                      handles.scratch(device_bytes), device_bytes,
                                      handles.host_scratch(host_bytes), host_bytes, info));
}

}  // namespace

void gemm(VendorHandles& handles, Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
          float* c, std::int64_t ldc) {
  GAUSSWEEP_CUBLAS(cublasSgemm(handles.blas(), cublas(op_a), cublas(op_b), to_int(m), to_int(n), to_int(k),
                               &alpha, a, to_int(lda), b, to_int(ldb), &beta, c, to_int(ldc)));
}
void gemm(VendorHandles& handles, Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta,
          double* c, std::int64_t ldc) {
  GAUSSWEEP_CUBLAS(cublasDgemm(handles.blas(), cublas(op_a), cublas(op_b), to_int(m), to_int(n), to_int(k),
                               &alpha, a, to_int(lda), b, to_int(ldb), &beta, c, to_int(ldc)));
}

void gemm_batch(VendorHandles& handles, Op op_a, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                const float* a, std::int64_t lda, std::int64_t a_step, const float* b, std::int64_t ldb,
                std::int64_t b_step, float beta, float* c, std::int64_t ldc, std::int64_t c_step,
                std::int64_t count) {
  GAUSSWEEP_CUBLAS(cublasSgemmStridedBatched(handles.blas(), cublas(op_a), CUBLAS_OP_N, to_int(m), to_int(n),
                                             to_int(k), &alpha, a, to_int(lda), a_step, b, to_int(ldb),
                                             b_step, &beta, c, to_int(ldc), c_step, to_int(count)));
}
void gemm_batch(VendorHandles& handles, Op op_a, std::int64_t m, std::int64_t n, std::int64_t k, double alpha,
                const double* a, std::int64_t lda, std::int64_t a_step, const double* b, std::int64_t ldb,
                std::int64_t b_step, double beta, double* c, std::int64_t ldc, std::int64_t c_step,
                std::int64_t count) {
  GAUSSWEEP_CUBLAS(cublasDgemmStridedBatched(handles.blas(), cublas(op_a), CUBLAS_OP_N, to_int(m), to_int(n),
                                             to_int(k), &alpha, a, to_int(lda), a_step, b, to_int(ldb),
                                             b_step, &beta, c, to_int(ldc), c_step, to_int(count)));
}

void gemm_fp16(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
               const void* a, std::int64_t lda, const void* b, std::int64_t ldb, float beta, float* c,
               std::int64_t ldc) {
  GAUSSWEEP_CUBLAS(cublasGemmEx(handles.blas(), CUBLAS_OP_N, CUBLAS_OP_N, to_int(m), to_int(n), to_int(k),
                                &alpha, a, CUDA_R_16F, to_int(lda), b, CUDA_R_16F, to_int(ldb), &beta, c,
                                CUDA_R_32F, to_int(ldc), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}
void gemm_batch_fp16(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                     const void* a, std::int64_t lda, std::int64_t a_step, const void* b, std::int64_t ldb,
                     std::int64_t b_step, float beta, float* c, std::int64_t ldc, std::int64_t c_step,
                     std::int64_t count) {
  GAUSSWEEP_CUBLAS(cublasGemmStridedBatchedEx(
      handles.blas(), CUBLAS_OP_N, CUBLAS_OP_T, to_int(m), to_int(n), to_int(k), &alpha, a, CUDA_R_16F,
      to_int(lda), a_step, b, CUDA_R_16F, to_int(ldb), b_step, &beta, c, CUDA_R_32F, to_int(ldc), c_step,
      to_int(count), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

void syrk(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t k, float alpha,
          const float* a, std::int64_t lda, float beta, float* c, std::int64_t ldc) {
  GAUSSWEEP_CUBLAS(cublasSsyrk(handles.blas(), cublas(uplo), cublas(op), to_int(n), to_int(k), &alpha, a,
                               to_int(lda), &beta, c, to_int(ldc)));
}
void syrk(VendorHandles& handles, Uplo uplo, Op op, std::int64_t n, std::int64_t k, double alpha,
          const double* a, std::int64_t lda, double beta, double* c, std::int64_t ldc) {
  GAUSSWEEP_CUBLAS(cublasDsyrk(handles.blas(), cublas(uplo), cublas(op), to_int(n), to_int(k), &alpha, a,
                               to_int(lda), &beta, c, to_int(ldc)));
}

void gemm_int8(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, const signed char* a,
               const signed char* b, int* c) {
  const int one = 1, zero = 0;
  GAUSSWEEP_CUBLAS(cublasGemmEx(handles.blas(), CUBLAS_OP_T, CUBLAS_OP_N, to_int(m), to_int(n), to_int(k),
                                &one, a, CUDA_R_8I, to_int(k), b, CUDA_R_8I, to_int(k), &zero, c, CUDA_R_32I,
                                to_int(m), CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
}

void trsv(VendorHandles& handles, Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const float* a,
          std::int64_t lda, float* x) {
  GAUSSWEEP_CUBLAS(cublasStrsv(handles.blas(), cublas(uplo), cublas(op), cublas(diagonal), to_int(n), a,
                               to_int(lda), x, /*incx=*/1));
}
void trsv(VendorHandles& handles, Uplo uplo, Op op, Diagonal diagonal, std::int64_t n, const double* a,
          std::int64_t lda, double* x) {
  GAUSSWEEP_CUBLAS(cublasDtrsv(handles.blas(), cublas(uplo), cublas(op), cublas(diagonal), to_int(n), a,
                               to_int(lda), x, /*incx=*/1));
}

void trsm(VendorHandles& handles, Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m,
          std::int64_t n, float alpha, const float* a, std::int64_t lda, float* b, std::int64_t ldb) {
  GAUSSWEEP_CUBLAS(cublasStrsm(handles.blas(), cublas(side), cublas(uplo), cublas(op), cublas(diagonal),
                               to_int(m), to_int(n), &alpha, a, to_int(lda), b, to_int(ldb)));
}
void trsm(VendorHandles& handles, Side side, Uplo uplo, Op op, Diagonal diagonal, std::int64_t m,
          std::int64_t n, double alpha, const double* a, std::int64_t lda, double* b, std::int64_t ldb) {
  GAUSSWEEP_CUBLAS(cublasDtrsm(handles.blas(), cublas(side), cublas(uplo), cublas(op), cublas(diagonal),
                               to_int(m), to_int(n), &alpha, a, to_int(lda), b, to_int(ldb)));
}

void getrf(VendorHandles& handles, std::int64_t m, std::int64_t n, float* a, std::int64_t lda, int* pivots,
           int* info) {
  int count = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnSgetrf_bufferSize(handles.solver(), to_int(m), to_int(n), a, to_int(lda), &count));
  auto* work = static_cast<float*>(handles.scratch(static_cast<std::size_t>(count) * sizeof(float)));
  GAUSSWEEP_CUSOLVER(
      cusolverDnSgetrf(handles.solver(), to_int(m), to_int(n), a, to_int(lda), work, pivots, info));
}
void getrf(VendorHandles& handles, std::int64_t m, std::int64_t n, double* a, std::int64_t lda, int* pivots,
           int* info) {
  int count = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnDgetrf_bufferSize(handles.solver(), to_int(m), to_int(n), a, to_int(lda), &count));
  auto* work = static_cast<double*>(handles.scratch(static_cast<std::size_t>(count) * sizeof(double)));
  GAUSSWEEP_CUSOLVER(
      cusolverDnDgetrf(handles.solver(), to_int(m), to_int(n), a, to_int(lda), work, pivots, info));
}

void getrs(VendorHandles& handles, Op op, std::int64_t n, std::int64_t nrhs, const float* lu,
           std::int64_t lda, const int* pivots, float* b, std::int64_t ldb) {
  GAUSSWEEP_CUSOLVER(cusolverDnSgetrs(handles.solver(), cublas(op), to_int(n), to_int(nrhs), lu, to_int(lda),
                                      pivots, b, to_int(ldb), handles.spare_info()));
}
void getrs(VendorHandles& handles, Op op, std::int64_t n, std::int64_t nrhs, const double* lu,
           std::int64_t lda, const int* pivots, double* b, std::int64_t ldb) {
  GAUSSWEEP_CUSOLVER(cusolverDnDgetrs(handles.solver(), cublas(op), to_int(n), to_int(nrhs), lu, to_int(lda),
                                      pivots, b, to_int(ldb), handles.spare_info()));
}

void potrf(VendorHandles& handles, Uplo uplo, std::int64_t n, float* a, std::int64_t lda, int* info) {
  int count = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnSpotrf_bufferSize(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), &count));
  auto* work = static_cast<float*>(handles.scratch(static_cast<std::size_t>(count) * sizeof(float)));
  GAUSSWEEP_CUSOLVER(
      cusolverDnSpotrf(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), work, count, info));
}
void potrf(VendorHandles& handles, Uplo uplo, std::int64_t n, double* a, std::int64_t lda, int* info) {
  int count = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnDpotrf_bufferSize(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), &count));
  auto* work = static_cast<double*>(handles.scratch(static_cast<std::size_t>(count) * sizeof(double)));
  GAUSSWEEP_CUSOLVER(
      cusolverDnDpotrf(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), work, count, info));
}

void potrs(VendorHandles& handles, Uplo uplo, std::int64_t n, std::int64_t nrhs, const float* factor,
           std::int64_t lda, float* b, std::int64_t ldb) {
  GAUSSWEEP_CUSOLVER(cusolverDnSpotrs(handles.solver(), cublas(uplo), to_int(n), to_int(nrhs), factor,
                                      to_int(lda), b, to_int(ldb), handles.spare_info()));
}
void potrs(VendorHandles& handles, Uplo uplo, std::int64_t n, std::int64_t nrhs, const double* factor,
           std::int64_t lda, double* b, std::int64_t ldb) {
  GAUSSWEEP_CUSOLVER(cusolverDnDpotrs(handles.solver(), cublas(uplo), to_int(n), to_int(nrhs), factor,
                                      to_int(lda), b, to_int(ldb), handles.spare_info()));
}

void potri(VendorHandles& handles, Uplo uplo, std::int64_t n, float* a, std::int64_t lda) {
  int count = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnSpotri_bufferSize(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), &count));
  auto* work = static_cast<float*>(handles.scratch(static_cast<std::size_t>(count) * sizeof(float)));
  GAUSSWEEP_CUSOLVER(cusolverDnSpotri(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), work, count,
                                      handles.spare_info()));
}
void potri(VendorHandles& handles, Uplo uplo, std::int64_t n, double* a, std::int64_t lda) {
  int count = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnDpotri_bufferSize(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), &count));
  auto* work = static_cast<double*>(handles.scratch(static_cast<std::size_t>(count) * sizeof(double)));
  GAUSSWEEP_CUSOLVER(cusolverDnDpotri(handles.solver(), cublas(uplo), to_int(n), a, to_int(lda), work, count,
                                      handles.spare_info()));
}

void trtri(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, float* a, std::int64_t lda,
           int* info) {
  trtri_of_type(handles, uplo, diagonal, n, CUDA_R_32F, a, lda, info);
}
void trtri(VendorHandles& handles, Uplo uplo, Diagonal diagonal, std::int64_t n, double* a, std::int64_t lda,
           int* info) {
  trtri_of_type(handles, uplo, diagonal, n, CUDA_R_64F, a, lda, info);
}

}  // namespace gaussweep::vendor
