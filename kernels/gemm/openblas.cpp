/// gemm/openblas: the vendor reference on the CPU, OpenBLAS's xGEMM on all cores that the process may use.
///
/// Layout: column-major; C is a separate matrix. Cost: 2 m n k operations. Workspace: none, except OpenBLAS's
/// internal one. Accepts any matrices with sizes below 2^31.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

template <class T>
void gemm_openblas(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("gemm");
  vendor::for_systems(op, [](Operands<T>& one) {
    vendor::gemm(vendor::Op::none, vendor::Op::none, one.shape.m, one.shape.n, one.shape.k, T(1), one.a.data,
                 one.a.ld, one.b.data, one.b.ld, T(0), one.x.data, one.x.ld);
  });
}

GAUSSWEEP_INSTANTIATE(gemm_openblas)

}  // namespace gaussweep::host
