/// potrf/multi_gpu: Cholesky factorisation of one matrix on several GPUs, with look-ahead.
///
/// distributed_cholesky.cuh and getrf/distributed_panels.cuh have the algorithm; on one GPU the method is
/// potrf/recursive. Layout: column-major; L replaces the lower triangle of A, block columns are distributed
/// cyclically. The other triangle is not used. Products overwrite its elements in diagonal blocks; these
/// elements are restored at the end. Cost: 1/3 n^3 operations in all, nearly all in cuBLAS's products with
/// k = 1024; each GPU receives n^2 / 2 elements of panels. The first GPU alone factors the last `rest` rows.
/// It also factors whole matrices of an order below `gpus_from`. Workspace per GPU: two panels of n x 1024, n
/// x 1024 / gpus elements for copies of diagonal blocks, rest^2 elements, and the workspace of
/// potrf/recursive. Needs a symmetric positive definite matrix: `info` is as in potrf/recursive. Needs
/// compute capability 9.0 and peer access between the GPUs. With one GPU, `uplo` may be upper, too.
///
/// Error: |A - L L^T| <= g |L| |L^T| with g = (n + 1) u / (1 - (n + 1) u) (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 10.3).

#include "kernels/potrf/distributed_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void potrf_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

template <class T>
void potrf_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return potrf_recursive(context, op, parameters);
  const ColumnBlocks blocks{op.shape.n, tiles::column_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  tiles::DistributedCholesky<T>(context, blocks, op.parts, op.info, tiles::max_rest_rows(parameters))
      .factor();
}

GAUSSWEEP_INSTANTIATE(potrf_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
