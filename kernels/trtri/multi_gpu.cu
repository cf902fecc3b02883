/// trtri/multi_gpu: the inverse of a triangular matrix on several GPUs, by substitution.
///
/// distributed_triangle.cuh has the algorithm; on one GPU the method is trtri/levels. Layout: column-major,
/// block columns distributed cyclically and inverted in place; the other triangle is not changed. Cost: 1/3
/// n^3 operations in all, nearly all in cuBLAS's products of k = 2048; each GPU receives n^2 / 2 elements of
/// panels. Workspace per GPU: two panels of n x 2048. A 0 on the diagonal gives info > 0, and the answer is
/// then not finite. Needs compute capability 9.0 and peer access between the GPUs.
///
/// Error: |A X - I| is of the order n u |A| |X| (Higham, "Accuracy and Stability of Numerical Algorithms",
/// 2nd ed., section 14.2, method 1 by block columns).

#include "kernels/tables.hpp"
#include "kernels/trtri/distributed_triangle.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trtri_levels(Context& context, Operands<T>& op, const Parameters& parameters);

template <class T>
void trtri_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (!op.parts.empty()) {
    const ColumnBlocks blocks{op.shape.n, inverse::trtri_block(op.shape, parameters),
                              static_cast<int>(op.parts.size())};
    return inverse::DistributedTriangle<T>(context, blocks,
                                           inverse::panel_width(op.shape, parameters, blocks.width), op.parts,
                                           op.shape.uplo, /*keeps_other_triangle=*/true)
        .invert(op.info);
  }
  trtri_levels(context, op, parameters);
}

GAUSSWEEP_INSTANTIATE(trtri_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
