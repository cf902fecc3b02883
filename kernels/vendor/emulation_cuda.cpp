// Implements gemm_emulated of cuda_blas.hpp.

#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep::vendor {
namespace {

/// Computes C = A B with an emulated compute type. `compute_type` is the numeric value of a
/// cublasComputeType_t, because older headers lack the name. If `mantissa_bits` is 0, cuBLAS chooses the
/// number of bits.
#if CUBLAS_VERSION >= 130100
template <class T>
void multiply(VendorHandles& handles, int compute_type, int mantissa_bits, std::int64_t m, std::int64_t n,
              std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c,
              std::int64_t ldc) {
  const Cublas& library = cublas_library();
  if (library.cublasSetEmulationStrategy == nullptr ||
      library.cublasSetFixedPointEmulationMantissaControl == nullptr ||
      library.cublasSetFixedPointEmulationMaxMantissaBitCount == nullptr) {
    throw NotOffered("the cuBLAS that was loaded emulates no products; version 13.1 and later do");
  }
  // These settings affect only emulated products.
  GAUSSWEEP_CUBLAS(cublasSetEmulationStrategy(handles.blas(), CUBLAS_EMULATION_STRATEGY_EAGER));
  GAUSSWEEP_CUBLAS(cublasSetFixedPointEmulationMantissaControl(
      handles.blas(),
      mantissa_bits == 0 ? CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC : CUDA_EMULATION_MANTISSA_CONTROL_FIXED));
  GAUSSWEEP_CUBLAS(cublasSetFixedPointEmulationMaxMantissaBitCount(handles.blas(), mantissa_bits));
  constexpr cudaDataType type = sizeof(T) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;
  const T one = 1, zero = 0;
  const cublasStatus_t status =
      library.cublasGemmEx(handles.blas(), CUBLAS_OP_N, CUBLAS_OP_N, to_int(m), to_int(n), to_int(k), &one, a,
                           type, to_int(lda), b, type, to_int(ldb), &zero, c, type, to_int(ldc),
                           static_cast<cublasComputeType_t>(compute_type), CUBLAS_GEMM_DEFAULT);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) {
    throw NotOffered("cuBLAS emulates no such product on this GPU (" +
                     std::string(library.cublasGetStatusName(status)) + ")");
  }
  if (status != CUBLAS_STATUS_SUCCESS) throw_cublas(status, "cublasGemmEx", __FILE__, __LINE__);
}
#else
template <class... Any>
void multiply(const Any&...) {
  throw NotOffered("built with cuBLAS " + std::to_string(CUBLAS_VERSION) +
                   ", which emulates no products; version 13.1 (130100) and later do");
}
#endif

}  // namespace

void gemm_emulated(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, int mantissa_bits,
                   const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                   std::int64_t ldc) {
  constexpr int nine_bfloat16_products = 78;  // CUBLAS_COMPUTE_32F_EMULATED_16BFX9; older headers lack it
  multiply(handles, nine_bfloat16_products, mantissa_bits, m, n, k, a, lda, b, ldb, c, ldc);
}
void gemm_emulated(VendorHandles& handles, std::int64_t m, std::int64_t n, std::int64_t k, int mantissa_bits,
                   const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double* c,
                   std::int64_t ldc) {
  constexpr int fixed_point = 79;  // CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT
  multiply(handles, fixed_point, mantissa_bits, m, n, k, a, lda, b, ldb, c, ldc);
}

}  // namespace gaussweep::vendor
