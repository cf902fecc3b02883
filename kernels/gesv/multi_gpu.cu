/// gesv/multi_gpu: LU with partial pivoting of one matrix on several GPUs, and both substitutions.
///
/// Factors like getrf/multi_gpu. The first GPU applies each panel's part of L^-1 to B during the
/// factorisation. Back substitution goes through the block columns of U from the last to the first; B is
/// copied to the GPU that owns the block column. On one GPU the method is gesv/recursive. Layout:
/// column-major, block columns of A distributed cyclically, B on the first GPU; the answer replaces B. Cost:
/// 2/3 n^3 + 2 n^2 nrhs operations on all GPUs together. Workspace per GPU: the workspace of getrf/multi_gpu,
/// and n nrhs elements. A must be nonsingular: a zero pivot gives info > 0, and the answer is then not
/// finite. n <= 131072. Needs compute capability 9.0 and peer access between the GPUs.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4).

#include "kernels/getrf/distributed_lu.cuh"
#include "kernels/getrf/migrating_columns.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

template <class T>
void gesv_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return gesv_recursive(context, op, parameters);
  DeviceGroup& group = *context.group;
  const ColumnBlocks blocks{op.shape.n, lu::column_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  int* const pivots = op.parts.front().workspace.template take<int>(op.shape.n);
  MigratingColumns<T> columns(group, op.b, op.parts);
  lu::DistributedLu<T>(context, blocks, op.parts, pivots, op.info).factor(op.b);
  group.stage(blocks.gpus, "back_substitution");
  for (std::int64_t block = blocks.count() - 1; block >= 0; --block) {
    const int gpu = blocks.gpu_of(block);
    const MatrixView<T>& x = columns.bring_to(gpu);
    const MatrixView<T> u = block_column(blocks, op.parts, block);
    const std::int64_t row = blocks.begin(block);
    Context& gpu_context = group.use(gpu);
    vendor_trsm(gpu_context, vendor::Side::left, Uplo::upper, vendor::Op::none, vendor::Diagonal::stored,
                u.cols, x.cols, T(1), u.data + row, u.ld, x.data + row, x.ld);
    if (row == 0) continue;
    vendor_gemm(gpu_context, vendor::Op::none, vendor::Op::none, row, x.cols, u.cols, T(-1), u.data, u.ld,
                x.data + row, x.ld, T(1), x.data, x.ld);
  }
  group.join(blocks.gpus);
}

GAUSSWEEP_INSTANTIATE(gesv_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
