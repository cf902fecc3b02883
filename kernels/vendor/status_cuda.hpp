#pragma once
/// Macros that call functions of cuBLAS, cuBLASLt, cuSOLVER and cuSOLVERMg and convert their status to
/// exceptions. Only builds with CUDA include this header.

#include "kernels/vendor/libraries_cuda.hpp"

namespace gaussweep::vendor {

/// @throws OutOfMemory, DeviceError with the call, the library's name and text of the error, and file:line
[[noreturn]] void throw_cublas(cublasStatus_t status, const char* call, const char* file, int line);
[[noreturn]] void throw_cusolver(cusolverStatus_t status, const char* call, const char* file, int line);

}  // namespace gaussweep::vendor

#define GAUSSWEEP_CUBLAS(call)                                                          \
  do {                                                                                  \
    const cublasStatus_t gaussweep_status = ::gaussweep::vendor::cublas_library().call; \
    if (gaussweep_status != CUBLAS_STATUS_SUCCESS) {                                    \
      ::gaussweep::vendor::throw_cublas(gaussweep_status, #call, __FILE__, __LINE__);   \
    }                                                                                   \
  } while (false)

#define GAUSSWEEP_CUBLASLT(call)                                                           \
  do {                                                                                     \
    const cublasStatus_t gaussweep_status = ::gaussweep::vendor::cublas_lt_library().call; \
    if (gaussweep_status != CUBLAS_STATUS_SUCCESS) {                                       \
      ::gaussweep::vendor::throw_cublas(gaussweep_status, #call, __FILE__, __LINE__);      \
    }                                                                                      \
  } while (false)

#define GAUSSWEEP_CUSOLVER(call)                                                            \
  do {                                                                                      \
    const cusolverStatus_t gaussweep_status = ::gaussweep::vendor::cusolver_library().call; \
    if (gaussweep_status != CUSOLVER_STATUS_SUCCESS) {                                      \
      ::gaussweep::vendor::throw_cusolver(gaussweep_status, #call, __FILE__, __LINE__);     \
    }                                                                                       \
  } while (false)

#define GAUSSWEEP_CUSOLVER_MG(call)                                                            \
  do {                                                                                         \
    const cusolverStatus_t gaussweep_status = ::gaussweep::vendor::cusolver_mg_library().call; \
    if (gaussweep_status != CUSOLVER_STATUS_SUCCESS) {                                         \
      ::gaussweep::vendor::throw_cusolver(gaussweep_status, #call, __FILE__, __LINE__);        \
    }                                                                                          \
  } while (false)
