/// gemm/cublas_emulated: C = A B by cuBLAS's own emulation, whether or not it thinks that this is faster.
///
/// Doubles in fixed point on INT8 tensor cores, by the parameter `mantissa_bits`, 0: as many as cuBLAS finds
/// at run time are needed to be as right as in double; floats as nine products of bfloat16 (BF16x9), which
/// GPUs have from compute capability 10.0 on. Layout: column-major; the answer is a matrix of its own.
/// Workspace: cuBLAS's own. Where the library has no such product the trial is `skipped`.

#include "kernels/core/errors.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda {

template <class T>
void gemm_cublas_emulated(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (sizeof(T) == sizeof(float) && context.device.info().capability < 100) {
    throw NotOffered("cuBLAS emulates products of floats (BF16x9) from compute capability 10.0 on");
  }
  context.stage("gemm");
  vendor::gemm_emulated(vendor_handles(context), op.shape.m, op.shape.n, op.shape.k,
                        static_cast<int>(parameters.integer("mantissa_bits")), op.a.data, op.a.ld, op.b.data,
                        op.b.ld, op.x.data, op.x.ld);
}

GAUSSWEEP_INSTANTIATE(gemm_cublas_emulated)

}  // namespace gaussweep::cuda
