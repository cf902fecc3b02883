/// trsv/gets: a triangular system by Gaussian elimination, a launch a row, thread blocks of one size.
///
/// J. Soriano, IIT 2011, sections 5.2.3 and 5.4, proposes it and leaves it unbuilt: GETS, which inverts a
/// triangular matrix, solves triangular systems where the right-hand sides take the identity's place
/// (trtri/gets_steps.cuh). Row k of them, divided by the diagonal, is subtracted from all later rows; one
/// launch at the end divides all of them.
///
/// Layout: column-major; the answer replaces b, A stays. Cost: n^2 operations a right-hand side, n launches,
/// without waiting for the device; each thread divides for itself. Workspace: none. Needs a triangular matrix
/// without a 0 on the diagonal: the diagonal is read first (stage "diagonal"), the first 0 from the top gives
/// info > 0, and the answer is then not finite.

#include "kernels/tables.hpp"
#include "kernels/trtri/gets_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trsv_gets(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  const std::int64_t nrhs = op.shape.nrhs;
  gets::solve(context, op.a, op.b, op.shape.uplo, std::stoll(parameters.choice("threads")),
              gets::Threads::fixed, [=](std::int64_t) {
                return gets::Columns{0, nrhs};
              });
}

GAUSSWEEP_INSTANTIATE(trsv_gets)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
