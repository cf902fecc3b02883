/// potrf/blocked_simultaneous: Cholesky factorisation by blocks of 16 x 16. One launch per block column
/// updates all trailing blocks.
///
/// J. Soriano, IIT 2011, section 5.2.2.2, proposes this method but does not implement it, because grids were
/// limited to 65535 blocks. Unlike potrf/blocked, one kernel `update` with a thread block per trailing block
/// replaces diagupdate and loupdate (blocked_steps.cuh). The factor has the same bits.
///
/// Layout: column-major; the factor replaces the triangle `uplo` of A, and the other triangle is neither read
/// nor written. Cost: 1/3 n^3 operations; n / 16 launches of each kernel, without waiting for the device.
/// Workspace: none. Needs a symmetric positive definite matrix: a pivot that is not positive (or NaN) gives
/// LAPACK's info > 0 and ends the factorisation.
///
/// Error: |A - L L^T| is of the order n u |L| |L^T| (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.3).

#include "kernels/potrf/blocked_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void potrf_blocked_simultaneous(Context& context, Operands<T>& op, const Parameters& parameters) {
  const bool triangle = parameters.choice("topleft") == "triangle";
  cholesky::factorise(context, op.a, op.shape.uplo, cholesky::Update::simultaneous,
                      triangle ? cholesky::Topleft::triangle : cholesky::Topleft::square, op.info);
}

GAUSSWEEP_INSTANTIATE(potrf_blocked_simultaneous)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
