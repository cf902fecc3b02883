/// gesv/batched: many small systems, LU with partial pivoting and both substitutions in one launch.
///
/// Source: gaussweep. Each system is a group of threads' with a row each in registers
/// (getrf/small_rows.cuh), up to four right-hand sides beside it; A is read once and nothing but the answer
/// is written. Where rows do not fit, a system is a block's in panels of 32 columns (getrf/panels.cuh), and A
/// is overwritten. Layout: column-major, systems side by side; the answer is a matrix of its own. Cost: 2/3
/// n^3 + 2 n^2 nrhs operations a system; rows in registers factor it again for each further four right-hand
/// sides. Workspace: none. A pivot that is exactly 0 gives info > 0, and the answer is then not finite. n <=
/// 512.

#include "kernels/getrf/small_solve.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void gesv_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  small::solve<T, false>(context, op, parameters);
}

GAUSSWEEP_INSTANTIATE(gesv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
