/// getrf/lapack: LU with partial pivoting on the CPU: OpenBLAS's xGETRF, on all cores that the process may
/// use.
///
/// Layout: column-major; L (unit diagonal) and U overwrite A. Cost: 2/3 n^3 operations. Workspace: only
/// OpenBLAS's internal workspace. Accepts any matrix: a zero pivot gives info > 0, and the factors are still
/// valid.
///
/// Error: |P A - L U| is of the order n u |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.3). With partial pivoting the norm of |L| |U| rarely exceeds n
/// times that of A.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void getrf_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("getrf");
  vendor::for_systems(op, [](Operands<T>& system) {
    *system.info = vendor::getrf(system.shape.n, system.shape.n, system.a.data, system.a.ld, system.pivots);
    for (std::int64_t i = 0; i < system.shape.n; ++i) system.pivots[i] -= 1;  // LAPACK counts from 1
  });
}

GAUSSWEEP_INSTANTIATE(getrf_lapack)

}  // namespace gaussweep::host
