/// getrf/cusolver_mg: LU with partial pivoting on several GPUs, cuSOLVERMg's Getrf.
///
/// Layout: column-major, block columns distributed cyclically; L (unit diagonal) and U overwrite A. Cost: 2/3
/// n^3 operations. Workspace: Getrf's buffers, which VendorHandles (the library handles of a Context) keeps;
/// the first run of a size (the warm-up) allocates them. Accepts any matrix: a zero pivot gives info > 0.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |P A - L U| is of the order n u |L| |U| (u:
/// unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 9.3).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_solver_mg.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void getrf_cusolver_mg(Context& context, Operands<T>& op, const Parameters& parameters) {
  vendor::MgSystem<T> system(context, op, mg_column_block(op.shape, parameters));
  context.stage("getrf");
  system.getrf();
  context.stage("pivots");
  system.gather_pivots();
  make_pivots_zero_based(context, op.pivots, op.shape.n);
}

GAUSSWEEP_INSTANTIATE(getrf_cusolver_mg)

}  // namespace gaussweep::cuda
