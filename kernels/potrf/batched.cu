/// potrf/batched: the Cholesky factors of many small matrices in one launch.
///
/// Source: gaussweep. A thread group factors one matrix, with one row per thread in registers
/// (getrf/small_rows.cuh): A = L D L^T from the lower triangle. The columns of L D are then divided by the
/// square roots of D. If the rows do not fit in registers, a thread block factors one matrix in panels of 32
/// columns (getrf/panel_factorisation.cuh).
///
/// Error: L L^T = A + E with |E| <= g |L| |L^T| and g = c u / (1 - c u). With rows in registers c is n + 3 up
/// to order 4, and n + 7 above. With panels c is n + 7 in float and n + 9 in double. This is Cholesky's bound
/// (c = n + 1) with two to eight more roundings per product (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 10.3).
///
/// Layout: column-major, matrices contiguous; the factor overwrites the triangle `uplo` of A, and the other
/// triangle is neither read nor written. Cost: 2/3 n^3 operations per matrix, twice Cholesky's, or with
/// panels 1/3 n^3. Memory traffic: the triangle is read and written once, or with panels n / 96 times.
/// Workspace: none. A pivot that is not positive gives info > 0. n <= 512.

#include "kernels/potrf/small_cholesky.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void potrf_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  small::factor_cholesky(context, op, parameters);
}

GAUSSWEEP_INSTANTIATE(potrf_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
