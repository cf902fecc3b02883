/// geinv/lapack: the inverse on the CPU, LAPACK's xGETRF and xGETRI of OpenBLAS, on all cores that the
/// process may use.
///
/// Layout: column-major; the inverse replaces A. Cost: 2 n^3 operations. Workspace: n pivots, and 64 n
/// elements for the blocked xGETRI, allocated from the heap in the run. Needs a nonsingular matrix: a pivot
/// that is exactly 0 gives info > 0, and A then holds the factors.
///
/// Error: |X A - I| is of the order n u |X| |L| |U| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 14.3, method B). A X - I has no such bound.

#include <vector>

#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void geinv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  constexpr std::int64_t block = 64;  // columns per block of xGETRI: LAPACK's own choice
  context.stage("geinv");
  vendor::for_systems(op, [](Operands<T>& system) {
    const std::int64_t n = system.shape.n;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    *system.info = vendor::getrf(n, n, system.a.data, system.a.ld, pivots.data());
    if (*system.info != 0) return;
    std::vector<T> work(static_cast<std::size_t>(n * block));
    *system.info = vendor::getri(n, system.a.data, system.a.ld, pivots.data(), work.data(), n * block);
  });
}

GAUSSWEEP_INSTANTIATE(geinv_lapack)

}  // namespace gaussweep::host
