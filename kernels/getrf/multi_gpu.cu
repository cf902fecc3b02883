/// getrf/multi_gpu: LU with partial pivoting of one matrix on several GPUs, with look-ahead.
///
/// The algorithm is in distributed_lu.cuh and distributed_panels.cuh; on one GPU the method is
/// getrf/recursive. Layout: column-major, in place, block columns distributed cyclically. Cost: 2/3 n^3
/// operations on all GPUs together, nearly all in cuBLAS's products with k = `block`. Each GPU receives n^2 /
/// 2 elements of panels. Workspace per GPU: two panels of n x `block`, a row order of n ints per panel, and
/// 264 columns as buffers of row exchanges. Half of these columns are for exchanges within a panel, the
/// others for the exchanges at the end. Pivots and `info` are LAPACK's, as in getrf/recursive. n <= 131072.
/// Needs compute capability 9.0 and peer access between the GPUs.
///
/// Error: |P A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3).

#include "kernels/getrf/distributed_lu.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

template <class T>
void getrf_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return getrf_recursive(context, op, parameters);
  const ColumnBlocks blocks{op.shape.n, lu::column_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  lu::DistributedLu<T>(context, blocks, op.parts, op.pivots, op.info).factor();
}

GAUSSWEEP_INSTANTIATE(getrf_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
