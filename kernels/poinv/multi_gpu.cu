/// poinv/multi_gpu: the inverse of a symmetric positive definite matrix on several GPUs, from its Cholesky
/// factor and the factor's inverse.
///
/// potrf/multi_gpu computes L, which is mirrored to U = L^T. Substitution gives P = U^-1
/// (trtri/distributed_triangle.cuh). Then the panels of P travel to all GPUs, each of which adds products
/// with them to its block columns of P P^T, in place; the result is mirrored. On one GPU it is
/// poinv/recursive. Layout: column-major, in place, block columns distributed cyclically; the lower triangle
/// of A is read. Cost: n^3 operations in all; each GPU receives 3/2 n^2 elements of panels, and reads n^2 /
/// gpus elements of other GPUs to mirror triangles. Workspace per GPU: two panels of
/// n x 2048, or that of potrf/multi_gpu if it is larger. A pivot that is not positive gives info > 0; a wait
/// between blocks that timed out gives info = -1. The answer is then meaningless. Needs compute capability
/// 9.0 and peer access between the GPUs.
///
/// Error: |A X - I| is of the order n u |L| |L^T| |X|, as for poinv/recursive (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 14.3). L^T P - I is small by substitution; solving
/// L^T X = L^-1 for one triangle of X has no such bound.

#include "kernels/poinv/mirror_columns.hpp"
#include "kernels/potrf/distributed_cholesky.cuh"
#include "kernels/tables.hpp"
#include "kernels/trtri/distributed_triangle.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void poinv_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

template <class T>
void poinv_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return poinv_recursive(context, op, parameters);
  const ColumnBlocks blocks{op.shape.n, inverse::definite_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  std::vector<OperandPart<T>> parts = op.parts;  // the inverse takes the factorisation's workspace
  const Parameters factors = inverse::cholesky_parameters(op.shape, parameters);
  tiles::DistributedCholesky<T>(context, blocks, op.parts, op.info, tiles::rest_rows(factors)).factor();
  mirror_columns(context, Uplo::lower, blocks, parts);
  inverse::DistributedTriangle<T> p(context, blocks, inverse::panel_width(op.shape, parameters, blocks.width),
                                    parts, Uplo::upper, false);
  p.invert(nullptr);
  p.square();
  mirror_columns(context, Uplo::upper, blocks, parts);
}

GAUSSWEEP_INSTANTIATE(poinv_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
