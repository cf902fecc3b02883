/// gemm/cublas: C = A B by cuBLAS's xgemm in the operands' precision, the vendor reference on the GPU.
///
/// Layout: column-major; C is a separate matrix. Cost: 2 m n k operations. Workspace: only cuBLAS's internal
/// workspace. Accepts any matrices with sizes below 2^31.
///
/// Error: NVIDIA documents no bound. Sums in any order have this one: |C - A B| <= (k + 2) u |A| |B| (Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.5).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda {

template <class T>
void gemm_cublas(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("gemm");
  const auto [m, n, k, nrhs, uplo, batch] = op.shape;
  if (batch > 1) {
    return vendor::gemm_batch(vendor_handles(context), vendor::Op::none, m, n, k, T(1), op.a.data, op.a.ld,
                              op.a.ld * k, op.b.data, op.b.ld, op.b.ld * n, T(0), op.x.data, op.x.ld,
                              op.x.ld * n, batch);
  }
  vendor::gemm(vendor_handles(context), vendor::Op::none, vendor::Op::none, op.shape.m, op.shape.n,
               op.shape.k, T(1), op.a.data, op.a.ld, op.b.data, op.b.ld, T(0), op.x.data, op.x.ld);
}

GAUSSWEEP_INSTANTIATE(gemm_cublas)

}  // namespace gaussweep::cuda
