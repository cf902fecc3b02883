/// gemm/openblas: C = A B by OpenBLAS's xGEMM on all cores that the process may use, the vendor reference on
/// the CPU.
///
/// Layout: column-major; C is a separate matrix. Cost: 2 m n k operations. Workspace: only OpenBLAS's
/// internal workspace. Accepts any matrices with sizes below 2^31.
///
/// Error: |C - A B| <= (k + 2) u |A| |B| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
/// section 3.5).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void gemm_openblas(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("gemm");
  vendor::for_systems(op, [](Operands<T>& system) {
    vendor::gemm(vendor::Op::none, vendor::Op::none, system.shape.m, system.shape.n, system.shape.k, T(1),
                 system.a.data, system.a.ld, system.b.data, system.b.ld, T(0), system.x.data, system.x.ld);
  });
}

GAUSSWEEP_INSTANTIATE(gemm_openblas)

}  // namespace gaussweep::host
