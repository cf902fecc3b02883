/// gesv/cusolver_mg: LU with partial pivoting on several GPUs, cuSOLVERMg's Getrf and Getrs.
///
/// Layout: column-major, block columns of A distributed cyclically, B on the first GPU; the answer replaces
/// B. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: the buffers of both functions, which VendorHandles
/// (the library handles of a Context) keeps; the first run of a size (the warm-up) allocates them. A must be
/// nonsingular: a zero pivot gives info > 0, and B is then unchanged.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |b - A x| is of the order n u |L| |U| |x|
/// (u: unit roundoff; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 9.4).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_solver_mg.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_cusolver_mg(Context& context, Operands<T>& op, const Parameters& parameters) {
  vendor::MgSystem<T> system(context, op, mg_column_block(op.shape, parameters));
  context.stage("getrf");
  if (system.getrf() != 0) return;
  context.stage("getrs");
  system.getrs();
}

GAUSSWEEP_INSTANTIATE(gesv_cusolver_mg)

}  // namespace gaussweep::cuda
