/// trsv/serial_rows: forward (lower) or back (upper) substitution by rows on one CPU core.
///
/// The algorithm is the CPU solver as printed in the course report "Algorithmic Techniques: Dense Lower
/// Triangular Solver". It subtracts the products of a row with the solved unknowns, one after another, from
/// the row's right-hand side, and divides by the diagonal. Works for any n, both triangles and several
/// right-hand sides. trsv/serial is substitution by columns.
///
/// Layout: row-major, as in C; the answer replaces b. Cost: n^2 operations per right-hand side, in sequential
/// sums along the rows. Workspace: none. If the diagonal has a zero, info is the index, from 1, of the first
/// one, and b is unchanged.
///
/// Error: |b - A x| <= g |A| |x| with g = n u / (1 - n u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 8.5).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void trsv_serial_rows(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("substitute");
  const std::int64_t n = op.shape.n;
  const bool lower = op.shape.uplo == Uplo::lower;
  for (std::int64_t i = 0; i < n; ++i) {
    if (op.a.data[i + i * op.a.ld] == T(0)) {
      *op.info = static_cast<int>(i + 1);
      return;
    }
  }
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = lower ? step : n - 1 - step;
    const T* row = op.a.data + i * op.a.ld;
    const std::int64_t begin = lower ? 0 : i + 1;
    const std::int64_t end = lower ? i : n;
    for (std::int64_t r = 0; r < op.shape.nrhs; ++r) {
      const T* x = op.b.data + r;
      T remainder = x[i * op.b.ld];
      for (std::int64_t j = begin; j < end; ++j) remainder -= row[j] * x[j * op.b.ld];
      op.b.data[i * op.b.ld + r] = remainder / row[i];
    }
  }
}

GAUSSWEEP_INSTANTIATE(trsv_serial_rows)

}  // namespace gaussweep::host
