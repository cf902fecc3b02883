/// potrf/cusolver_mg: Cholesky factorisation on several GPUs, cuSOLVERMg's Potrf.
///
/// Layout: column-major, block columns distributed cyclically; L replaces the lower triangle of A. Cost: 1/3
/// n^3 operations. Workspace: Potrf's buffers. VendorHandles allocates them in the first run of a matrix size
/// (the warm-up) and caches them. Needs a symmetric positive definite matrix.
/// @throws DeviceError if a pivot is not positive: Potrf then ends with an internal error
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |A - L L^T| <= g |L| |L^T| with g = (n + 1)
/// u / (1 - (n + 1) u) (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.3).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_solver_mg.hpp"

namespace gaussweep::cuda {

template <class T>
void potrf_cusolver_mg(Context& context, Operands<T>& op, const Parameters& parameters) {
  vendor::MgSystem<T> system(context, op, mg_column_block(op.shape, parameters));
  context.stage("potrf");
  system.potrf();
}

GAUSSWEEP_INSTANTIATE(potrf_cusolver_mg)

}  // namespace gaussweep::cuda
