/// gemm/shared: C = A B by square tiles in shared memory, one thread an element of C.
///
/// L. Čejka, ČVUT 2022, section 1.2.6 (listing 1.11), and J. Soriano, IIT 2011, section 5.2.4: a block
/// computes a tile of C. It goes along its rows of A and down its columns of B; from each pair of tiles that
/// it meets, every thread loads one element of either into shared memory, and adds up the products of its row
/// and column. Here for any m, n and k: what lies beyond the edge is 0.
///
/// The threads of a warp load neighbouring elements (coalesced), read one row of B's tile (no two from one
/// bank) and the same element of A's (a broadcast).
///
/// Layout: row-major; the answer is a matrix of its own. Cost: 2 m n k operations, 2 m n k / tile loads from
/// global memory, and two loads from shared memory a multiply-add, which bound its speed. Workspace: none;
/// shared memory for two tiles. Takes any matrix of any shape.

#include "kernels/gemm/shared_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gemm_shared(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.stage("multiply");
  if (parameters.choice("tile") == "32") {
    tiled_product<T, 32>(context, op.a, op.b, op.x);
  } else {
    tiled_product<T, 16>(context, op.a, op.b, op.x);
  }
}

GAUSSWEEP_INSTANTIATE(gemm_shared)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
