/// gesv/lapack: LU with partial pivoting on the CPU: OpenBLAS's xGESV, on all cores that the process may use.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: n pivots
/// (ints), which this function allocates on the heap, and OpenBLAS's internal buffers. A must be nonsingular:
/// a zero pivot gives info > 0 and leaves b unchanged.
///
/// Error: |b - A x| is of the order n u |L| |U| |x| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 9.4). With partial pivoting the norm of |L| |U| rarely exceeds n
/// times that of A.

#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void gesv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("gesv");
  vendor::for_systems(op, [](Operands<T>& system) {
    std::vector<int> pivots(static_cast<std::size_t>(system.shape.n));
    *system.info = vendor::gesv(system.shape.n, system.shape.nrhs, system.a.data, system.a.ld, pivots.data(),
                                system.b.data, system.b.ld);
  });
}

GAUSSWEEP_INSTANTIATE(gesv_lapack)

}  // namespace gaussweep::host
