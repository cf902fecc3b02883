// Implements gemm_lt of cuda_blas.hpp.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "kernels/core/errors.hpp"
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep {
namespace vendor {
namespace {

/// The arguments on which the heuristic depends: type, candidate, m, n, k, leading dimensions, steps, count.
using ProductKey = std::tuple<cudaDataType, int, std::array<std::int64_t, 10>>;

}  // namespace
}  // namespace vendor

/// cuBLASLt's handle and the description of one product with its algorithm. Both are kept, because the
/// heuristic takes longer than a small product.
struct LtProducts {
  LtProducts() { GAUSSWEEP_CUBLASLT(cublasLtCreate(&handle)); }
  ~LtProducts() {
    destroy_product();
    vendor::cublas_lt_library().cublasLtDestroy(handle);
  }
  LtProducts(const LtProducts&) = delete;
  LtProducts& operator=(const LtProducts&) = delete;

  void destroy_product() {
    const vendor::CublasLt& library = vendor::cublas_lt_library();
    key.reset();
    for (cublasLtMatrixLayout_t& layout : layouts) {
      if (layout != nullptr) library.cublasLtMatrixLayoutDestroy(layout);
      layout = nullptr;
    }
    if (operation != nullptr) library.cublasLtMatmulDescDestroy(operation);
    operation = nullptr;
  }

  cublasLtHandle_t handle = nullptr;
  std::optional<vendor::ProductKey> key;  ///< empty: no product is described
  cublasLtMatmulDesc_t operation = nullptr;
  std::array<cublasLtMatrixLayout_t, 3> layouts{};  ///< of A, B and C
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace_bytes = 0;  ///< the workspace that the algorithm needs
};

namespace vendor {
namespace {

/// The largest workspace that an algorithm may use: the size that NVIDIA recommends on Hopper.
constexpr std::size_t max_workspace = std::size_t{32} << 20;
/// The number of algorithms that the heuristic is asked to propose. It is constant, so that `candidate` means
/// the same algorithm in every call.
constexpr int max_candidates = 32;

/// Chooses the algorithm for the product that `products` describes.
void choose_algorithm(LtProducts& products, int candidate) {
  cublasLtMatmulPreference_t preference = nullptr;
  GAUSSWEEP_CUBLASLT(cublasLtMatmulPreferenceCreate(&preference));
  const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                        decltype(cublas_lt_library().cublasLtMatmulPreferenceDestroy)>
      owner(preference, cublas_lt_library().cublasLtMatmulPreferenceDestroy);
  GAUSSWEEP_CUBLASLT(cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &max_workspace, sizeof(max_workspace)));
  std::array<cublasLtMatmulHeuristicResult_t, max_candidates> proposed{};
  int found = 0;
  const auto [a, b, c] = products.layouts;
  const cublasStatus_t status = cublas_lt_library().cublasLtMatmulAlgoGetHeuristic(
      products.handle, products.operation, a, b, c, c, preference, max_candidates, proposed.data(), &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found <= candidate)) {
    throw NotOffered("cuBLASLt proposes " + std::to_string(found) +
                     " algorithms for this product; candidate " + std::to_string(candidate) +
                     " does not exist");
  }
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw_cublas(status, "cublasLtMatmulAlgoGetHeuristic", __FILE__, __LINE__);
  }
  const cublasLtMatmulHeuristicResult_t& chosen = proposed.at(static_cast<std::size_t>(candidate));
  products.algorithm = chosen.algo;
  products.workspace_bytes = chosen.workspaceSize;
}

/// Describes a matrix of a batch for cuBLASLt.
void create_layout(cublasLtMatrixLayout_t& layout, cudaDataType type, std::int64_t rows, std::int64_t columns,
                   std::int64_t ld, std::int64_t step, std::int64_t count) {
  GAUSSWEEP_CUBLASLT(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                                static_cast<std::uint64_t>(columns), ld));
  const int batch = to_int(count);
  GAUSSWEEP_CUBLASLT(
      cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)));
  GAUSSWEEP_CUBLASLT(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                      &step, sizeof(step)));
}

/// Computes `count` products C = A B. Describes the product and chooses its algorithm only if it differs from
/// the previous one.
template <class T>
void multiply(VendorHandles& handles, int candidate, std::int64_t m, std::int64_t n, std::int64_t k,
              const T* a, std::int64_t lda, std::int64_t a_step, const T* b, std::int64_t ldb,
              std::int64_t b_step, T* c, std::int64_t ldc, std::int64_t c_step, std::int64_t count) {
  constexpr bool in_double = sizeof(T) == sizeof(double);
  constexpr cudaDataType type = in_double ? CUDA_R_64F : CUDA_R_32F;
  if (!handles.lt) handles.lt = std::make_shared<LtProducts>();
  LtProducts& products = *handles.lt;
  const ProductKey key{type, candidate, {m, n, k, lda, a_step, ldb, b_step, ldc, c_step, count}};
  if (products.key != key) {
    products.destroy_product();
    GAUSSWEEP_CUBLASLT(cublasLtMatmulDescCreate(&products.operation,
                                                in_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, type));
    create_layout(products.layouts[0], type, m, k, lda, a_step, count);
    create_layout(products.layouts[1], type, k, n, ldb, b_step, count);
    create_layout(products.layouts[2], type, m, n, ldc, c_step, count);
    choose_algorithm(products, candidate);
    products.key = key;
  }
  const T one = 1, zero = 0;
  const std::size_t bytes = products.workspace_bytes;
  void* const workspace = bytes == 0 ? nullptr : handles.scratch(bytes);
  GAUSSWEEP_CUBLASLT(cublasLtMatmul(
      products.handle, products.operation, &one, a, products.layouts[0], b, products.layouts[1], &zero, c,
      products.layouts[2], c, products.layouts[2], &products.algorithm, workspace, bytes, handles.stream()));
}

}  // namespace

void gemm_lt(VendorHandles& handles, int candidate, std::int64_t m, std::int64_t n, std::int64_t k,
             const float* a, std::int64_t lda, std::int64_t a_step, const float* b, std::int64_t ldb,
             std::int64_t b_step, float* c, std::int64_t ldc, std::int64_t c_step, std::int64_t count) {
  multiply(handles, candidate, m, n, k, a, lda, a_step, b, ldb, b_step, c, ldc, c_step, count);
}
void gemm_lt(VendorHandles& handles, int candidate, std::int64_t m, std::int64_t n, std::int64_t k,
             const double* a, std::int64_t lda, std::int64_t a_step, const double* b, std::int64_t ldb,
             std::int64_t b_step, double* c, std::int64_t ldc, std::int64_t c_step, std::int64_t count) {
  multiply(handles, candidate, m, n, k, a, lda, a_step, b, ldb, b_step, c, ldc, c_step, count);
}

}  // namespace vendor
}  // namespace gaussweep
