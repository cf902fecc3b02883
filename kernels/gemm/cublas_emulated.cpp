/// gemm/cublas_emulated: C = A B by cuBLAS's emulation of double or float products on tensor cores of lower
/// precision. The emulation is used even if cuBLAS expects it to be slower than the native product.
///
/// Doubles are multiplied in fixed point on INT8 tensor cores with `mantissa_bits` bits. If this parameter is
/// 0, cuBLAS determines at run time how many bits double accuracy needs. Floats are multiplied as nine
/// products of bfloat16 (BF16x9). cuBLAS supports them from compute capability 10.0 on. Layout: column-major;
/// C is a separate matrix. Workspace: only cuBLAS's internal workspace. If the library has no such product,
/// the trial gets the status `skipped`.
///
/// Error: NVIDIA documents no bound. In double, each element keeps `mantissa_bits` bits, relative to the
/// largest element of its row of A or column of B. Then |C - A B| is of the order k 2^-mantissa_bits
/// max|a(i, :)| max|b(:, j)| (K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009).

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
