/// potrf/blocked_simultaneous: the Cholesky factor by blocks of 16 x 16, all trailing blocks at once.
///
/// J. Soriano, IIT 2011, section 5.2.2.2, proposes it and leaves it unbuilt, because a grid could then hold
/// no more than 65535 blocks: as potrf/blocked, but one kernel `update` in place of diagupdate and loupdate,
/// with as many thread blocks as there are blocks to update (blocked_steps.cuh). The factor is the same to
/// the bit.
///
/// Layout: column-major; the factor takes the place of the triangle `uplo` of A, the other one is neither
/// read nor written. Cost: 1/3 n^3 operations; n / 16 launches of each kernel, without waiting for the
/// device. Workspace: none. Needs a symmetric positive definite matrix: a pivot that is not positive (or NaN)
/// gives LAPACK's info > 0, and the rest is left unfactorised.

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
