/// potrf/blocked and potrf/blocked_simultaneous: Cholesky factorisation by blocks of 16 x 16.
///
/// Source: J. Soriano, IIT 2011, section 5.2.2, tables 5.6 to 5.9. potrf/blocked launches four kernels per
/// block column: topleft, strip, diagupdate and loupdate (blocked_steps.cuh). The paper reports loupdate as
/// the bottleneck, because one thread block processes a whole column of blocks serially. In
/// potrf/blocked_simultaneous one kernel, `update`, replaces diagupdate and loupdate, with one thread block
/// per trailing block. Section 5.2.2.2 proposes `update` but does not implement it, because grids were
/// limited to 65535 blocks. Both methods give the same bits.
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
namespace {

template <class T>
void factorise_blocks(Context& context, Operands<T>& op, const Parameters& parameters,
                      cholesky::Update update) {
  const bool triangle = parameters.choice("topleft") == "triangle";
  cholesky::factorise(context, op.a, op.shape.uplo, update,
                      triangle ? cholesky::Topleft::triangle : cholesky::Topleft::square, op.info);
}

}  // namespace

template <class T>
void potrf_blocked(Context& context, Operands<T>& op, const Parameters& parameters) {
  factorise_blocks(context, op, parameters, cholesky::Update::sequential);
}
template <class T>
void potrf_blocked_simultaneous(Context& context, Operands<T>& op, const Parameters& parameters) {
  factorise_blocks(context, op, parameters, cholesky::Update::simultaneous);
}

GAUSSWEEP_INSTANTIATE(potrf_blocked)
GAUSSWEEP_INSTANTIATE(potrf_blocked_simultaneous)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
