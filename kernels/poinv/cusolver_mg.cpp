/// poinv/cusolver_mg: the inverse of a symmetric positive definite matrix on several GPUs, by cuSOLVERMg's
/// Potrf and Potri; then a kernel fills the other triangle.
///
/// Layout: column-major, block columns distributed cyclically; the lower triangle of A is read, and the
/// inverse overwrites A. Cost: n^3 operations. Workspace: the buffers of both functions, which VendorHandles
/// keeps; the first run of a size (the warm-up) allocates them.
/// @throws DeviceError if a pivot is not positive: Potrf then ends with an internal error
///
/// Error: NVIDIA documents no bound. The algorithm has this one: |A X - I| is of the order n u |L| |L^T| |X|
/// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.3).

#include "kernels/poinv/mirror_columns.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_solver_mg.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void poinv_cusolver_mg(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t block = mg_column_block(op.shape, parameters);
  vendor::MgSystem<T> system(context, op, block);
  context.stage("potrf");
  if (system.potrf() != 0) return;
  context.stage("potri");
  system.potri();
  context.stage("mirror");
  if (op.parts.empty()) return mirror_triangle(context, Uplo::lower, op.a, op.a);
  mirror_columns(context, Uplo::lower, {op.shape.n, block, static_cast<int>(op.parts.size())}, op.parts);
}

GAUSSWEEP_INSTANTIATE(poinv_cusolver_mg)

}  // namespace gaussweep::cuda
