/// trsv/gets: a triangular system by Gaussian elimination, one launch per row, with a fixed thread block
/// size.
///
/// J. Soriano, IIT 2011, sections 5.2.3 and 5.4, proposes this method but does not implement it. GETS
/// (Gaussian elimination triangular solver, trtri/gets_steps.cuh) inverts a triangular matrix. With
/// right-hand sides in place of the identity, it solves triangular systems. Step k subtracts multiples of row
/// k of the right-hand sides from all later rows. One final launch divides all rows by the diagonal.
///
/// Layout: column-major; the answer replaces b, and A is only read. Cost: n^2 operations per right-hand side,
/// n launches without synchronisation; each thread divides by the diagonal. Workspace: none. The diagonal is
/// read first (stage "diagonal"). If it has a zero, info is the index, from 1, of the first one, and the
/// answer is not finite.
///
/// Error: |b - A x| <= g |A| |x| with g = n u / (1 - n u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 8.5).

#include "kernels/tables.hpp"
#include "kernels/trtri/gets_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void trsv_gets(Context& context, Operands<T>& op, const Parameters& parameters) {
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  const std::int64_t nrhs = op.shape.nrhs;
  gets::solve(context, op.a, op.b, op.shape.uplo, std::stoll(parameters.choice("threads")),
              gets::BlockShape::fixed, [=](std::int64_t) {
                return gets::ColumnRange{/*first=*/0, /*end=*/nrhs};
              });
}

GAUSSWEEP_INSTANTIATE(trsv_gets)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
