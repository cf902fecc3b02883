#pragma once
/// The functions of cuSOLVER that the test calls: from cuSOLVER's own header if CUDA is installed, which
/// checks the signatures of libgaussweep_cusolver.

#ifdef GAUSSWEEP_HAS_CUDA
#include <cublas_v2.h>
#include <cusolverDn.h>
#else

#include <cstddef>
#include <cstdint>

using cusolverDnHandle_t = void*;
using cusolverDnParams_t = void*;
enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_INVALID_VALUE = 3 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
using cublasHandle_t = void*;
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cudaDataType { CUDA_R_32F, CUDA_R_64F };

#define DECLARE_DN(p, T)                                                                                    \
  cusolverStatus_t cusolverDn##p##getrf_bufferSize(cusolverDnHandle_t, int, int, T*, int, int*);            \
  cusolverStatus_t cusolverDn##p##getrf(cusolverDnHandle_t, int, int, T*, int, T*, int*, int*);             \
  cusolverStatus_t cusolverDn##p##getrs(cusolverDnHandle_t, cublasOperation_t, int, int, const T*, int,     \
                                        const int*, T*, int, int*);                                         \
  cusolverStatus_t cusolverDn##p##potrf_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int, T*, int,      \
                                                   int*);                                                   \
  cusolverStatus_t cusolverDn##p##potrf(cusolverDnHandle_t, cublasFillMode_t, int, T*, int, T*, int, int*); \
  cusolverStatus_t cusolverDn##p##potrs(cusolverDnHandle_t, cublasFillMode_t, int, int, const T*, int, T*,  \
                                        int, int*);                                                         \
  cusolverStatus_t cusolverDn##p##potri_bufferSize(cusolverDnHandle_t, cublasFillMode_t, int, T*, int,      \
                                                   int*);                                                   \
  cusolverStatus_t cusolverDn##p##potri(cusolverDnHandle_t, cublasFillMode_t, int, T*, int, T*, int, int*); \
  cublasStatus_t cublas##p##trsm_v2(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,  \
                                    cublasDiagType_t, int, int, const T*, const T*, int, T*, int);          \
  cublasStatus_t cublas##p##trsm_v2_64(cublasHandle_t, cublasSideMode_t, cublasFillMode_t,                  \
                                       cublasOperation_t, cublasDiagType_t, std::int64_t, std::int64_t,     \
                                       const T*, const T*, std::int64_t, T*, std::int64_t);

extern "C" {
DECLARE_DN(S, float)
DECLARE_DN(D, double)
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t,
                                             std::int64_t, cudaDataType, const void*, std::int64_t,
                                             cudaDataType, std::size_t*, std::size_t*);
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t, cusolverDnParams_t, std::int64_t, std::int64_t,
                                  cudaDataType, void*, std::int64_t, std::int64_t*, cudaDataType, void*,
                                  std::size_t, void*, std::size_t, int*);
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t, cusolverDnParams_t, cublasOperation_t, std::int64_t,
                                  std::int64_t, cudaDataType, const void*, std::int64_t, const std::int64_t*,
                                  cudaDataType, void*, std::int64_t, int*);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t,
                                             std::int64_t, cudaDataType, const void*, std::int64_t,
                                             cudaDataType, std::size_t*, std::size_t*);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, std::int64_t,
                                  cudaDataType, void*, std::int64_t, cudaDataType, void*, std::size_t, void*,
                                  std::size_t, int*);
cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, std::int64_t,
                                  std::int64_t, cudaDataType, const void*, std::int64_t, cudaDataType, void*,
                                  std::int64_t, int*);
cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t, cublasFillMode_t, cublasDiagType_t,
                                             std::int64_t, cudaDataType, void*, std::int64_t, std::size_t*,
                                             std::size_t*);
cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t, cublasFillMode_t, cublasDiagType_t, std::int64_t,
                                  cudaDataType, void*, std::int64_t, void*, std::size_t, void*, std::size_t,
                                  int*);
}

#endif
