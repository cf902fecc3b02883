/// gesv/lapack: LU with partial pivoting on the CPU, LAPACK's xGESV as OpenBLAS implements it, on all cores
/// that the process may use.
///
/// Layout: column-major; the answer replaces b. Cost: 2/3 n^3 + 2 n^2 nrhs operations. Workspace: n ints of
/// pivots, taken from the heap in the run, like what OpenBLAS takes for itself. Needs a nonsingular matrix: a
/// pivot that is exactly 0 gives info > 0, and b is left as it was.

#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void gesv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("gesv");
  vendor::for_systems(op, [](Operands<T>& one) {
    std::vector<int> pivots(static_cast<std::size_t>(one.shape.n));
    *one.info =
        vendor::gesv(one.shape.n, one.shape.nrhs, one.a.data, one.a.ld, pivots.data(), one.b.data, one.b.ld);
  });
}

GAUSSWEEP_INSTANTIATE(gesv_lapack)

}  // namespace gaussweep::host
