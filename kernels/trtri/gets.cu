/// trtri/gets and trtri/gets_adaptive: the inverse of a triangular matrix by Gaussian elimination, one launch
/// per row.
///
/// Source: J. Soriano, IIT 2011, section 5.2.3, table 5.11. gets_steps.cuh has the kernels. A thread block of
/// trtri/gets has one thread per row of one column. Few rows remain towards the end, so that most threads
/// then have no row to update. Section 5.2.3.2 proposes trtri/gets_adaptive but does not implement it. There,
/// a thread block covers several columns if fewer rows remain than it has threads. Its height (rows per
/// column) is then a smaller power of two, at least 32. The results of both methods are bitwise identical.
///
/// Layout: column-major; A is not changed, X is a separate matrix. Cost: 1/3 n^3 operations, n^3 / 3 elements
/// moved, n launches, without waiting for the device. Workspace: none. Needs a triangular matrix without a 0
/// on the diagonal: the first 0 gives info > 0, and the answer is then not finite.
///
/// Error: |A X - I| <= g |A| |X| with g = n u / (1 - n u), as by substitution (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 14.2).

#include "kernels/tables.hpp"
#include "kernels/trtri/gets_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

template <class T>
void invert_by_gets(Context& context, Operands<T>& op, const Parameters& parameters,
                    gets::BlockShape block_shape) {
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  const std::int64_t threads = std::stoll(parameters.choice("threads"));
  gets::invert(context, op.a, op.x, op.shape.uplo, threads, block_shape);
}

}  // namespace

template <class T>
void trtri_gets(Context& context, Operands<T>& op, const Parameters& parameters) {
  invert_by_gets(context, op, parameters, gets::BlockShape::fixed);
}
template <class T>
void trtri_gets_adaptive(Context& context, Operands<T>& op, const Parameters& parameters) {
  invert_by_gets(context, op, parameters, gets::BlockShape::adaptive);
}

GAUSSWEEP_INSTANTIATE(trtri_gets)
GAUSSWEEP_INSTANTIATE(trtri_gets_adaptive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
