/// getrf/recursive: LU with partial pivoting, recursive in columns; panels in the registers of a cluster.
///
/// The recursion is recursive_lu.cuh's, its panels cluster_panel.cuh's, what lies between lu_updates.cuh's;
/// the products are cuBLAS's. Layout: column-major, in place. Cost: 2/3 n^3 operations, nearly all in
/// products. Workspace: 26 n ints, and 132 n elements from n = 513 on, for row exchanges; in double,
/// from n = 4096 on and where n is no multiple of 16, a copy of the matrix, in which products are faster.
/// Pivots and `info` are LAPACK's: the largest element of the column, of equal ones the first; a zero pivot
/// leaves its column as it is and the factorisation goes on. n <= 65536: a panel of 4 columns must fit into
/// 16 multiprocessors. Needs compute capability 9.0.

#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_recursive(Context& context, Operands<T>& op, const Parameters&) {
  lu::RecursiveLu<T>(context, op.a.data, op.a.ld, op.shape.n, op.pivots, op.info, op.workspace).factor();
  context.stage("pivots");
  pivots_from_zero(context, op.pivots, op.shape.n);
}

GAUSSWEEP_INSTANTIATE(getrf_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
