/// posv/multi_gpu: Cholesky of one matrix on several GPUs as in potrf/multi_gpu, and both substitutions.
///
/// L^-1 is applied to B on the first GPU, panel by panel. The solve with L^T goes through the block columns
/// of L from the last to the first; before each step, B is copied to the GPU that owns the block column. On
/// one GPU the method is posv/recursive. Layout: column-major, block columns of A distributed cyclically, B
/// on the first GPU; the answer replaces B. Cost: 1/3 n^3 + 2 n^2 nrhs operations in all. Workspace per GPU:
/// the workspace of potrf/multi_gpu, and n nrhs elements. Needs a symmetric positive definite matrix: a pivot
/// that is not positive gives info > 0, and the answer is then undefined. Needs compute capability 9.0 and
/// peer access between the GPUs. `uplo` must be lower; with one GPU it may be upper, too.
///
/// Error: (A + E) x = b with |E| of the order n u |L| |L^T| (u: unit roundoff; Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., theorem 10.4).

#include "kernels/getrf/migrating_columns.hpp"
#include "kernels/potrf/distributed_cholesky.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void posv_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

template <class T>
void posv_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return posv_recursive(context, op, parameters);
  DeviceGroup& group = *context.group;
  const ColumnBlocks blocks{op.shape.n, tiles::column_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  MigratingColumns<T> columns(group, op.b, op.parts);
  tiles::DistributedCholesky<T>(context, blocks, op.parts, op.info, tiles::max_rest_rows(parameters))
      .factor(op.b);
  group.stage(blocks.gpus, "back_substitution");
  for (std::int64_t block = blocks.count() - 1; block >= 0; --block) {
    const int gpu = blocks.gpu_of(block);
    const MatrixView<T>& x = columns.bring_to(gpu);
    const MatrixView<T> l = block_column(blocks, op.parts, block);
    const std::int64_t row = blocks.begin(block), next = row + l.cols;
    Context& owner = group.use(gpu);
    if (next < blocks.n) {
      vendor_gemm(owner, vendor::Op::transpose, vendor::Op::none, l.cols, x.cols, blocks.n - next, T(-1),
                  l.data + next, l.ld, x.data + next, x.ld, T(1), x.data + row, x.ld);
    }
    vendor_trsm(owner, vendor::Side::left, Uplo::lower, vendor::Op::transpose, vendor::Diagonal::stored,
                l.cols, x.cols, T(1), l.data + row, l.ld, x.data + row, x.ld);
  }
  group.join(blocks.gpus);
}

GAUSSWEEP_INSTANTIATE(posv_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
