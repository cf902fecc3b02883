#pragma once
/// cuBLAS, cuBLASLt, cuSOLVER and cuSOLVERMg, which are loaded on first use. With their dependencies they
/// take about a gigabyte, and a process without a GPU must work without them. Only builds with CUDA include
/// this.

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#define DISABLE_CUSOLVERMG_DEPRECATED  // there is no other library for several GPUs in the CUDA toolkit
#include <cusolverMg.h>

// The functions that gaussweep calls. Many names of cuBLAS are macros: cublasDgemm expands to cublasDgemm_v2.
// clang-format off
#define GAUSSWEEP_CUBLAS_FUNCTIONS(X)                 \
  X(cublasCreate) X(cublasDestroy) X(cublasSetStream) \
  X(cublasGetStatusName) X(cublasGetStatusString)     \
  X(cublasSgemm) X(cublasStrsv) X(cublasStrsm)        \
  X(cublasDgemm) X(cublasDtrsv) X(cublasDtrsm)                            \
  X(cublasSsyrk) X(cublasDsyrk)                                           \
  X(cublasSgemmStridedBatched) X(cublasDgemmStridedBatched)               \
  X(cublasSgetrfBatched) X(cublasDgetrfBatched)                           \
  X(cublasSgetrsBatched) X(cublasDgetrsBatched)                           \
  X(cublasSgetriBatched) X(cublasDgetriBatched)                           \
  X(cublasSmatinvBatched) X(cublasDmatinvBatched)                         \
  X(cublasStrsmBatched) X(cublasDtrsmBatched)
#define GAUSSWEEP_CUBLASLT_FUNCTIONS(X)                                          \
  X(cublasLtCreate) X(cublasLtDestroy)                                           \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)                       \
  X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)                   \
  X(cublasLtMatrixLayoutSetAttribute)                                            \
  X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy)           \
  X(cublasLtMatmulPreferenceSetAttribute)                                        \
  X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)
#define GAUSSWEEP_CUSOLVER_FUNCTIONS(X)                                  \
  X(cusolverDnCreate) X(cusolverDnDestroy) X(cusolverDnSetStream)        \
  X(cusolverDnSgetrf_bufferSize) X(cusolverDnSgetrf) X(cusolverDnSgetrs) \
  X(cusolverDnDgetrf_bufferSize) X(cusolverDnDgetrf) X(cusolverDnDgetrs) \
  X(cusolverDnSpotrf_bufferSize) X(cusolverDnSpotrf)                     \
  X(cusolverDnDpotrf_bufferSize) X(cusolverDnDpotrf)                     \
  X(cusolverDnSpotrs) X(cusolverDnDpotrs)                                \
  X(cusolverDnSpotri_bufferSize) X(cusolverDnSpotri)                     \
  X(cusolverDnDpotri_bufferSize) X(cusolverDnDpotri)                     \
  X(cusolverDnSpotrfBatched) X(cusolverDnDpotrfBatched)                  \
  X(cusolverDnSpotrsBatched) X(cusolverDnDpotrsBatched)                  \
  X(cusolverDnXtrtri_bufferSize) X(cusolverDnXtrtri)                     \
  X(cusolverDnIRSParamsCreate) X(cusolverDnIRSParamsDestroy)             \
  X(cusolverDnIRSInfosCreate) X(cusolverDnIRSInfosDestroy)               \
  X(cusolverDnIRSParamsSetSolverPrecisions)                              \
  X(cusolverDnIRSParamsSetRefinementSolver)                              \
  X(cusolverDnIRSParamsDisableFallback)                                  \
  X(cusolverDnIRSXgesv_bufferSize) X(cusolverDnIRSXgesv)
#define GAUSSWEEP_CUSOLVER_MG_FUNCTIONS(X)                               \
  X(cusolverMgCreate) X(cusolverMgDestroy) X(cusolverMgDeviceSelect)     \
  X(cusolverMgCreateDeviceGrid) X(cusolverMgDestroyGrid)                 \
  X(cusolverMgCreateMatrixDesc) X(cusolverMgDestroyMatrixDesc)           \
  X(cusolverMgGetrf_bufferSize) X(cusolverMgGetrf)                       \
  X(cusolverMgGetrs_bufferSize) X(cusolverMgGetrs)                       \
  X(cusolverMgPotrf_bufferSize) X(cusolverMgPotrf)                       \
  X(cusolverMgPotrs_bufferSize) X(cusolverMgPotrs)
#if CUBLAS_VERSION >= 130100
#define GAUSSWEEP_CUBLAS_EMULATION(X)                       \
  X(cublasSetFixedPointEmulationMantissaControl)            \
  X(cublasSetFixedPointEmulationMaxMantissaBitCount)
#else
#define GAUSSWEEP_CUBLAS_EMULATION(X)
#endif
// clang-format on

namespace gaussweep::vendor {

#define GAUSSWEEP_FUNCTION(name) decltype(&::name) name = nullptr;

struct Cublas {
  GAUSSWEEP_CUBLAS_FUNCTIONS(GAUSSWEEP_FUNCTION)
  /// Declared explicitly, because the header overloads these names.
  cublasStatus_t (*cublasGemmEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                 const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                                 const void*, void*, cudaDataType, int, cublasComputeType_t,
                                 cublasGemmAlgo_t) = nullptr;
  cublasStatus_t (*cublasGemmStridedBatchedEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                               int, const void*, const void*, cudaDataType, int, long long,
                                               const void*, cudaDataType, int, long long, const void*, void*,
                                               cudaDataType, int, long long, int, cublasComputeType_t,
                                               cublasGemmAlgo_t) = nullptr;
#if CUBLAS_VERSION >= 130100
  cublasStatus_t (*cublasSetEmulationStrategy)(cublasHandle_t, cublasEmulationStrategy_t) = nullptr;
#endif
  GAUSSWEEP_CUBLAS_EMULATION(GAUSSWEEP_FUNCTION)  // null if this cuBLAS has no emulation
};

struct CublasLt {
  GAUSSWEEP_CUBLASLT_FUNCTIONS(GAUSSWEEP_FUNCTION)
};

struct Cusolver {
  GAUSSWEEP_CUSOLVER_FUNCTIONS(GAUSSWEEP_FUNCTION)
};

struct CusolverMg {
  GAUSSWEEP_CUSOLVER_MG_FUNCTIONS(GAUSSWEEP_FUNCTION)
};

#undef GAUSSWEEP_FUNCTION

/// Return the functions of a library, in the CUDA version of this build. The first call loads the library.
/// @throws DeviceError if a library or one of its functions is missing
const Cublas& cublas_library();
const CublasLt& cublas_lt_library();
const Cusolver& cusolver_library();
const CusolverMg& cusolver_mg_library();

}  // namespace gaussweep::vendor
