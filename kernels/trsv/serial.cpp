/// trsv/serial: forward (lower) or back (upper) substitution on one CPU core.
///
/// The algorithm is the CPU solver of the course report "Algorithmic Techniques: Dense Lower Triangular
/// Solver". It computes an unknown by a division, then subtracts the unknown times its column from the
/// right-hand side. Works for any n, both triangles and several right-hand sides.
///
/// Layout: column-major; the answer replaces b. Cost: n^2 operations per right-hand side, in loops over the
/// columns. Workspace: none. If the diagonal has a zero, info is the index, from 1, of the first one, and b
/// is unchanged.
///
/// Error: |b - A x| <= g |A| |x| with g = n u / (1 - n u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., theorem 8.5).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void trsv_serial(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("substitute");
  const std::int64_t n = op.shape.n;
  const bool lower = op.shape.uplo == Uplo::lower;
  for (std::int64_t k = 0; k < n; ++k) {
    if (op.a.data[k + k * op.a.ld] == T(0)) {
      *op.info = static_cast<int>(k + 1);
      return;
    }
  }
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t k = lower ? step : n - 1 - step;
    const T* column = op.a.data + k * op.a.ld;
    const std::int64_t begin = lower ? k + 1 : 0;
    const std::int64_t end = lower ? n : k;
    for (std::int64_t r = 0; r < op.shape.nrhs; ++r) {
      T* b = op.b.data + r * op.b.ld;
      const T x = b[k] / column[k];
      b[k] = x;
      for (std::int64_t i = begin; i < end; ++i) b[i] -= column[i] * x;
    }
  }
}

GAUSSWEEP_INSTANTIATE(trsv_serial)

}  // namespace gaussweep::host
