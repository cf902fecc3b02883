/// posv/cusolver_mg: Cholesky on several GPUs, cuSOLVERMg's Potrf and Potrs.
///
/// Layout: column-major, block columns of A distributed cyclically, B on the first GPU; the answer replaces
/// B. Cost: 1/3 n^3 + 2 n^2 nrhs operations. Workspace: the buffers of both functions. VendorHandles (the
/// library handles of a Context) allocates them in the first run of a size (the warm-up) and caches them.
/// Needs a symmetric positive definite matrix, whose lower triangle is read.
/// @throws DeviceError if a pivot is not positive: Potrf then ends with an internal error
///
/// Error: NVIDIA documents no bound. The algorithm has this one: (A + E) x = b with |E| of the order n u |L|
/// |L^T| (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.4).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_solver_mg.hpp"

namespace gaussweep::cuda {

template <class T>
void posv_cusolver_mg(Context& context, Operands<T>& op, const Parameters& parameters) {
  vendor::MgSystem<T> system(context, op, mg_column_block(op.shape, parameters));
  context.stage("potrf");
  if (system.potrf() != 0) return;
  context.stage("potrs");
  system.potrs();
}

GAUSSWEEP_INSTANTIATE(posv_cusolver_mg)

}  // namespace gaussweep::cuda
