/// trmm/openblas: xTRMM of the CPU's library, the reference of this problem's other methods.
/// Layout: column-major, in place. Cost: nrhs n^2 operations. Workspace: none of ours. Accepts every
/// triangular matrix.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {

template <class T>
void trmm_openblas(Context& context, Operands<T>& op, const Parameters&) {
  using namespace vendor;
  context.stage("trmm");
  trmm(Side::left, op.shape.uplo, Op::none, Diagonal::stored, op.shape.n, op.shape.nrhs, T(1), op.a.data,
       op.a.ld, op.b.data, op.b.ld);
}

GAUSSWEEP_INSTANTIATE(trmm_openblas)

}  // namespace gaussweep::host
