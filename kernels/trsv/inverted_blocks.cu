/// trsv/inverted_blocks: substitution by blocks of 64 rows in one launch, with inverted diagonal triangles.
///
/// A thread block takes a block row and inverts its diagonal triangle. It multiplies the block row's tiles by
/// the finished parts of the answer, and subtracts the products from the right-hand side. It multiplies the
/// remainder by the inverse (block_chain.cuh). It polls for parts of the answer that other thread blocks
/// compute. Tiles are prefetched before the wait. Systems of order at most 64 are solved by substitution in
/// shared memory (small_solve.cuh).
///
/// Layout: column-major; the answer replaces b, and A is only read. Cost: n^2 operations per right-hand side,
/// plus n 64^2 / 3 for the inverses. Groups of eight right-hand sides read the triangle separately, but at
/// the same time. For large n, reading the triangle determines the time; for small n, the n / 64 dependent
/// steps do. Workspace: solve_triangle_workspace, mainly for the published answer. The first zero on the
/// diagonal gives info > 0, and the answer is then not finite. If an inverse is too inaccurate, its result is
/// corrected or the block row is solved by substitution.
///
/// Error: |b - A x| <= c (n + g) u |A| |x|, as for substitution (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 8.5). Here g bounds Skeel's condition number of the triangles whose results
/// are not corrected (block_chain.cuh), and c is a small constant.

#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trsv_inverted_blocks(Context& context, Operands<T>& op, const Parameters&) {
  const Shape& shape = op.shape;
  auto* const workspace = op.workspace.template take<unsigned char>(
      static_cast<std::int64_t>(solve_triangle_workspace(shape.n, shape.nrhs, sizeof(T))));
  context.stage("trsv");
  solve_triangle<T>(context, shape.uplo, vendor::Diagonal::stored, shape.n, shape.nrhs, op.a.data, op.a.ld,
                    op.b.data, op.b.ld, workspace, op.info);
}

GAUSSWEEP_INSTANTIATE(trsv_inverted_blocks)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
