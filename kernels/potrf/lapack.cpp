/// potrf/lapack: Cholesky factorisation on the CPU, LAPACK's xPOTRF of OpenBLAS, on all cores that the
/// process may use.
///
/// Layout: column-major; the factor replaces the triangle `uplo` of A, and the other triangle is neither read
/// nor written. Cost: 1/3 n^3 operations. Workspace: OpenBLAS's own. Needs a symmetric positive definite
/// matrix: a pivot that is not positive gives info > 0.
///
/// Error: |A - L L^T| <= g |L| |L^T| with g = (n + 1) u / (1 - (n + 1) u) (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 10.3).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void potrf_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("potrf");
  vendor::for_systems(op, [](Operands<T>& system) {
    *system.info = vendor::potrf(system.shape.uplo, system.shape.n, system.a.data, system.a.ld);
  });
}

GAUSSWEEP_INSTANTIATE(potrf_lapack)

}  // namespace gaussweep::host
