/// gemm/cublas_lt: C = A B, or a batch of products, by cublasLtMatmul in the operands' precision. cuBLASLt's
/// heuristic lists algorithms by their expected time, and the parameter `candidate` selects one of them. A
/// plan that sweeps `candidate` finds the fastest one.
///
/// Layout: column-major; C is a separate matrix. Cost: 2 m n k operations per product. Workspace: up to 32
/// MiB. If the list is shorter than `candidate`, the trial gets the status `skipped`. Error: as that of
/// gemm/cublas.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda {

template <class T>
void gemm_cublas_lt(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.stage("gemm");
  const auto [m, n, k, nrhs, uplo, batch] = op.shape;
  const std::int64_t a_stride = op.a.ld * k, b_stride = op.b.ld * n, c_stride = op.x.ld * n;  // per product
  vendor::gemm_lt(vendor_handles(context), static_cast<int>(parameters.integer("candidate")), m, n, k,
                  op.a.data, op.a.ld, a_stride, op.b.data, op.b.ld, b_stride, op.x.data, op.x.ld, c_stride,
                  batch);
}

GAUSSWEEP_INSTANTIATE(gemm_cublas_lt)

}  // namespace gaussweep::cuda
