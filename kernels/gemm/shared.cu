/// gemm/shared: C = A B with square tiles in shared memory, one thread per element of C.
///
/// L. Čejka, ČVUT 2022, section 1.2.6 (listing 1.11), and J. Soriano, IIT 2011, section 5.2.4: a block
/// computes one tile of C. It loops over the tiles of its rows of A and its columns of B. For each pair of
/// tiles, every thread loads one element of each into shared memory and accumulates the products of its row
/// and column. This version accepts any m, n and k: elements beyond the edge are 0.
///
/// The threads of a warp load neighbouring elements from global memory (coalesced). From shared memory they
/// read neighbouring elements of B's tile (no bank conflicts) and the same element of A's tile (a broadcast).
///
/// Layout: row-major; C is a separate matrix. Cost: 2 m n k operations, 2 m n k / tile loads from global
/// memory, and two shared memory loads per multiply-add, which limit the speed. Workspace: none. Two tiles
/// are in shared memory. Accepts matrices of any shape.
///
/// Error: |C - A B| <= g |A| |B| with g = k u / (1 - k u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 3.5).

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
