/// gemm/serial: C = A B in three loops on one CPU core.
///
/// A CPU reference for the GPU products that L. Čejka (ČVUT 2022, section 1.2.6) and J. Soriano (IIT 2011,
/// section 5.2.4) measure. For each column of C, the method adds the columns of A times the elements of B,
/// with k ascending and one fma per term. gemm/direct, gemm/global and gemm/shared therefore give the same
/// bits.
///
/// Layout: column-major; C is a separate matrix. Cost: 2 m n k operations. Workspace: none. Accepts matrices
/// of any shape.
///
/// Error: |C - A B| <= g |A| |B| with g = k u / (1 - k u) (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., section 3.5).

#include <algorithm>

#include "kernels/gemm/fma_loops.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gemm_serial(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("multiply");
  const FmaLoops<T> loops = fma_loops<T>();
  for (std::int64_t j = 0; j < op.shape.n; ++j) {
    T* c = op.x.data + j * op.x.ld;
    const T* b = op.b.data + j * op.b.ld;
    std::fill(c, c + op.shape.m, T(0));
    for (std::int64_t k = 0; k < op.shape.k; ++k) {
      loops.subtract_multiple(c, op.a.data + k * op.a.ld, -b[k], op.shape.m);
    }
  }
}

GAUSSWEEP_INSTANTIATE(gemm_serial)

}  // namespace gaussweep::host
