/// trsv/inverted_blocks: substitution by blocks of 64 rows in one launch, the triangles on the diagonal
/// inverted.
///
/// A GPU block takes a block row, inverts the triangle on its diagonal, subtracts the products of its tiles
/// with the pieces of the answer as they appear, and multiplies what is left by the inverse
/// (block_chain.cuh). The n / 64 block rows follow on one another by polled values; the tiles are loaded
/// before they are needed.
///
/// Layout: column-major; the answer replaces b, and A is only read. Cost: n^2 operations a right-hand side,
/// and 64^2 / 3 for each of the n rows; the triangle is read once for up to eight right-hand sides. Time: at
/// the large end that of reading the triangle, at the small end n / 64 steps of the chain. Workspace:
/// solve_triangle_workspace, the pieces. Needs a triangular matrix without a 0 on the diagonal: the first 0
/// gives info > 0, and the answer is then not finite. Where an inverse would be inaccurate its answer is
/// corrected, or the block row solved by substitution.

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
