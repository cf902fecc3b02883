/// getrf/batched: LU with partial pivoting of many small matrices in one launch.
///
/// Source: developed for gaussweep. A group of threads within a warp, or a whole block, factors one matrix,
/// with one row per thread in registers (small_rows.cuh). If the rows do not fit in registers, a thread block
/// factors one matrix in panels of 32 columns (panel_factorisation.cuh). Layout: column-major, matrices
/// contiguous; L (unit diagonal) and U overwrite A. Cost: 2/3 n^3 operations per matrix. With rows in
/// registers, A is read and written once; with panels, it is read about n / 64 times. Workspace: none. Any
/// matrix is accepted: a pivot that is exactly 0 gives info > 0, and P A = L U holds nevertheless. n <= 512.
///
/// Error: |P A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3). With partial pivoting the norm of |L| |U| rarely exceeds n
/// times that of A.

#include "kernels/getrf/small_factor.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void getrf_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  small::factor(context, op, {op.pivots, /*order=*/nullptr}, parameters);
}

GAUSSWEEP_INSTANTIATE(getrf_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
