/// potrf/blocked: Cholesky factorisation by blocks of 16 x 16. A thread block updates the trailing blocks of
/// a block column one after another.
///
/// J. Soriano, IIT 2011, section 5.2.2 (tables 5.6 to 5.9): four kernels per block column, topleft, strip,
/// diagupdate and loupdate (blocked_steps.cuh). The last one is the bottleneck that the paper reports,
/// because a thread block processes a whole column of blocks serially.
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
void potrf_blocked(Context& context, Operands<T>& op, const Parameters& parameters) {
  const bool triangle = parameters.choice("topleft") == "triangle";
  cholesky::factorise(context, op.a, op.shape.uplo, cholesky::Update::sequential,
                      triangle ? cholesky::Topleft::triangle : cholesky::Topleft::square, op.info);
}

GAUSSWEEP_INSTANTIATE(potrf_blocked)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
