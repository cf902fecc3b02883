/// getrf/recursive: LU with partial pivoting, recursive in columns; each panel is factored in the registers
/// of a thread-block cluster.
///
/// The recursion is in recursive_lu.cuh, the panels are in cluster_panel.cuh, row exchanges and triangular
/// solves in lu_updates.cuh; cuBLAS computes the products.
///
/// Layout: column-major, in place. Cost: 2/3 n^3 operations, nearly all in products. Workspace: 24 n ints for
/// row permutations, 2 n ints for a panel's exchanges and, for n > 512, 132 n elements for row exchanges. In
/// double, if n >= 4096 is no multiple of 16, the workspace also has a copy of the matrix with aligned
/// columns. Products of aligned columns are faster. Pivots and `info` are LAPACK's: the pivot is the largest
/// element of the column, the first one in a tie. If a pivot is 0, so is the rest of its column, which stays
/// unchanged; the factorisation continues. n <= 131072, because a panel of 2 columns must fit in the
/// registers of a cluster of 16 blocks. Needs compute capability 9.0.
///
/// Error: |P A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3).

#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_recursive(Context& context, Operands<T>& op, const Parameters&) {
  lu::RecursiveLu<T>(context, op.a.data, op.a.ld, op.shape.n, op.pivots, op.info, op.workspace).factor();
  context.stage("pivots");
  make_pivots_zero_based(context, op.pivots, op.shape.n);
}

GAUSSWEEP_INSTANTIATE(getrf_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
